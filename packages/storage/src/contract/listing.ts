import { describe, expect, it } from 'vitest'
import type { Kind, Records } from '../ports/records.ts'
import type { ListQuery, Storage } from '../ports/storage.ts'
import type { OpenStorage } from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { sample } from './samples/samples.ts'

/** Tests `list`: filters, order and pages. */
export function describeListing(open: OpenStorage): void {
  describe('listing', () => {
    describePages(open)
    describeOrder(open)
    describeFilters(open)
    describeSearch(open)
  })
}

async function insertAll<K extends Kind>(
  storage: Storage,
  kind: K,
  records: readonly Records[K][],
): Promise<void> {
  for (const record of records) await storage.insert(kind, record)
}

/** Inserts flags and returns a function that lists the names of the flags that match a query. */
async function flagsWith(open: OpenStorage, fields: readonly Partial<Records['flag']>[]) {
  const storage = await open()
  const projectId = newId()
  const flags = fields.map((own, index) =>
    sample('flag', { projectId, key: `flag-${index}`, ...own }),
  )
  await insertAll(storage, 'flag', flags)
  return async (query: ListQuery<'flag'>) => {
    const { data, total } = await storage.list('flag', query)
    expect(total).toBe(data.length)
    return data.map(({ name }) => name)
  }
}

function describePages(open: OpenStorage): void {
  it('A list without a limit has all records on one page', async () => {
    const storage = await open()
    await insertAll(storage, 'organization', [sample('organization'), sample('organization')])
    const first = await storage.list('organization', {})
    expect([first.data.length, first.total]).toEqual([2, 2])
    expect(await storage.list('organization', { page: 2 })).toEqual(first)
    expect(await storage.list('organization', { page: 1, limit: 5 })).toEqual(first)
  })

  it('Pages of a list have no gaps or overlaps, and `total` counts all matching records', async () => {
    const storage = await open()
    const flags = Array.from({ length: 23 }, (_, index) =>
      sample('flag', { name: `Flag ${index % 4}` }),
    )
    await insertAll(storage, 'flag', flags)
    const sort = { field: 'name', direction: 'desc' } as const
    const pages = []
    for (const page of [1, 2, 3, 4]) {
      const { data, total } = await storage.list('flag', { sort, page, limit: 7 })
      expect(total).toBe(23)
      pages.push(data)
    }
    expect(pages.map(({ length }) => length)).toEqual([7, 7, 7, 2])
    expect(pages.flat()).toEqual((await storage.list('flag', { sort })).data)
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(23)
  })

  it('The `total` of an uncounted page is the number of records on that page', async () => {
    const storage = await open()
    const flags = Array.from({ length: 5 }, () => sample('flag'))
    await insertAll(storage, 'flag', flags)
    const counted = await storage.list('flag', { page: 2, limit: 2 })
    const page = await storage.list('flag', { page: 2, limit: 2, isCounted: false })
    expect(page).toEqual({ data: counted.data, total: 2 })
    expect((await storage.list('flag', { limit: 9, isCounted: false })).total).toBe(5)
    expect((await storage.list('flag', { isCounted: false })).total).toBe(5)
  })

  it('A page after the last page is empty, and its `total` counts all matching records', async () => {
    const storage = await open()
    await insertAll(storage, 'flag', [sample('flag')])
    expect(await storage.list('flag', { page: 9, limit: 10 })).toEqual({ data: [], total: 1 })
  })
}

