import { describe, expect, it } from 'vitest'
import { KIND_RULES, type Kind, type Records } from '../ports/records.ts'
import { expectRefusal, type OpenStorage } from './fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { SAMPLES, sample } from './samples/samples.ts'

const KINDS = Object.keys(SAMPLES) as Kind[]
const DELETED_AT = '2026-04-01T00:00:00.000Z'

/** The four plain verbs, one record at a time. */
export function describeRecords(open: OpenStorage): void {
  describe('records', () => {
    describeKeeping(open)
    describeKeys(open)
    describeUpdates(open)
    describeDeletion(open)
    describeRevival(open)
  })
}

function describeKeeping(open: OpenStorage): void {
  it.each(KINDS)('a record of kind %s is found as it was inserted', async (kind) => {
    const storage = await open()
    const record = sample(kind)
    await storage.insert(kind, record)
    expect(await storage.find(kind, record.id)).toEqual(record)
  })

  it('an id that was never inserted is not found', async () => {
    const storage = await open()
    expect(await storage.find('flag', newId())).toBeUndefined()
  })

  it('text is kept exactly', async () => {
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

  it('JSON is kept exactly, whatever its names and depth', async () => {
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

  it('a number that is not finite is INVALID_REQUEST, and changes nothing', async () => {
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

  it('changing what was given or answered does not change what is kept', async () => {
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
  it.each(KINDS)('an id of kind %s can be inserted once', async (kind) => {
    const storage = await open()
    const record = sample(kind)
    await storage.insert(kind, record)
    await expectRefusal(storage.insert(kind, sample(kind, { id: record.id })), 'CONFLICT')
    expect(await storage.find(kind, record.id)).toEqual(record)
  })

  const uniqueKeys = KINDS.flatMap((kind) =>
    KIND_RULES[kind].unique.map((fields) => ({
      kind,
      fields,
      name: `${kind} ${fields.join('+')}`,
    })),
  )

  it.each(uniqueKeys)('a unique key is taken once among the living: $name', async (key) => {
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

  it.each(uniqueKeys)('half of a unique key may be shared: $name', async ({ kind, fields }) => {
    const storage = await open()
    const record = sample(kind)
    await storage.insert(kind, record)
    for (const field of fields.slice(1)) {
      const other = { ...sample(kind), [field]: Reflect.get(record, field) } as typeof record
      await storage.insert(kind, other)
      expect(await storage.find(kind, other.id)).toEqual(other)
    }
  })

  it('of many parallel inserts with one key exactly one succeeds', async () => {
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
  it('an update answers the whole record as it now is', async () => {
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

  it('an update leaves alone the fields that are undefined or absent', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    const changes = { description: 'new' }
    Reflect.set(changes, 'name', undefined)
    expect(await storage.update('flag', flag.id, changes)).toEqual({ ...flag, description: 'new' })
    expect((await storage.update('flag', flag.id, {})).description).toBe('new')
  })

  it('an update of a record that does not exist is NOT_FOUND', async () => {
    const storage = await open()
    await expectRefusal(storage.update('flag', newId(), { name: 'x' }), 'NOT_FOUND')
    await expectRefusal(storage.update('flag', newId(), { name: 'x' }, 1), 'NOT_FOUND')
  })

  it('an update that expects another revision is CONFLICT and changes nothing', async () => {
    const storage = await open()
    const flag = sample('flag', { revision: 4 })
    await storage.insert('flag', flag)
    await expectRefusal(storage.update('flag', flag.id, { name: 'x' }, 3), 'CONFLICT')
    await expectRefusal(storage.update('flag', flag.id, { name: 'x' }, 5), 'CONFLICT')
    expect(await storage.find('flag', flag.id)).toEqual(flag)
    expect((await storage.update('flag', flag.id, { revision: 5 }, 4)).revision).toBe(5)
  })

  it('of parallel updates that expect one revision exactly one succeeds', async () => {
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

  it('an update to a unique key that is taken is CONFLICT and changes nothing', async () => {
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

function describeDeletion(open: OpenStorage): void {
  it('the update that deletes a record returns it, and later reads do not', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    const deleted = await storage.update('flag', flag.id, { deletedAt: DELETED_AT })
    expect(deleted).toEqual({ ...flag, deletedAt: DELETED_AT })
    expect(await storage.find('flag', flag.id)).toBeUndefined()
    expect(await storage.list('flag', {})).toEqual({ data: [], total: 0 })
    await expectRefusal(storage.update('flag', flag.id, { deletedAt: null }), 'NOT_FOUND')
  })

  it('the id of a deleted record stays taken', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    await storage.update('flag', flag.id, { deletedAt: DELETED_AT })
    await expectRefusal(storage.insert('flag', sample('flag', { id: flag.id })), 'CONFLICT')
  })

  it('a key can be deleted and taken again any number of times', async () => {
    const storage = await open()
    const projectId = newId()
    for (let round = 0; round < 10; round += 1) {
      const flag = sample('flag', { projectId, name: `Round ${round}` })
      await storage.insert('flag', flag)
      expect(await storage.list('flag', { where: { projectId } })).toEqual({
        data: [flag],
        total: 1,
      })
      await storage.update('flag', flag.id, { deletedAt: DELETED_AT })
    }
  })
}

function describeRevival(open: OpenStorage): void {
  it('a revived record is as it was when it was deleted, and living', async () => {
    const storage = await open()
    const flag = sample('flag', { revision: 3 })
    await storage.insert('flag', flag)
    await storage.update('flag', flag.id, { deletedAt: DELETED_AT, name: 'Last', revision: 4 })
    const revived = await storage.revive('flag', flag.id)
    expect(revived).toEqual({ ...flag, name: 'Last', revision: 4 })
    expect(await storage.find('flag', flag.id)).toEqual(revived)
    expect((await storage.update('flag', flag.id, { revision: 5 }, 4)).revision).toBe(5)
  })

  it('only what is deleted can be revived', async () => {
    const storage = await open()
    const [flag, event] = [sample('flag'), sample('auditEvent')]
    await storage.insert('flag', flag)
    await storage.insert('auditEvent', event)
    await expectRefusal(storage.revive('flag', flag.id), 'NOT_FOUND')
    await expectRefusal(storage.revive('flag', newId()), 'NOT_FOUND')
    await expectRefusal(storage.revive('auditEvent', event.id), 'NOT_FOUND')
    expect(await storage.find('flag', flag.id)).toEqual(flag)
  })

  it('a record whose key has been taken meanwhile stays deleted', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    await storage.update('flag', flag.id, { deletedAt: DELETED_AT })
    const heir = sample('flag', { projectId: flag.projectId, key: flag.key })
    await storage.insert('flag', heir)
    await expectRefusal(storage.revive('flag', flag.id), 'CONFLICT')
    expect(await storage.list('flag', {})).toEqual({ data: [heir], total: 1 })
  })
}
