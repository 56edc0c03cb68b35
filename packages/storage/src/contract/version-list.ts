import { describe, expect, it } from 'vitest'
import type { DefinitionChange } from '../ports/publications.ts'
import type { StorageSession } from '../ports/storage.ts'
import {
  expectRefusal,
  flagChange,
  flagDefinition,
  flagRemoval,
  keysChange,
  METADATA,
  type OpenStorage,
  publishedSegment,
  segmentChange,
  segmentRemoval,
} from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { sample } from './samples/samples.ts'

const ALL = { page: 1, limit: 100 }

/** Tests `findVersions`, `listVersions` and `loadFlagHistory`. */
export function describeVersionList(open: OpenStorage): void {
  it('The history of a flag contains its definition at a version and all later ones', async () => {
    const storage = await open()
    const environmentId = newId()
    const flag = flagDefinition()
    const hidden = { ...flag, clientVisible: false }
    const other = () => flagChange(flagDefinition())
    for (const change of [other(), flagChange(flag), other(), flagRemoval(flag.id), other()]) {
      await storage.publish(environmentId, [change], METADATA)
    }
    await storage.publish(newId(), [flagChange(flag)], METADATA)
    await storage.publish(environmentId, [flagChange(hidden)], METADATA)
    const history = [
      { version: 2, definition: flag },
      { version: 4, definition: null },
      { version: 6, definition: hidden },
    ]
    const historySince = (since: number, flagId = flag.id) =>
      storage.loadFlagHistory({ environmentId, flagId, since })
    for (const since of [0, 1, 2, 3]) expect(await historySince(since)).toEqual(history)
    for (const since of [4, 5]) expect(await historySince(since)).toEqual(history.slice(1))
    for (const since of [6, 99]) expect(await historySince(since)).toEqual(history.slice(2))
    expect(await historySince(0, newId())).toEqual([])
    await storage.transaction('lock', async (tx) => {
      await tx.publish(environmentId, [flagRemoval(flag.id)], METADATA)
      const query = { environmentId, flagId: flag.id, since: 7 }
      expect(await tx.loadFlagHistory(query)).toEqual([{ version: 7, definition: null }])
    })
  })

  it('The newest versions and the revisions of several living environments are found in one call', async () => {
    const storage = await open()
    const [used, unused, deleted] = [1, 2, 3].map((revision) => sample('environment', { revision }))
    if (!used || !unused || !deleted) throw new Error()
    for (const environment of [used, unused, deleted])
      await storage.insert('environment', environment)
    await storage.update('environment', deleted.id, { deletedAt: '2026-04-01T00:00:00.000Z' })
    for (const { id } of [used, used, deleted]) {
      await storage.publish(id, [flagChange(flagDefinition())], METADATA)
    }
    const ids = [used.id, unused.id, deleted.id, newId()]
    expect((await storage.findVersions(ids)).environments).toEqual(
      new Map([
        [used.id, { version: 2, revision: 1 }],
        [unused.id, { version: 0, revision: 2 }],
      ]),
    )
    expect((await storage.findVersions([])).environments).toEqual(new Map())
    const many = Array.from({ length: 2500 }, newId)
    const found = await storage.findVersions([...many, used.id])
    expect([...found.environments.keys()]).toEqual([used.id])
    await storage.transaction('lock', async (tx) => {
      await tx.publish(used.id, [flagChange(flagDefinition())], METADATA)
      const { environments } = await tx.findVersions([used.id])
      expect(environments.get(used.id)?.version).toBe(3)
    })
  })

  it('Versions are listed newest first, with the time and audit event of their publication', async () => {
    const storage = await open()
    const environmentId = newId()
    expect(await storage.listVersions(environmentId, ALL)).toEqual({ data: [], total: 0 })
    const publications = [1, 2, 3].map((hour) => ({
      publishedAt: `2026-03-01T0${hour}:00:00.000Z`,
      eventId: hour === 2 ? null : newId(),
    }))
    for (const metadata of publications) {
      await storage.publish(environmentId, [flagChange(flagDefinition())], metadata)
    }
    await storage.publish(newId(), [flagChange(flagDefinition())], METADATA)
    const { data, total } = await storage.listVersions(environmentId, ALL)
    expect(total).toBe(3)
    expect(data.map(({ version }) => version)).toEqual([3, 2, 1])
    expect(data.map(({ publishedAt, eventId }) => ({ publishedAt, eventId }))).toEqual(
      [...publications].reverse(),
    )
  })

  it('A page of versions contains the versions on that page and the number of all versions', async () => {
    const storage = await open()
    const environmentId = newId()
    for (let version = 1; version <= 5; version += 1) {
      await storage.publish(environmentId, [flagChange(flagDefinition())], METADATA)
    }
    const versionsOn = async (page: number) => {
      const { data, total } = await storage.listVersions(environmentId, { page, limit: 2 })
      return [data.map(({ version }) => version), total]
    }
    expect(await versionsOn(1)).toEqual([[5, 4], 5])
    expect(await versionsOn(3)).toEqual([[1], 5])
    expect(await versionsOn(4)).toEqual([[], 5])
  })

  it('A page of the versions before a version contains none of the later ones', async () => {
    const storage = await open()
    const environmentId = newId()
    for (let version = 1; version <= 5; version += 1) {
      await storage.publish(environmentId, [flagChange(flagDefinition())], METADATA)
    }
    const versionsBefore = async (before: number) => {
      const page = { page: 1, limit: 2, before }
      const { data, total } = await storage.listVersions(environmentId, page)
      return [data.map(({ version }) => version), total]
    }
    expect(await versionsBefore(9)).toEqual([[5, 4], 5])
    expect(await versionsBefore(4)).toEqual([[3, 2], 5])
    expect(await versionsBefore(1)).toEqual([[], 5])
  })

  it('A version contains the ids and keys of its changed definitions, including removed definitions', async () => {
    const storage = await open()
    const environmentId = newId()
    const [one, two] = ['a', 'b'].map((id) => flagDefinition({ id, key: `key-${id}` }))
    const segment = publishedSegment({ id: 's', key: 'partners' })
    if (one === undefined || two === undefined) throw new Error()
    const publications: readonly (readonly DefinitionChange[])[] = [
      [flagChange(two), flagChange(one), segmentChange(segment)],
      [keysChange('s', { added: ['k'] }), flagChange(one)],
      [flagRemoval('a'), flagChange({ ...two, isActive: false })],
      [segmentChange({ ...segment, force: true }), keysChange('s', { removed: ['k'] })],
      [segmentRemoval('s')],
      [keysChange('nobody', { added: ['k'] })],
    ]
    for (const changes of publications) await storage.publish(environmentId, changes, METADATA)
    const { data } = await storage.listVersions(environmentId, ALL)
    const [a, b, s] = [
      { id: 'a', key: 'key-a' },
      { id: 'b', key: 'key-b' },
      { id: 's', key: 'partners' },
    ]
    expect([...data].reverse().map(({ flags, segments }) => [flags, segments])).toEqual([
      [[a, b], [s]],
      [[], [s]],
      [[a, b], []],
      [[], [s]],
      [[], [s]],
      [[], [{ id: 'nobody', key: null }]],
    ])
  })

  it('A publication without effect or in a rolled-back transaction adds no version', async () => {
    const storage = await open()
    const environmentId = newId()
    const flag = flagDefinition()
    await storage.publish(environmentId, [flagChange(flag)], METADATA)
    await storage.publish(environmentId, [flagChange(flag)], METADATA)
    const failing = storage.transaction('lock', async (tx) => {
      await tx.publish(environmentId, [flagRemoval(flag.id)], METADATA)
      expect((await tx.listVersions(environmentId, ALL)).total).toBe(2)
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    const { data, total } = await storage.listVersions(environmentId, ALL)
    expect([data.map(({ version }) => version), total]).toEqual([[1], 1])
  })
}

const AT = '2026-04-01T00:00:00.000Z'

/** Returns the version of all SDK keys. */
export async function sdkKeyVersion(session: Pick<StorageSession, 'findVersions'>) {
  return (await session.findVersions([])).sdkKeys
}

/** Tests the version of all SDK keys, which `findVersions` returns. */
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
