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
