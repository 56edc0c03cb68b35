import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditEventCodec } from '@ff/protocol/management'
import { sqlite } from '@ff/storage/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { hashOf } from '../../src/changes/audit-chain.ts'
import { tamper } from '../world/intruder.ts'
import { addressesOf, type Tenant, World } from '../world/world.ts'

/** The statements that undo the migration which adds comments. */
const WITHOUT_COMMENTS = `
  alter table ff_audit_event drop column comment;
  alter table ff_scheduled_change drop column comment;
  alter table ff_environment drop column is_production;
  alter table ff_environment drop column comment_required;
  alter table ff_environment drop column order_index;
  delete from ff_migration where name = '0004-environment-settings'`

/** Returns the path of a data file in which no entry has a comment, as in an older release. */
async function olderFile(): Promise<{ path: string; tenant: Tenant }> {
  const folder = mkdtempSync(join(tmpdir(), 'ff-older-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'flags.db')
  const world = await World.create(sqlite({ path }).storage)
  const tenant = await world.addTenant('Acme')
  await world.storage.close()
  tamper(path, (database) => database.exec(WITHOUT_COMMENTS))
  return { path, tenant }
}

async function openWorld(path: string): Promise<World> {
  const world = await World.create(sqlite({ path }).storage)
  onTestFinished(() => world.storage.close())
  return world
}

async function verify(world: World, { tokens }: Tenant) {
  return (await world.call('GET', '/audit/verify', { token: tokens.viewer })).data
}

it('An entry that was written before comments existed keeps its hash', async () => {
  const golden = new URL(
    '../../../protocol/test/golden/resources/audit-event.json',
    import.meta.url,
  )
  const { hash, ...entry } = z.decode(auditEventCodec, JSON.parse(readFileSync(golden, 'utf8')))
  expect(hash).toBe('eecdaca43d2784529d7dab88c889bf8eb4db3cc92456e65104f05f00993bc311')
  expect(await hashOf(entry)).toBe(hash)
  expect(await hashOf({ ...entry, comment: 'Because' })).not.toBe(hash)
})

it('A chain of older entries is valid, also when entries with and without comments follow', async () => {
  const { path, tenant } = await olderFile()
  const world = await openWorld(path)
  const older = await verify(world, tenant)
  expect(older).toMatchObject({ valid: true, first_broken: null })
  const token = tenant.tokens.editor
  for (const [n, comment] of ['First', undefined, 'Third'].entries()) {
    const body = { key: `flag-${n}`, type: 'boolean' }
    const headers: Record<string, string> = comment === undefined ? {} : { 'x-ff-comment': comment }
    const { flags } = addressesOf(tenant)
    expect((await world.call('POST', flags, { token, body, headers })).status).toBe(201)
  }
  expect(await verify(world, tenant)).toEqual({ ...older, entries: older.entries + 3 })
})

it.each([
  ['changed', `update ff_audit_event set comment = 'Other' where comment = 'Because'`],
  ['removed', `update ff_audit_event set comment = null where comment = 'Because'`],
  ['emptied', `update ff_audit_event set comment = '' where comment = 'Because'`],
  ['added', `update ff_audit_event set comment = 'Because' where comment is null`],
])('Verification finds a comment that was %s', async (_, statement) => {
  const { path, tenant } = await olderFile()
  const world = await World.create(sqlite({ path }).storage)
  const headers = { 'x-ff-comment': 'Because' }
  const body = { key: 'flag', type: 'boolean' }
  const { flags } = addressesOf(tenant)
  await world.call('POST', flags, { token: tenant.tokens.editor, body, headers })
  await world.storage.close()
  tamper(path, (database) => database.exec(statement))
  const found = await verify(await openWorld(path), tenant)
  expect(found).toMatchObject({ valid: false, first_broken: { reason: 'changed' } })
})
