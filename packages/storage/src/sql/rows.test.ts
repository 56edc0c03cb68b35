import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { expectRefusal } from '../contract/samples/fixtures.ts'
import { sample } from '../contract/samples/samples.ts'
import { sqlite } from '../sqlite/sqlite.ts'

async function opened() {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const { storage } = sqlite({ database })
  await storage.migrate()
  return { database, storage }
}

it('Reading a damaged record fails with INTERNAL and a message that contains its id', async () => {
  const { database, storage } = await opened()
  const flag = sample('flag')
  await storage.insert('flag', flag)
  database.prepare('update ff_flag set tags = ? where id = ?').run('["a"', flag.id)
  const damaged = `The flag record ${flag.id} is damaged: restore a backup.`
  await expect(storage.find('flag', flag.id)).rejects.toThrow(damaged)
  await expect(storage.list('flag', {})).rejects.toThrow(damaged)
  await expectRefusal(storage.find('flag', flag.id), 'INTERNAL')
})

it('Every call with an unknown field fails with INTERNAL', async () => {
  const { storage } = await opened()
  const flag = sample('flag')
  await storage.insert('flag', flag)
  const extra = { note: 'x' } as Partial<typeof flag>
  const field = 'note' as 'name'
  const calls = [
    () => storage.insert('flag', sample('flag', extra)),
    () => storage.update('flag', flag.id, extra),
    () => storage.list('flag', { where: extra }),
    () => storage.list('flag', { range: { field, from: 'a' } }),
    () => storage.list('flag', { sort: { field, direction: 'asc' } }),
    () => storage.purge('flag', { where: extra }),
  ]
  for (const call of calls) await expectRefusal(call(), 'INTERNAL')
  expect(await storage.list('flag', {})).toEqual({ data: [flag], total: 1 })
})
