import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@ff/storage/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { missingSummariesJob } from '../../src/summaries/missing-summaries.ts'
import { tamper } from '../world/intruder.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const EVALUATED = '2030-01-02T00:15:00.000Z'

/** Removes everything that the migration of this release adds. */
const REVERSAL = `
  drop index ff_flag_without_summary;
  alter table ff_flag drop column summary;
  alter table ff_flag drop column marks;
  alter table ff_flag drop column unused_since;
  delete from ff_migration where name = '0005-flag-summaries';`

/** Returns the path of a data file of the earlier release, with 120 flags, and its contents. */
async function earlierDataFile() {
  const folder = mkdtempSync(join(tmpdir(), 'ff-upgrade-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'flags.db')
  const world = await World.create(sqlite({ path }).storage)
  const tenant = await world.addTenant('Acme')
  const token = tenant.tokens.editor
  for (let index = 0; index < 120; index += 1) {
    const body = { key: `f-${String(index).padStart(3, '0')}`, type: 'boolean' }
    const flag = (await world.call('POST', addressesOf(tenant).flags, { token, body })).data
    if (index % 3 > 0) continue
    const state = { is_active: false }
    await world.call('PUT', addressesOf(tenant).live(flag.id), { token, body: state })
  }
  const summaries = await summariesIn(world, tenant)
  await world.storage.close()
  tamper(path, (database) => {
    database.exec(REVERSAL)
    database
      .prepare('update ff_flag set last_evaluated_at = ? where "key" = \'f-000\'')
      .run(EVALUATED)
  })
  return { path, tenant, summaries }
}

async function summariesIn(world: World, { project, tokens }: Tenant, query = ''): Promise<Json[]> {
  const path = `/projects/${project.id}/flag-summaries?limit=1000${query}`
  const { status, data } = await world.call('GET', path, { token: tokens.viewer })
  expect(status).toBe(200)
  return data.data
}

it('Summaries of an older data file are complete at once, and are stored by the job', async () => {
  const { path, tenant, summaries } = await earlierDataFile()
  const { storage } = sqlite({ path })
  onTestFinished(() => storage.close())
  await storage.migrate()
  const flags = (await storage.list('flag', { sort: { field: 'key', direction: 'asc' } })).data
  expect(flags.every(({ summary, marks }) => summary === null && marks.length === 0)).toBe(true)
  expect(flags.slice(0, 2).map(({ unusedSince }) => unusedSince)).toEqual([
    EVALUATED,
    flags[1]?.createdAt,
  ])
  // The jobs of the server derive summaries from its start on.
  const world = await World.create(storage)
  const unknown = { version: null, changed_at: null, changed_by: null }
  const expected = summaries.map(({ environments, key, last_evaluated_at, ...summary }) => ({
    ...summary,
    ...{ key, last_evaluated_at: key === 'f-000' ? EVALUATED : last_evaluated_at },
    environments: environments.map((part: Json) => ({ ...part, ...unknown })),
  }))
  expect(await summariesIn(world, tenant)).toEqual(expected)
  // A change of a flag derives its complete summary.
  const body = { is_active: true }
  const address = addressesOf(tenant).live(flags[0]?.id ?? '')
  await world.call('PUT', address, { token: tenant.tokens.editor, body })
  const [first] = await summariesIn(world, tenant, '&search=f-000&state=on')
  expect(first.environments).toHaveLength(2)
  expect(first.environments[0]).toMatchObject({ is_active: true, changed_by: 'Acme editor' })
  await missingSummariesJob(storage).run()
  expect((await storage.list('flag', { where: { summary: null } })).total).toBe(0)
  expect((await summariesIn(world, tenant)).slice(1)).toEqual(expected.slice(1))
  expect(await summariesIn(world, tenant, '&state=off')).toHaveLength(39)
  const stored = await storage.list('flag', {})
  await missingSummariesJob(storage).run()
  expect(await storage.list('flag', {})).toEqual(stored)
})
