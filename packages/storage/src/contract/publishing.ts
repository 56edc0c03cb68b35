import { describe, expect, it } from 'vitest'
import { describeListedKeys } from './listed-keys.ts'
import { describeLoadedChanges, publishHistory } from './loaded-changes.ts'
import {
  flagChange,
  flagDefinition,
  flagRemoval,
  METADATA,
  type OpenStorage,
  publishedSegment,
  segmentChange,
} from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { describeVersionList } from './version-list.ts'

/** Tests the publication log: versions, current and past flag sets, and changes. */
export function describePublishing(open: OpenStorage): void {
  describe('publishing', () => {
    describeVersions(open)
    describeFlagSets(open)
    describeClientVersions(open)
    describeLoadedChanges(open)
    describeListedKeys(open)
    describeVersionList(open)
  })
}

function describeClientVersions(open: OpenStorage): void {
  it('The client version is the version of the last publication that affected clients', async () => {
    const storage = await open()
    const environmentId = newId()
    const publish = (affectsClients: boolean) => {
      const metadata = { ...METADATA, affectsClients }
      return storage.publish(environmentId, [flagChange(flagDefinition())], metadata)
    }
    for (const affectsClients of [false, true, false, false, true]) await publish(affectsClients)
    const numbersAt = async (at?: number) => {
      const { version, clientVersion } = (await storage.loadFlagSet(environmentId, at)) ?? {}
      return [version, clientVersion]
    }
    expect(await Promise.all([0, 1, 2, 3, 4, 5, undefined].map(numbersAt))).toEqual([
      [0, undefined],
      [1, 0],
      [2, undefined],
      [3, 2],
      [4, 2],
      [5, undefined],
      [5, undefined],
    ])
    await publish(false)
    expect(await numbersAt()).toEqual([6, 5])
    expect(await storage.loadChanges(environmentId, 4)).toMatchObject({
      version: 6,
      clientVersion: 5,
    })
    expect(await storage.publish(environmentId, [], METADATA)).toBe(6)
    expect(await numbersAt()).toEqual([6, 5])
  })
}

function describeVersions(open: OpenStorage): void {
  it('Each publication creates the next version of its environment', async () => {
    const storage = await open()
    const [environmentId, other] = [newId(), newId()]
    for (const version of [1, 2, 3]) {
      expect(await storage.publish(environmentId, [flagChange(flagDefinition())], METADATA)).toBe(
        version,
      )
    }
    expect(await storage.publish(other, [flagChange(flagDefinition())], METADATA)).toBe(1)
    expect((await storage.loadFlagSet(environmentId))?.version).toBe(3)
  })

  it('Two concurrent publications create two versions', async () => {
    const storage = await open()
    const environmentId = newId()
    const publish = () => storage.publish(environmentId, [flagChange(flagDefinition())], METADATA)
    expect((await Promise.all([publish(), publish()])).sort()).toEqual([1, 2])
    const flagSet = await storage.loadFlagSet(environmentId)
    expect([flagSet?.version, flagSet?.flags.length]).toEqual([2, 2])
  })

  it('Unchanged definitions are omitted, and a publication without changes adds no version', async () => {
    const storage = await open()
    const environmentId = newId()
    const [flag, segment] = [flagDefinition(), publishedSegment()]
    expect(await storage.publish(environmentId, [], METADATA)).toBe(0)
    expect(
      await storage.publish(environmentId, [flagChange(flag), segmentChange(segment)], METADATA),
    ).toBe(1)
    expect(await storage.publish(environmentId, [flagChange({ ...flag })], METADATA)).toBe(1)
    expect(await storage.publish(environmentId, [], METADATA)).toBe(1)
    const paused = { ...flag, isActive: false }
    const changes = [segmentChange(segment), flagChange(paused)]
    expect(await storage.publish(environmentId, changes, METADATA)).toBe(2)
    const { flags, segments } = await storage.loadChanges(environmentId, 1)
    expect([flags, segments]).toEqual([[{ id: flag.id, definition: paused }], []])
  })

  it('The last of several changes of one definition applies', async () => {
    const storage = await open()
    const environmentId = newId()
    const flag = flagDefinition()
    const renamed = { ...flag, key: 'renamed' }
    await storage.publish(environmentId, [flagChange(flag), flagChange(renamed)], METADATA)
    expect((await storage.loadFlagSet(environmentId))?.flags).toEqual([renamed])
    expect(
      await storage.publish(environmentId, [flagRemoval(flag.id), flagChange(renamed)], METADATA),
    ).toBe(1)
  })

  it('Removing a definition that is not published adds no version', async () => {
    const storage = await open()
    const environmentId = newId()
    expect(await storage.publish(environmentId, [flagRemoval(newId())], METADATA)).toBe(0)
    const flag = flagDefinition()
    await storage.publish(environmentId, [flagChange(flag)], METADATA)
    expect(await storage.publish(environmentId, [flagRemoval(flag.id)], METADATA)).toBe(2)
    expect(await storage.publish(environmentId, [flagRemoval(flag.id)], METADATA)).toBe(2)
    expect(await storage.publish(environmentId, [flagChange(flag)], METADATA)).toBe(3)
  })
}