function describeOrder(open: OpenStorage): void {
  it('Records are ordered by id if the query has no sort', async () => {
    const storage = await open()
    const flags = Array.from({ length: 10 }, () => sample('flag'))
    await insertAll(storage, 'flag', flags)
    const ids = (await storage.list('flag', {})).data.map(({ id }) => id)
    expect(ids).toEqual(flags.map(({ id }) => id).sort())
  })

  it('Records with equal sort values are ordered by ascending id in both directions', async () => {
    const storage = await open()
    const flags = Array.from({ length: 10 }, () => sample('flag', { name: 'same' }))
    await insertAll(storage, 'flag', flags)
    for (const direction of ['asc', 'desc'] as const) {
      const { data } = await storage.list('flag', { sort: { field: 'name', direction } })
      expect(data.map(({ id }) => id)).toEqual(flags.map(({ id }) => id).sort())
    }
  })

  it('A list sorts text by code point', async () => {
    const ascending = ['', 'A', 'B', 'a', 'aa', 'b', 'é', '\uE000', '\uFFFD', '😀', '\u{10FFFF}']
    const names = await flagsWith(
      open,
      [...ascending].reverse().map((name) => ({ name })),
    )
    expect(await names({ sort: { field: 'name', direction: 'asc' } })).toEqual(ascending)
    expect(await names({ sort: { field: 'name', direction: 'desc' } })).toEqual(ascending.reverse())
  })

  it('A list sorts null before other values if ascending, and after other values if descending', async () => {
    const names = await flagsWith(open, [
      { name: 'late', archivedAt: '2026-02-01T00:00:00.000Z' },
      { name: 'never', archivedAt: null },
      { name: 'early', archivedAt: '2026-01-01T00:00:00.000Z' },
    ])
    const sort = (direction: 'asc' | 'desc') =>
      ({ sort: { field: 'archivedAt', direction } }) as const
    expect(await names(sort('asc'))).toEqual(['never', 'early', 'late'])
    expect(await names(sort('desc'))).toEqual(['late', 'early', 'never'])
  })

  it('A list sorts numbers numerically, and false before true', async () => {
    const storage = await open()
    const flagId = newId()
    const variations = [10, 9, 100, 0].map((orderIndex) =>
      sample('variation', {
        flagId,
        key: `v${orderIndex}`,
        orderIndex,
        isDefault: orderIndex === 0,
      }),
    )
    await insertAll(storage, 'variation', variations)
    const byIndex = await storage.list('variation', {
      sort: { field: 'orderIndex', direction: 'asc' },
    })
    expect(byIndex.data.map(({ orderIndex }) => orderIndex)).toEqual([0, 9, 10, 100])
    const byDefault = await storage.list('variation', {
      sort: { field: 'isDefault', direction: 'asc' },
    })
    expect(byDefault.data.map(({ isDefault }) => isDefault)).toEqual([false, false, false, true])
  })
}

function describeFilters(open: OpenStorage): void {
  it('A `where` filter matches records in which all its fields are equal', async () => {
    const storage = await open()
    const flagId = newId()
    const on = sample('variation', { flagId, key: 'on', isDefault: true, orderIndex: 1 })
    const off = sample('variation', { flagId, key: 'off', isDefault: false, orderIndex: 1 })
    await insertAll(storage, 'variation', [on, off, sample('variation')])
    const found = async (where: Partial<Records['variation']>) =>
      (await storage.list('variation', { where })).data
    expect(await found({ flagId, isDefault: true })).toEqual([on])
    expect(await found({ flagId, isDefault: false, orderIndex: 1 })).toEqual([off])
    expect(await found({ flagId, isDefault: false, orderIndex: 2 })).toEqual([])
    expect(await found({ flagId, key: 'ON' })).toEqual([])
  })

  it('A `where` filter matches null and ignores undefined fields', async () => {
    const archivedAt = '2026-02-01T00:00:00.000Z'
    const names = await flagsWith(open, [
      { name: 'a', archivedAt: null },
      { name: 'b', archivedAt },
    ])
    expect(await names({ where: { archivedAt: null } })).toEqual(['a'])
    expect(await names({ where: { archivedAt } })).toEqual(['b'])
    const where: Partial<Records['flag']> = { name: 'a' }
    Reflect.set(where, 'archivedAt', undefined)
    expect(await names({ where })).toEqual(['a'])
  })

  it('A range filter includes its start and excludes its end', async () => {
    const times = [
      '2026-01-01T00:00:00.000Z',
      '2026-01-02T00:00:00.000Z',
      '2026-01-03T00:00:00.000Z',
    ]
    const [first, second, third] = times
    const names = await flagsWith(open, [
      ...times.map((archivedAt) => ({ name: archivedAt, archivedAt })),
      { name: 'never', archivedAt: null },
    ])
    const sort = { field: 'archivedAt', direction: 'asc' } as const
    const inRange = (range: { from?: string; to?: string }) =>
      names({ range: { field: 'archivedAt', ...range }, sort })
    expect(await inRange({ from: `${first}`, to: `${third}` })).toEqual([first, second])
    expect(await inRange({ from: `${second}` })).toEqual([second, third])
    expect(await inRange({ to: `${second}` })).toEqual([first])
    expect(await inRange({})).toEqual(['never', ...times])
  })

  it('A range filter compares any text field by code point', async () => {
    const ascending = ['', 'A:1', 'A:1\u0001', 'A:1 ', 'A:10', 'A:2', 'B:1', 'a', '\uE000', '😀']
    const names = await flagsWith(
      open,
      ascending.map((name) => ({ name })),
    )
    const sort = { field: 'name', direction: 'asc' } as const
    for (const [index, from] of ascending.entries()) {
      expect(await names({ range: { field: 'name', from }, sort })).toEqual(ascending.slice(index))
      const to = from
      expect(await names({ range: { field: 'name', to }, sort })).toEqual(ascending.slice(0, index))
    }
  })

  it('A `contains` filter matches complete elements exactly', async () => {
    const names = await flagsWith(open, [
      { name: 'none', tags: [] },
      { name: 'odd', tags: ['","', '"', '%', 'ключ'] },
      { name: 'shop', tags: ['shop', 'a'] },
      { name: 'shops', tags: ['shops'] },
    ])
    expect(await names({ contains: { tags: ['shop'] } })).toEqual(['shop'])
    expect(await names({ contains: { tags: ['Shop'] } })).toEqual([])
    for (const tag of ['","', '"', '%', 'ключ']) {
      expect(await names({ contains: { tags: [tag] } })).toEqual(['odd'])
    }
    expect(await names({ contains: { tags: [','] } })).toEqual([])
  })

  it('A `contains` filter matches records in which all arrays contain all their elements', async () => {
    const names = await flagsWith(open, [
      { name: 'both', tags: ['shop', 'web'], marks: ['on:live', 'on'] },
      { name: 'one tag', tags: ['web'], marks: ['on'] },
      { name: 'other marks', tags: ['shop', 'web'], marks: ['on:live-2', 'off'] },
      { name: 'no marks', tags: ['web', 'shop'], marks: [] },
    ])
    const sort = { field: 'name', direction: 'asc' } as const
    const found = (contains: ListQuery<'flag'>['contains'] = {}) => names({ contains, sort })
    expect(await found({ tags: ['web', 'shop'] })).toEqual(['both', 'no marks', 'other marks'])
    expect(await found({ tags: ['web'], marks: ['on'] })).toEqual(['both', 'one tag'])
    expect(await found({ tags: ['web', 'shop'], marks: ['on', 'on:live'] })).toEqual(['both'])
    expect(await found({ marks: ['on:live-2'] })).toEqual(['other marks'])
    expect(await found({ tags: ['shop'], marks: [] })).toEqual(['both', 'no marks', 'other marks'])
    expect(await found({})).toHaveLength(4)
  })

  it('A list can select records by a JSON field that is null', async () => {
    const names = await flagsWith(open, [{ name: 'derived' }, { name: 'new', summary: null }])
    expect(await names({ where: { summary: null } })).toEqual(['new'])
  })

  it('A record must match all conditions of a query', async () => {
    const projectId = newId()
    const names = await flagsWith(open, [
      { name: 'Checkout a', projectId, tags: ['x'] },
      { name: 'Checkout b', projectId, tags: ['y'] },
      { name: 'Checkout c', tags: ['x'] },
      { name: 'Basket', projectId, tags: ['x'] },
    ])
    expect(
      await names({ where: { projectId }, search: 'checkout', contains: { tags: ['x'] } }),
    ).toEqual(['Checkout a'])
  })
}

