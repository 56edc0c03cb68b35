import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { sample } from '../contract/samples/samples.ts'
import { sqlite } from './sqlite.ts'

/** The statements that undo the migration `0004-environment-settings`. */
const WITHOUT_SETTINGS = `
  alter table ff_audit_event drop column comment;
  alter table ff_scheduled_change drop column comment;
  alter table ff_environment drop column is_production;
  alter table ff_environment drop column comment_required;
  alter table ff_environment drop column order_index;
  delete from ff_migration where name = '0004-environment-settings'`

/** The statements that undo the migration `0007-several-instances`, and two counts. */
const WITHOUT_INSTANCES = `
  drop table ff_sdk_key_version;
  drop table ff_api_calls;
  drop table ff_evaluation_count;
  create table ff_evaluation_count (
    environment_id text not null, flag_id text not null, minute text not null,
    variation_id text not null, reason text not null, source text not null,
    count bigint not null, micros bigint not null,
    primary key (environment_id, flag_id, minute, variation_id, reason, source));
  create index ff_evaluation_count_minute on ff_evaluation_count (minute);
  insert into ff_evaluation_count values
    ('live', 'flag', '2030-01-01T00:00:00.000Z', '', 'DEFAULT', 'rest', 5, 50),
    ('live', 'flag', '2030-01-01T00:01:00.000Z', '', 'DEFAULT', 'rest', 2, 20);
  delete from ff_migration where name = '0007-several-instances'`

/** The statements that undo the migration `0011-flags-of-user-sketches`. */
const WITHOUT_FLAGS_OF_SKETCHES = `
  alter table ff_user_sketch drop column key_kind;
  alter table ff_user_sketch drop column first_version;
  alter table ff_user_sketch drop column last_version;
  delete from ff_migration where name = '0011-flags-of-user-sketches'`

/** The statements that undo the migration `0012-no-stored-results`. */
const WITH_RESULTS = `
  alter table ff_observed_context add column variation_results text not null default '{"a":"on"}';
  delete from ff_migration where name = '0012-no-stored-results'`

function change(path: string, statements: string): void {
  const database: DatabaseSyncInstance = new DatabaseSync(path)
  database.exec(statements)
  database.close()
}

it('Environments of an older file are ordered by creation, and default ones are production', async () => {
  const path = join(await temporaryFolder(), 'flags.db')
  const { storage: before } = sqlite({ path })
  await before.migrate()
  const [shop, blog] = ['shop', 'blog']
  const at = (minute: number) => `2030-01-01T00:0${minute}:00.000Z`
  const gone = { deletedAt: at(9) }
  for (const [projectId, key, createdAt, more] of [
    [shop, 'zebra', at(0), { isDefault: true }],
    [shop, 'apple', at(0), {}],
    [shop, 'middle', at(0), {}],
    [shop, 'gone', at(1), gone],
    [shop, 'early', at(3), {}],
    [shop, 'aardvark', at(2), {}],
    [blog, 'live', at(5), { isDefault: true }],
  ] as const) {
    const fields = { projectId, key, createdAt, isDefault: false, ...more }
    await before.insert('environment', sample('environment', fields))
  }
  await before.insert('scheduledChange', sample('scheduledChange'))
  await before.insert('auditEvent', sample('auditEvent'))
  await before.close()
  change(path, WITHOUT_SETTINGS)

  const { storage } = sqlite({ path })
  await storage.migrate()
  const sort = { field: 'orderIndex', direction: 'asc' } as const
  const inProject = async (projectId: string) =>
    (await storage.list('environment', { where: { projectId }, sort })).data
  const found = (await inProject(shop)).map(({ key, orderIndex, isProduction }) => {
    return [key, orderIndex, isProduction]
  })
  expect(found).toEqual([
    ['zebra', 0, true],
    ['apple', 1, false],
    ['middle', 2, false],
    ['aardvark', 3, false],
    ['early', 4, false],
  ])
  expect(await inProject(blog)).toMatchObject([
    { orderIndex: 0, isProduction: true, commentRequired: false },
  ])
  expect((await storage.list('scheduledChange', {})).data[0]?.comment).toBeNull()
  expect((await storage.list('auditEvent', {})).data[0]?.comment).toBeNull()
  await storage.close()
})

it('The counts and the usage of an older file are kept, and new ones are added to them', async () => {
  const path = join(await temporaryFolder(), 'flags.db')
  const { storage: before } = sqlite({ path })
  await before.migrate()
  const organization = sample('organization', { apiUsage: 40 })
  const key = sample('sdkKey')
  await before.insert('organization', organization)
  await before.insert('sdkKey', key)
  await before.close()
  change(path, WITHOUT_INSTANCES)

  const { storage } = sqlite({ path })
  await storage.migrate()
  const outcome = { variationId: null, reason: 'DEFAULT', source: 'rest' } as const
  const place = { environmentId: 'live', flagId: 'flag', minute: '2030-01-01T00:01:00.000Z' }
  const added = { ...place, ...outcome, instanceId: 'new', count: 100, micros: 1000 }
  await storage.addEvaluationCounts([added])
  const query = { environmentId: 'live', flagId: 'flag', from: '2030', to: '2031' }
  const totals = await storage.loadEvaluationCounts(query)
  expect(totals).toEqual([{ ...outcome, count: 107, micros: 1070 }])
  expect(await storage.find('organization', organization.id)).toEqual(organization)
  expect(await storage.loadApiCalls()).toEqual(new Map())
  const { sdkKeys } = await storage.findVersions([])
  await storage.update('sdkKey', key.id, { name: 'Renamed' })
  expect((await storage.findVersions([])).sdkKeys).toBe(sdkKeys + 1)
  await storage.close()
})

it('The sketches of an older file are kept, without the flags to which they apply', async () => {
  const path = join(await temporaryFolder(), 'flags.db')
  const { storage: before } = sqlite({ path })
  await before.migrate()
  const sketch = sample('userSketch')
  await before.insert('userSketch', sketch)
  await before.close()
  change(path, WITHOUT_FLAGS_OF_SKETCHES)

  const { storage } = sqlite({ path })
  await storage.migrate()
  const unknown = { keyKind: null, firstVersion: null, lastVersion: null }
  expect(await storage.find('userSketch', sketch.id)).toEqual({ ...sketch, ...unknown })
  await storage.close()
})

it('The observed contexts of an older file are kept, without their results', async () => {
  const path = join(await temporaryFolder(), 'flags.db')
  const { storage: before } = sqlite({ path })
  await before.migrate()
  const contexts = Array.from({ length: 50 }, (_, index) => {
    return { ...sample('observedContext'), id: `context-${index}`, hash: `hash-${index}` }
  })
  for (const context of contexts) await before.insert('observedContext', context)
  await before.close()
  change(path, WITH_RESULTS)

  const { storage } = sqlite({ path })
  await storage.migrate()
  const sort = { field: 'id', direction: 'asc' } as const
  const { data } = await storage.list('observedContext', { sort })
  const inOrder = [...contexts].sort((a, b) => (a.id < b.id ? -1 : 1))
  expect(data).toEqual(inOrder)
  await storage.close()
})
