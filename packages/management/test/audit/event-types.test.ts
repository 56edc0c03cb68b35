import { readFileSync } from 'node:fs'
import { type AuditEventRow, auditEvents } from '@ff/protocol/management'
import { expect, it } from 'vitest'

const PAGE = readFileSync(new URL('../../../../docs/audit.md', import.meta.url), 'utf8')

it('The page about the audit log lists every event type, and marks those of log-ins', () => {
  const listed = [...PAGE.matchAll(/`([a-z_]+\.[a-z_]+)`(¹?)/g)].map(([, type = '', mark]) => {
    return [type, mark === '¹'] as const
  })
  const rows = Object.entries<AuditEventRow>(auditEvents)
  for (const [type, { log }] of rows) expect(listed).toContainEqual([type, log === 'logins'])
  const known = rows.map(([type]) => type)
  const table = PAGE.slice(PAGE.indexOf('### Event types'), PAGE.indexOf('## Reading the log'))
  const inTable = [...table.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, type]) => type)
  expect(inTable.toSorted()).toEqual(known.toSorted())
})
