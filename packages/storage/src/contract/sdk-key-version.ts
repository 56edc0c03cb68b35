import { describe, expect, it } from 'vitest'
import type { StorageSession } from '../ports/storage.ts'
import { expectRefusal, type OpenStorage } from './fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { sample } from './samples/samples.ts'

const AT = '2026-04-01T00:00:00.000Z'

/** Returns the version of all SDK keys. */
export async function sdkKeyVersion(session: Pick<StorageSession, 'findVersions'>) {
  return (await session.findVersions([])).sdkKeys
}

/** Tests the version of all SDK keys. */
export function describeSdkKeyVersion(open: OpenStorage): void {
  describe('the version of all SDK keys', () => {
    describeIncreases(open)
    describeUnchanged(open)
  })
}

function describeIncreases(open: OpenStorage): void {
  it('Each insert, update, deletion, revival and purge of an SDK key increases the version of all SDK keys', async () => {
    const storage = await open()
    const key = sample('sdkKey')
    const steps: readonly (() => Promise<unknown>)[] = [
      () => storage.insert('sdkKey', key),
      () => storage.update('sdkKey', key.id, { revokedAt: AT }),
      () => storage.update('sdkKey', key.id, { expiresAt: AT, lastUsedAt: AT }),
      () => storage.update('sdkKey', key.id, { deletedAt: AT }),
      () => storage.revive('sdkKey', key.id),
      () => storage.purge('sdkKey', { where: { id: key.id } }),
    ]
    let before = await sdkKeyVersion(storage)
    for (const [index, step] of steps.entries()) {
      await step()
      const after = await sdkKeyVersion(storage)
      expect([index, after]).toEqual([index, before + 1])
      before = after
    }
  })

  it('The version of all SDK keys is returned together with the versions of environments', async () => {
    const storage = await open()
    const environment = sample('environment', { revision: 3 })
    await storage.insert('environment', environment)
    await storage.insert('sdkKey', sample('sdkKey'))
    const versions = await storage.findVersions([environment.id, newId()])
    const environments = new Map([[environment.id, { version: 0, revision: 3 }]])
    expect(versions).toEqual({ environments, sdkKeys: await sdkKeyVersion(storage) })
  })

  it('A transaction sees its own changes of the version of all SDK keys, and a rollback discards them', async () => {
    const storage = await open()
    await storage.insert('sdkKey', sample('sdkKey'))
    const before = await sdkKeyVersion(storage)
    const failing = storage.transaction('lock', async (tx) => {
      await tx.insert('sdkKey', sample('sdkKey'))
      await tx.insert('sdkKey', sample('sdkKey'))
      expect(await sdkKeyVersion(tx)).toBe(before + 2)
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await sdkKeyVersion(storage)).toBe(before)
  })
}

function describeUnchanged(open: OpenStorage): void {
  it('The time of the last use of an SDK key does not change the version of all SDK keys', async () => {
    const storage = await open()
    const key = sample('sdkKey')
    await storage.insert('sdkKey', key)
    const before = await sdkKeyVersion(storage)
    await storage.update('sdkKey', key.id, { lastUsedAt: AT })
    const absent = { lastUsedAt: AT, name: undefined } as { lastUsedAt: string }
    await storage.update('sdkKey', key.id, absent)
    expect(await sdkKeyVersion(storage)).toBe(before)
  })

  it('Calls that fail, have no effect or concern other records do not change the version of all SDK keys', async () => {
    const storage = await open()
    const key = sample('sdkKey')
    await storage.insert('sdkKey', key)
    const before = await sdkKeyVersion(storage)
    await storage.transaction('lock', async (tx) => {
      await expectRefusal(tx.insert('sdkKey', key), 'CONFLICT')
      await expectRefusal(tx.update('sdkKey', newId(), { name: 'a' }), 'NOT_FOUND')
      await expectRefusal(tx.update('sdkKey', key.id, { name: 'a' }, 99), 'CONFLICT')
      await expectRefusal(tx.revive('sdkKey', key.id), 'NOT_FOUND')
      expect(await tx.purge('sdkKey', { where: { id: newId() } })).toBe(0)
      const flag = sample('flag')
      await tx.insert('flag', flag)
      await tx.update('flag', flag.id, { name: 'a' })
      await tx.purge('flag', { where: { id: flag.id } })
    })
    expect(await sdkKeyVersion(storage)).toBe(before)
  })
}
