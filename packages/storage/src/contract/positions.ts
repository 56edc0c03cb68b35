import { expect, it } from 'vitest'
import type { ListPosition, ListQuery } from '../ports/storage.ts'
import type { OpenStorage } from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { sample } from './samples/samples.ts'

const TEXTS = ['', 'A', 'a', 'a', 'é', '\uFFFD', '😀', '😀', 'b', 'b', 'b']

const SORTS = [
  undefined,
  { field: 'name', direction: 'asc' },
  { field: 'name', direction: 'desc' },
  { field: 'orderIndex', direction: 'asc' },
  { field: 'orderIndex', direction: 'desc' },
  { field: 'isDefault', direction: 'desc' },
] as const

/** Tests lists that begin after a position. */
export function describePositions(open: OpenStorage): void {
  it.each(SORTS)(
    'A list after a position has exactly the later records, sorted by %j',
    async (sort) => {
      const storage = await open()
      const flagId = newId()
      for (const [index, name] of TEXTS.entries()) {
        const fields = { key: `v${index}`, name, orderIndex: 7 % (1 + index), isDefault: index < 4 }
        await storage.insert('variation', sample('variation', { flagId, ...fields }))
      }
      await storage.insert('variation', sample('variation'))
      const query: ListQuery<'variation'> = { where: { flagId }, ...(sort && { sort }) }
      const { data: all } = await storage.list('variation', query)
      for (const [index, record] of all.entries()) {
        const after: ListPosition = { value: record[sort?.field ?? 'id'], id: record.id }
        const later = all.slice(index + 1)
        const total = all.length
        expect(await storage.list('variation', { ...query, after })).toEqual({
          data: later,
          total: later.length,
        })
        const first = { data: later.slice(0, 2), total }
        expect(await storage.list('variation', { ...query, after, limit: 2 })).toEqual(first)
      }
    },
  )

  it('The record at a position need not exist', async () => {
    const storage = await open()
    const names = ['a', 'b', 'b', 'c', 'd']
    const flags = names.map((name) => sample('flag', { name }))
    for (const flag of flags) await storage.insert('flag', flag)
    const sort = { field: 'name', direction: 'asc' } as const
    const { data: all } = await storage.list('flag', { sort })
    const [, , second] = all
    if (second === undefined) throw new Error('There is no third flag.')
    await storage.update('flag', second.id, { deletedAt: '2026-02-01T00:00:00.000Z' })
    const at = { value: second.name, id: second.id }
    const later = await storage.list('flag', { sort, after: at, limit: 9 })
    expect(later.data.map(({ name }) => name)).toEqual(['c', 'd'])
    expect(later.total).toBe(4)
    const between = await storage.list('flag', { sort, after: { value: 'bb', id: '' } })
    expect(between.data.map(({ name }) => name)).toEqual(['c', 'd'])
  })

  it('A transaction lists its own records after a position', async () => {
    const storage = await open()
    await storage.transaction('lock', async (tx) => {
      for (const name of ['a', 'b', 'c']) await tx.insert('flag', sample('flag', { name }))
      const sort = { field: 'name', direction: 'desc' } as const
      const { data } = await tx.list('flag', { sort, after: { value: 'b', id: '~' } })
      expect(data.map(({ name }) => name)).toEqual(['a'])
    })
  })
}
