import { describe, expect, it } from 'vitest'
import { KIND_RULES, type Kind, type Records } from '../ports/records.ts'
import { describeDeletedRecords } from './deleted-records.ts'
import { expectRefusal, type OpenStorage } from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { SAMPLES, sample } from './samples/samples.ts'

const KINDS = Object.keys(SAMPLES) as Kind[]
const DELETED_AT = '2026-04-01T00:00:00.000Z'

/** Tests `find`, `insert`, `update` and `revive` with single records. */
export function describeRecords(open: OpenStorage): void {
  describe('records', () => {
    describeInserts(open)
    describeKeys(open)
    describeUpdates(open)
    describeDeletedRecords(open)
  })
}

function describeInserts(open: OpenStorage): void {
  it.each(KINDS)('A record of kind %s is returned exactly as it was inserted', async (kind) => {
    const storage = await open()
    const record = sample(kind)
    await storage.insert(kind, record)
    expect(await storage.find(kind, record.id)).toEqual(record)
  })

  it.each(KINDS)('The largest safe integer is saved exactly in each number of %s', async (kind) => {
    const storage = await open()
    const record = sample(kind)
    const numbers = Object.entries(record).filter(([, value]) => typeof value === 'number')
    const largest = numbers.map(([field]) => [field, Number.MAX_SAFE_INTEGER] as const)
    const changed = { ...record, ...Object.fromEntries(largest) }
    await storage.insert(kind, changed)
    expect(await storage.find(kind, record.id)).toEqual(changed)
  })

  it('Finding an unknown id returns undefined', async () => {
    const storage = await open()
    expect(await storage.find('flag', newId())).toBeUndefined()
  })

  it('Text in a record is saved exactly', async () => {
    const storage = await open()
    const texts = [
      '',
      ' ',
      `'"\`;--%_\\`,
      'naïve.ключ',
      '😀\u{10FFFF}\uFFFD',
      'a\r\n\tb',
      '\u202Eabc',
    ]
    for (const description of [...texts, 'long 😀'.repeat(50_000)]) {
      const flag = sample('flag', { description, tags: [description] })
      await storage.insert('flag', flag)
      expect(await storage.find('flag', flag.id)).toEqual(flag)
    }
  })

  it('JSON in a record is saved exactly, with any property names and depth', async () => {
    const storage = await open()
    let deep: Records['organization']['metadata'] = {}
    for (let depth = 0; depth < 200; depth += 1) deep = { deep }
    const metadata = JSON.parse(
      `{"__proto__":{"admin":true},"constructor":1,"":[],"a":{},"b":[[]],"n":-1.5e-7,"z":"\\u0000"}`,
    )
    const organization = sample('organization', { metadata: { ...metadata, deep } })
    await storage.insert('organization', organization)
    const found = await storage.find('organization', organization.id)
    expect(JSON.stringify(found?.metadata)).toBe(JSON.stringify(organization.metadata))
    expect(Object.hasOwn(found?.metadata ?? {}, '__proto__')).toBe(true)
  })

  it('Saving a number that is not finite fails with INVALID_REQUEST and changes nothing', async () => {
    const storage = await open()
    const [plan, organization] = [sample('plan'), sample('organization')]
    await storage.insert('organization', organization)
    await storage.transaction('lock', async (tx) => {
      for (const number of [Number.NaN, Number.POSITIVE_INFINITY]) {
        const bad = { ...plan, maxProjects: number }
        await expectRefusal(tx.insert('plan', bad), 'INVALID_REQUEST')
        const update = tx.update('organization', organization.id, { name: 'x', apiUsage: number })
        await expectRefusal(update, 'INVALID_REQUEST')
      }
      await tx.insert('plan', plan)
    })
    expect(await storage.find('plan', plan.id)).toEqual(plan)
    expect(await storage.find('organization', organization.id)).toEqual(organization)
  })

  it('Changing an inserted or returned object does not change the stored record', async () => {
    const storage = await open()
    const tags = ['a']
    const flag = sample('flag', { tags })
    await storage.insert('flag', flag)
    tags.push('b')
    const found = await storage.find('flag', flag.id)
    Reflect.set(found?.tags ?? [], 0, 'c')
    expect((await storage.find('flag', flag.id))?.tags).toEqual(['a'])
  })
}

