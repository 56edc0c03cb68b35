import { describe, expect, it } from 'vitest'
import type { Kind } from '../ports/records.ts'
import { expectRefusal, type OpenStorage } from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { SAMPLES, sample } from './samples/samples.ts'

const KINDS = Object.keys(SAMPLES) as Kind[]
const DELETED_AT = '2026-04-01T00:00:00.000Z'
const DAYS = ['2026-05-01', '2026-05-02', '2026-05-03', '2026-05-04'] as const

/** Tests `purge`. */
export function describePurging(open: OpenStorage): void {
  describe('purging', () => {
    describePurged(open)
    describeMatching(open)
    describeRefusals(open)
  })
}

function describePurged(open: OpenStorage): void {
  it.each(KINDS)(
    'A purged record of kind %s is removed, and its id can be used again',
    async (kind) => {
      const storage = await open()
      const [record, other] = [sample(kind), sample(kind)]
      await storage.insert(kind, record)
      await storage.insert(kind, other)
      expect(await storage.purge(kind, { where: { id: record.id } })).toBe(1)
      expect(await storage.find(kind, record.id)).toBeUndefined()
      expect(await storage.list(kind, {})).toEqual({ data: [other], total: 1 })
      await storage.insert(kind, record)
      expect(await storage.find(kind, record.id)).toEqual(record)
    },
  )

  it('A purge also removes deleted records, so that they cannot be revived', async () => {
    const storage = await open()
    const [living, deleted] = [sample('flag'), sample('flag')]
    for (const flag of [living, deleted]) await storage.insert('flag', flag)
    await storage.update('flag', deleted.id, { deletedAt: DELETED_AT })
    const where = { key: living.key }
    expect(await storage.purge('flag', { where })).toBe(2)
    await expectRefusal(storage.revive('flag', deleted.id), 'NOT_FOUND')
    await expectRefusal(storage.update('flag', living.id, { name: 'x' }), 'NOT_FOUND')
    await storage.insert('flag', deleted)
    expect(await storage.purge('flag', { where })).toBe(1)
    expect(await storage.purge('flag', { where })).toBe(0)
  })

  it('The unique key of a purged record can be used again', async () => {
    const storage = await open()
    const user = sample('user')
    await storage.insert('user', user)
    await storage.purge('user', { where: { email: user.email } })
    const successor = sample('user', { email: user.email })
    await storage.insert('user', successor)
    expect(await storage.find('user', successor.id)).toEqual(successor)
  })

  it('A purge in a failed transaction removes nothing', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    const failing = storage.transaction('lock', async (tx) => {
      const successor = sample('flag', { projectId: flag.projectId })
      expect(await tx.purge('flag', { where: { id: flag.id } })).toBe(1)
      expect(await tx.find('flag', flag.id)).toBeUndefined()
      await tx.insert('flag', successor)
      await tx.update('flag', successor.id, { name: 'x' })
      expect((await tx.list('flag', {})).total).toBe(1)
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await storage.list('flag', {})).toEqual({ data: [flag], total: 1 })
  })

  it('A transaction can purge a record that it has inserted', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.transaction('lock', async (tx) => {
      await tx.insert('flag', flag)
      expect(await tx.purge('flag', { where: { id: flag.id } })).toBe(1)
    })
    expect(await storage.find('flag', flag.id)).toBeUndefined()
  })
}

function describeMatching(open: OpenStorage): void {
  it('A purge of a range includes its start and excludes its end', async () => {
    const storage = await open()
    const environmentId = newId()
    for (const lastSeen of DAYS) {
      await storage.insert(
        'observedContext',
        sample('observedContext', { environmentId, lastSeen }),
      )
    }
    const field = 'lastSeen' as const
    const between = { range: { field, from: DAYS[1], to: DAYS[2] } }
    expect(await storage.purge('observedContext', between)).toBe(1)
    expect(await storage.purge('observedContext', { range: { field, from: DAYS[3] } })).toBe(1)
    const sort = { field, direction: 'asc' as const }
    const { data } = await storage.list('observedContext', { sort })
    expect(data.map(({ lastSeen }) => lastSeen)).toEqual([DAYS[0], DAYS[2]])
    expect(await storage.purge('observedContext', { range: { field, to: '9' } })).toBe(2)
  })

  it('A purge removes only records that match all conditions', async () => {
    const storage = await open()
    const environmentId = newId()
    const contexts = [
      sample('observedContext', { environmentId, key: 'a', lastSeen: DAYS[0] }),
      sample('observedContext', { environmentId, key: 'a', lastSeen: DAYS[2] }),
      sample('observedContext', { environmentId, key: 'b', lastSeen: DAYS[0] }),
      sample('observedContext', { key: 'a', lastSeen: DAYS[0] }),
    ]
    for (const context of contexts) await storage.insert('observedContext', context)
    const range = { field: 'lastSeen' as const, to: DAYS[1] }
    const where = { environmentId, key: 'a' }
    expect(await storage.purge('observedContext', { where, range })).toBe(1)
    expect((await storage.list('observedContext', {})).total).toBe(3)
    expect(await storage.find('observedContext', contexts[0]?.id ?? '')).toBeUndefined()
  })

  it('A purge can match null, which is outside every range', async () => {
    const storage = await open()
    const [unarchived, archived] = [sample('flag'), sample('flag', { archivedAt: DAYS[0] })]
    for (const flag of [unarchived, archived]) await storage.insert('flag', flag)
    const range = { field: 'archivedAt' as const, from: '' }
    expect(await storage.purge('flag', { range })).toBe(1)
    expect(await storage.list('flag', {})).toEqual({ data: [unarchived], total: 1 })
    expect(await storage.purge('flag', { where: { archivedAt: null } })).toBe(1)
  })
}

function describeRefusals(open: OpenStorage): void {
  it('A purge without a condition fails with INTERNAL and removes nothing', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    const unconditional = [{}, { where: {} }, { range: { field: 'archivedAt' as const } }]
    for (const query of unconditional) await expectRefusal(storage.purge('flag', query), 'INTERNAL')
    expect(await storage.find('flag', flag.id)).toEqual(flag)
  })
}