function describeFlagSets(open: OpenStorage): void {
  it('An environment without publications has no flag set', async () => {
    const storage = await open()
    expect(await storage.loadFlagSet(newId())).toBeUndefined()
    expect(await storage.loadFlagSet(newId(), 0)).toBeUndefined()
    expect(await storage.loadChanges(newId(), 0)).toEqual({ version: 0, flags: [], segments: [] })
  })

  it('A definition is loaded exactly as it was published', async () => {
    const storage = await open()
    const environmentId = newId()
    const values = JSON.parse('{"__proto__":[1],"text":"\\u0000\\"😀","deep":[[[{}]]]}')
    const flag = flagDefinition({
      type: 'json',
      variations: [{ id: 'v', key: 'v', value: JSON.stringify(values) }],
      targets: [{ variationId: 'v', kind: 'user', keys: ['ключ', '\u0000', '__proto__'] }],
      rules: [
        {
          id: newId(),
          orderIndex: 0,
          createdAt: '2026-01-01T00:00:00.000Z',
          conditions: [{ attribute: 'a', operator: 'eq', value: '\u2028', negate: true }],
          segmentId: null,
          variationId: 'v',
          rolloutId: null,
        },
      ],
    })
    await storage.publish(environmentId, [flagChange(flag)], METADATA)
    const flags = (await storage.loadFlagSet(environmentId))?.flags
    expect(JSON.stringify(flags)).toBe(JSON.stringify([flag]))
  })

  it('A flag set contains flags ordered by key and segments ordered by id', async () => {
    const storage = await open()
    const environmentId = newId()
    const keys = ['b', 'B', 'a', '😀', '\uFFFD', 'a.b', 'a-b']
    const ids = ['s-2', 'S-1', 's-10', 's-1']
    await storage.publish(
      environmentId,
      [
        ...keys.map((key) => flagChange(flagDefinition({ key }))),
        ...ids.map((id) => segmentChange(publishedSegment({ id }))),
      ],
      METADATA,
    )
    const flagSet = await storage.loadFlagSet(environmentId)
    expect(flagSet?.flags.map(({ key }) => key)).toEqual([
      'B',
      'a',
      'a-b',
      'a.b',
      'b',
      '\uFFFD',
      '😀',
    ])
    expect(flagSet?.segments.map(({ id }) => id)).toEqual(['S-1', 's-1', 's-10', 's-2'])
  })

  it('Every past version of a flag set can be loaded unchanged', async () => {
    const storage = await open()
    const environmentId = newId()
    const history = await publishHistory(storage, environmentId)
    expect(history.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6])
    for (const flagSet of history) {
      expect(await storage.loadFlagSet(environmentId, flagSet.version)).toEqual(flagSet)
    }
    const nothing = { version: 0, flags: [], segments: [] }
    expect(await storage.loadFlagSet(environmentId, 0)).toEqual(nothing)
  })

  it('Loading a version of a flag set that does not exist returns undefined', async () => {
    const storage = await open()
    const environmentId = newId()
    await storage.publish(environmentId, [flagChange(flagDefinition())], METADATA)
    expect(await storage.loadFlagSet(environmentId, 2)).toBeUndefined()
    expect(await storage.loadFlagSet(environmentId, -1)).toBeUndefined()
  })
}