function describeKeys(open: OpenStorage): void {
  it.each(KINDS)(
    'Inserting a second record of kind %s with the same id fails with CONFLICT',
    async (kind) => {
      const storage = await open()
      const record = sample(kind)
      await storage.insert(kind, record)
      await expectRefusal(storage.insert(kind, sample(kind, { id: record.id })), 'CONFLICT')
      expect(await storage.find(kind, record.id)).toEqual(record)
    },
  )

  const uniqueKeys = KINDS.flatMap((kind) =>
    KIND_RULES[kind].unique.map((fields) => ({
      kind,
      fields,
      name: `${kind} ${fields.join('+')}`,
    })),
  )

  it.each(uniqueKeys)('Two living records cannot have the same unique key: $name', async (key) => {
    const storage = await open()
    const record = sample(key.kind)
    const same = Object.fromEntries(key.fields.map((field) => [field, Reflect.get(record, field)]))
    await storage.insert(key.kind, record)
    const second = { ...sample(key.kind), ...same } as typeof record
    await expectRefusal(storage.insert(key.kind, second), 'CONFLICT')
    expect(await storage.find(key.kind, second.id)).toBeUndefined()
    await storage.update(key.kind, record.id, { deletedAt: DELETED_AT })
    await storage.insert(key.kind, second)
    expect(await storage.find(key.kind, second.id)).toEqual(second)
  })

  it.each(uniqueKeys)(
    'Records can share one field of a unique key with several fields: $name',
    async ({ kind, fields }) => {
      const storage = await open()
      const record = sample(kind)
      await storage.insert(kind, record)
      for (const field of fields.slice(1)) {
        const other = { ...sample(kind), [field]: Reflect.get(record, field) } as typeof record
        await storage.insert(kind, other)
        expect(await storage.find(kind, other.id)).toEqual(other)
      }
    },
  )

  it('Exactly one of many concurrent inserts with the same key succeeds', async () => {
    const storage = await open()
    const projectId = newId()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => storage.insert('flag', sample('flag', { projectId }))),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await storage.list('flag', { where: { projectId } })).total).toBe(1)
  })
}

function describeUpdates(open: OpenStorage): void {
  it('An update returns the complete changed record', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    const changes = { name: 'Renamed', tags: [], archivedAt: DELETED_AT, revision: 2 }
    const updated = await storage.update('flag', flag.id, changes)
    expect(updated).toEqual({ ...flag, ...changes })
    expect(await storage.find('flag', flag.id)).toEqual(updated)
    const cleared = await storage.update('flag', flag.id, { archivedAt: null })
    expect(cleared).toEqual({ ...updated, archivedAt: null })
  })

  it('An update does not change fields that are undefined or absent', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    const changes = { description: 'new' }
    Reflect.set(changes, 'name', undefined)
    expect(await storage.update('flag', flag.id, changes)).toEqual({ ...flag, description: 'new' })
    expect((await storage.update('flag', flag.id, {})).description).toBe('new')
  })

  it('An update of a record that does not exist fails with NOT_FOUND', async () => {
    const storage = await open()
    await expectRefusal(storage.update('flag', newId(), { name: 'x' }), 'NOT_FOUND')
    await expectRefusal(storage.update('flag', newId(), { name: 'x' }, 1), 'NOT_FOUND')
  })

  it('An update that expects another revision fails with CONFLICT and changes nothing', async () => {
    const storage = await open()
    const flag = sample('flag', { revision: 4 })
    await storage.insert('flag', flag)
    await expectRefusal(storage.update('flag', flag.id, { name: 'x' }, 3), 'CONFLICT')
    await expectRefusal(storage.update('flag', flag.id, { name: 'x' }, 5), 'CONFLICT')
    expect(await storage.find('flag', flag.id)).toEqual(flag)
    expect((await storage.update('flag', flag.id, { revision: 5 }, 4)).revision).toBe(5)
  })

  it('Exactly one of many concurrent updates that expect the same revision succeeds', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        storage.update('flag', flag.id, { name: `name ${index}`, revision: 2 }, 1),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('An update to the unique key of another record fails with CONFLICT and changes nothing', async () => {
    const storage = await open()
    const taken = sample('variation')
    const other = sample('variation', { flagId: taken.flagId, key: 'off' })
    await storage.insert('variation', taken)
    await storage.insert('variation', other)
    await expectRefusal(storage.update('variation', other.id, { key: taken.key }), 'CONFLICT')
    expect(await storage.find('variation', other.id)).toEqual(other)
    expect((await storage.update('variation', other.id, { key: 'off' })).key).toBe('off')
  })
}
