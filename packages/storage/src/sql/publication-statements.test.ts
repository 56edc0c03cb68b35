import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import {
  keysChange,
  METADATA,
  publishedSegment,
  segmentChange,
} from '../contract/samples/fixtures.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { sqlite } from '../sqlite/sqlite.ts'
import { sqliteDialect } from './dialect.ts'
import { PublicationStatements } from './publication-statements.ts'
import type { SqlStatement } from './sql-driver.ts'

const statements = new PublicationStatements(sqliteDialect)

async function openStore() {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const { storage } = sqlite({ database })
  await storage.migrate()
  const rowsOf = ({ sql, parameters }: SqlStatement) => database.prepare(sql).all(...parameters)
  const visitsOf = ({ sql, parameters }: SqlStatement) =>
    rowsOf({ sql: `explain query plan ${sql}`, parameters })
      .map(({ detail }) => String(detail))
      .filter((detail) => /^(SCAN|SEARCH)/.test(detail))
      .map((detail) => detail.replace(/ USING.* INDEX \w+/, ''))
  return { storage, rowsOf, visitsOf }
}

it('The queries of changes use indexes and read only what changed', async () => {
  const { visitsOf } = await openStore()
  expect(visitsOf(statements.changedAfter(newId(), 7))).toEqual([
    'SEARCH h (environment_id=? AND version>?)',
    'SEARCH p (environment_id=? AND kind=? AND entity_id=? AND version>? AND version<?)',
  ])
  expect(visitsOf(statements.segmentsBefore(newId(), 7))).toEqual([
    'SEARCH ff_publication_head (environment_id=? AND version>?)',
    'SCAN changed',
    'SEARCH h (environment_id=? AND kind=? AND entity_id=?)',
    'SEARCH ff_publication (environment_id=? AND kind=? AND entity_id=? AND version<?)',
    'SEARCH newest (environment_id=? AND kind=? AND entity_id=? AND version=?)',
    'SEARCH ff_publication (environment_id=? AND kind=? AND entity_id=? AND version<?)',
    'SEARCH p (environment_id=? AND kind=? AND entity_id=? AND version>? AND version<?)',
  ])
})

it('The queries of changes read no complete list if differences are sufficient', async () => {
  const { storage, rowsOf } = await openStore()
  const [environmentId, segment] = [newId(), publishedSegment()]
  const publish = (...changes: Parameters<typeof storage.publish>[1]) =>
    storage.publish(environmentId, changes, METADATA)
  const read = (since: number) => {
    const after = rowsOf(statements.changedAfter(environmentId, since))
    const before = rowsOf(statements.segmentsBefore(environmentId, since))
    return [...before, ...after].map(({ kind, version }) => `${kind} ${version}`)
  }
  const keys = Array.from({ length: 5000 }, (_, index) => `user-${index}`)
  await publish(segmentChange(segment), keysChange(segment.id, { added: keys }))
  await publish(keysChange(segment.id, { added: ['late'] }))
  await publish(segmentChange({ ...segment, force: true }))
  expect(read(0)).toEqual(['included 1', 'included 2', 'segment 3'])
  expect(read(1)).toEqual(['segment 1', 'included 2', 'segment 3'])
  expect(read(2)).toEqual(['segment 1', 'segment 3'])
  await publish(keysChange(segment.id, { removed: keys }))
  expect(read(2)).toEqual(['included 1', 'included 2', 'segment 1', 'included 4', 'segment 3'])
  await publish(keysChange(segment.id, { added: ['last'] }))
  expect(read(4)).toEqual(['segment 3', 'included 5'])
})