function describeSearch(open: OpenStorage): void {
  it('A search finds any part of a text and ignores ASCII case', async () => {
    const names = await flagsWith(open, [{ name: 'New Checkout' }, { name: 'ÉCOLE' }])
    expect(await names({ search: 'CHECK' })).toEqual(['New Checkout'])
    expect(await names({ search: 'w c' })).toEqual(['New Checkout'])
    expect(await names({ search: 'Écol' })).toEqual(['ÉCOLE'])
    expect(await names({ search: 'écol' })).toEqual([])
    expect(await names({ search: '' })).toHaveLength(2)
  })

  it('A search covers only the searchable fields', async () => {
    const names = await flagsWith(open, [
      { name: 'by key', key: 'needle', tags: [] },
      { name: 'by description', description: 'a needle', tags: [] },
      { name: 'by tag', tags: ['needle'] },
    ])
    expect((await names({ search: 'needle' })).sort()).toEqual(['by description', 'by key'])
  })

  it('A search treats every character literally', async () => {
    const odd = ['100%', 'a_b', 'c\\d', `it's`, '"q"', '[x]', '*?', '😀']
    const names = await flagsWith(open, [
      ...odd.map((name) => ({ name, key: 'k', projectId: newId() })),
      { name: '100 axb cd its q x', key: 'k' },
    ])
    for (const name of odd) expect(await names({ search: name })).toEqual([name])
    expect(await names({ search: '%' })).toEqual(['100%'])
    expect(await names({ search: '_' })).toEqual(['a_b'])
    expect(await names({ search: 'z'.repeat(60_000) })).toEqual([])
  })

  it('A search matches no records of a kind without searchable fields', async () => {
    const storage = await open()
    await insertAll(storage, 'auditEvent', [sample('auditEvent')])
    expect(await storage.list('auditEvent', { search: 'flag' })).toEqual({ data: [], total: 0 })
  })
}
