import { expect, it } from 'vitest'
import { expectRefusal, type OpenStorage } from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { sample } from './samples/samples.ts'

const DELETED_AT = '2026-04-01T00:00:00.000Z'

/** Tests the deletion of records, `findDeleted` and `revive`. */
export function describeDeletedRecords(open: OpenStorage): void {
  describeDeletion(open)
  describeRevival(open)
}

function describeDeletion(open: OpenStorage): void {
  it('The update that deletes a record returns it, and later reads do not', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    const deleted = await storage.update('flag', flag.id, { deletedAt: DELETED_AT })
    expect(deleted).toEqual({ ...flag, deletedAt: DELETED_AT })
    expect(await storage.find('flag', flag.id)).toBeUndefined()
    expect(await storage.list('flag', {})).toEqual({ data: [], total: 0 })
    await expectRefusal(storage.update('flag', flag.id, { deletedAt: null }), 'NOT_FOUND')
  })

  it('The id of a deleted record cannot be used again', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    await storage.update('flag', flag.id, { deletedAt: DELETED_AT })
    await expectRefusal(storage.insert('flag', sample('flag', { id: flag.id })), 'CONFLICT')
  })

  it('The key of a deleted record can be used again any number of times', async () => {
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
  it('A revived record has all its fields and can be found and updated again', async () => {
    const storage = await open()
    const flag = sample('flag', { revision: 3 })
    await storage.insert('flag', flag)
    await storage.update('flag', flag.id, { deletedAt: DELETED_AT, name: 'Last', revision: 4 })
    const revived = await storage.revive('flag', flag.id)
    expect(revived).toEqual({ ...flag, name: 'Last', revision: 4 })
    expect(await storage.find('flag', flag.id)).toEqual(revived)
    expect((await storage.update('flag', flag.id, { revision: 5 }, 4)).revision).toBe(5)
  })

  it('A deleted record can be found as deleted until it is revived', async () => {
    const storage = await open()
    const [flag, event] = [sample('flag'), sample('auditEvent')]
    await storage.insert('flag', flag)
    await storage.insert('auditEvent', event)
    const found = () => storage.findDeleted('flag', flag.id)
    expect(await found()).toBeUndefined()
    const deleted = await storage.update('flag', flag.id, { deletedAt: DELETED_AT })
    expect(await found()).toEqual(deleted)
    await storage.revive('flag', flag.id)
    expect(await found()).toBeUndefined()
    expect(await storage.findDeleted('flag', newId())).toBeUndefined()
    expect(await storage.findDeleted('auditEvent', event.id)).toBeUndefined()
  })

  it('Reviving a record that is not deleted fails with NOT_FOUND', async () => {
    const storage = await open()
    const [flag, event] = [sample('flag'), sample('auditEvent')]
    await storage.insert('flag', flag)
    await storage.insert('auditEvent', event)
    await expectRefusal(storage.revive('flag', flag.id), 'NOT_FOUND')
    await expectRefusal(storage.revive('flag', newId()), 'NOT_FOUND')
    await expectRefusal(storage.revive('auditEvent', event.id), 'NOT_FOUND')
    expect(await storage.find('flag', flag.id)).toEqual(flag)
  })

  it('Reviving a record fails with CONFLICT if another record uses its unique key', async () => {
    const storage = await open()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    await storage.update('flag', flag.id, { deletedAt: DELETED_AT })
    const successor = sample('flag', { projectId: flag.projectId, key: flag.key })
    await storage.insert('flag', successor)
    await expectRefusal(storage.revive('flag', flag.id), 'CONFLICT')
    expect(await storage.list('flag', {})).toEqual({ data: [successor], total: 1 })
  })
}
