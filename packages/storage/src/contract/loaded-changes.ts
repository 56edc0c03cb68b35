import type { FlagSetDefinition } from '@ff/core'
import type { ChangedSegment, KeyChanges } from '@ff/core/changes'
import { expect, it } from 'vitest'
import type { DefinitionChange } from '../ports/publications.ts'
import type { Storage } from '../ports/storage.ts'
import { expectMergeable, withSortedKeys } from './mergeable.ts'
import {
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

/** Tests `loadChanges`. */
export function describeLoadedChanges(open: OpenStorage): void {
  describeChangedDefinitions(open)
  describeChangedKeys(open)
  describeChangedPublication(open)
}

function describeChangedDefinitions(open: OpenStorage): void {
  it('Loaded changes contain only the changed definitions, in their current state', async () => {
    const storage = await open()
    const environmentId = newId()
    const [kept, changed, deleted] = ['a', 'b', 'c'].map((key) => flagDefinition({ id: key, key }))
    if (kept === undefined || changed === undefined || deleted === undefined) throw new Error()
    await storage.publish(environmentId, [kept, changed, deleted].map(flagChange), METADATA)
    await storage.publish(environmentId, [flagChange({ ...changed, isActive: false })], METADATA)
    await storage.publish(
      environmentId,
      [flagRemoval(deleted.id), flagChange({ ...changed, type: 'json' })],
      METADATA,
    )
    expect(await storage.loadChanges(environmentId, 1)).toEqual({
      version: 3,
      flags: [
        { id: changed.id, definition: { ...changed, type: 'json' } },
        { id: deleted.id, definition: null },
      ],
      segments: [],
    })
    const nothing = { version: 3, flags: [], segments: [] }
    expect(await storage.loadChanges(environmentId, 3)).toEqual(nothing)
    expect(await storage.loadChanges(environmentId, 99)).toEqual(nothing)
  })

  it('Merging loaded changes into an old flag set results in the current flag set', async () => {
    const storage = await open()
    const environmentId = newId()
    await publishHistory(storage, environmentId)
    await expectMergeable(storage, environmentId)
  })

  it('Loaded changes in a transaction contain the changes of the transaction', async () => {
    const { storage, environmentId, segment, publish } = await withSegment(open)
    await publish(keysChange(segment.id, { added: ['a', 'b'] }))
    await storage.transaction(newId(), async (tx) => {
      const change = keysChange(segment.id, { added: ['c'], removed: ['a'] })
      await tx.publish(environmentId, [change], METADATA)
      expect((await tx.loadChanges(environmentId, 2)).segments).toEqual([
        changed(segment, { included: { added: ['c'], removed: ['a'] } }),
      ])
      await expectMergeable(tx, environmentId)
    })
  })
}

function describeChangedKeys(open: OpenStorage): void {
  it('Loaded changes contain only the changed keys of a long list', async () => {
    const { segment, publish, changesSince, assertMergeable } = await withSegment(open)
    await publish(keysChange(segment.id, { added: keysFrom(100_000) }))
    await publish(keysChange(segment.id, { added: ['late', 'user-5'] }))
    const late = changed(segment, { included: { added: ['late'], removed: [] } })
    expect(await changesSince(2)).toEqual([late])
    await publish(keysChange(segment.id, { removed: ['user-7'] }))
    const both = changed(segment, { included: { added: ['late'], removed: ['user-7'] } })
    expect(await changesSince(2)).toEqual([both])
    await assertMergeable()
  })

  it('A new definition of a segment changes none of its listed keys', async () => {
    const { segment, publish, changesSince, assertMergeable } = await withSegment(open)
    await publish(keysChange(segment.id, { added: ['a'] }))
    const renamed = { ...segment, key: 'renamed' }
    await publish(segmentChange(renamed))
    expect(await changesSince(2)).toEqual([changed(renamed)])
    expect(await changesSince(0)).toEqual([
      changed(renamed, { included: { added: ['a'], removed: [] } }),
    ])
    await assertMergeable()
  })

  it('Keys that are added and removed again, or removed and added again, are not changed', async () => {
    const { segment, publish, changesSince, assertMergeable } = await withSegment(open)
    await publish(keysChange(segment.id, { added: ['a', 'b'] }))
    await publish(keysChange(segment.id, { added: ['c'], removed: ['a'] }))
    await publish(keysChange(segment.id, { added: ['a'], removed: ['c'] }))
    expect(await changesSince(2)).toEqual([])
    expect(await changesSince(3)).toEqual([
      changed(segment, { included: { added: ['a'], removed: ['c'] } }),
    ])
    await assertMergeable()
  })

  it('A key that moves to the other list is removed from one list and added to the other', async () => {
    const { segment, publish, changesSince, assertMergeable } = await withSegment(open)
    await publish(keysChange(segment.id, { added: ['a', 'b'] }))
    await publish(
      keysChange(segment.id, { removed: ['a'] }),
      keysChange(segment.id, { list: 'excluded', added: ['a'] }),
    )
    expect(await changesSince(2)).toEqual([
      changed(segment, {
        included: { added: [], removed: ['a'] },
        excluded: { added: ['a'], removed: [] },
      }),
    ])
    await assertMergeable()
  })

  it('Loaded changes of listed keys are exact after any number of differences', async () => {
    const { segment, publish, changesSince, assertMergeable } = await withSegment(open)
    await publish(keysChange(segment.id, { added: keysFrom(100) }))
    await publish(keysChange(segment.id, { added: keysFrom(2000), removed: ['user-3', 'user-4'] }))
    for (let round = 0; round < 60; round += 1) {
      const removed = [`user-${round}`, `late-${round - 10}`]
      await publish(keysChange(segment.id, { added: [`late-${round}`], removed }))
    }
    const [change] = await changesSince(2)
    expect(change?.included.added).toEqual(
      [...keysFrom(2000).slice(100), ...keysFrom(60, 'late').slice(50)].sort(),
    )
    expect(change?.included.removed).toEqual(keysFrom(60).sort())
    await assertMergeable()
  })
}

function describeChangedPublication(open: OpenStorage): void {
  it('The changes of a removed segment contain no keys', async () => {
    const { segment, publish, changesSince, assertMergeable } = await withSegment(open)
    await publish(keysChange(segment.id, { added: ['a'] }))
    const removal = { ...changed(segment), definition: null }
    await publish(segmentRemoval(segment.id), keysChange(segment.id, { removed: ['a'] }))
    expect(await changesSince(2)).toEqual([removal])
    expect(await changesSince(0)).toEqual([removal])
    await publish(keysChange(segment.id, { added: ['b'] }))
    expect(await changesSince(2)).toEqual([removal])
    expect(await changesSince(3)).toEqual([])
    await assertMergeable()
  })

  it('The changes of a segment that is published again are relative to the flag set at the version', async () => {
    const { segment, publish, changesSince, assertMergeable } = await withSegment(open)
    await publish(keysChange(segment.id, { added: ['a', 'b'] }))
    await publish(segmentRemoval(segment.id))
    await publish(keysChange(segment.id, { added: ['c'], removed: ['a'] }))
    await publish(segmentChange(segment))
    const all = changed(segment, { included: { added: ['b', 'c'], removed: [] } })
    const difference = changed(segment, { included: { added: ['c'], removed: ['a'] } })
    expect(await changesSince(0)).toEqual([all])
    expect(await changesSince(2)).toEqual([difference])
    expect(await changesSince(3)).toEqual([all])
    expect(await changesSince(4)).toEqual([all])
    expect(await changesSince(5)).toEqual([])
    await assertMergeable()
  })

  it('All keys of a segment that was not published at the version are added, even after many changes', async () => {
    const { segment, publish, changesSince, assertMergeable } = await withSegment(open)
    await publish(keysChange(segment.id, { added: ['a', ...keysFrom(2000)] }))
    await publish(segmentRemoval(segment.id))
    await publish(keysChange(segment.id, { added: ['b'], removed: keysFrom(2000) }))
    await publish(keysChange(segment.id, { added: keysFrom(3000, 'late') }))
    await publish(segmentChange(segment))
    const [change] = await changesSince(3)
    const added = ['a', 'b', ...keysFrom(3000, 'late')].sort()
    expect(change).toEqual(changed(segment, { included: { added, removed: [] } }))
    await assertMergeable()
  })

  it('Listed keys of a segment that is not published are not changes', async () => {
    const { storage, environmentId, publish, changesSince, assertMergeable } =
      await withSegment(open)
    const segment = publishedSegment()
    await publish(keysChange(segment.id, { added: ['a'] }))
    expect(await storage.loadChanges(environmentId, 1)).toEqual({
      version: 2,
      flags: [],
      segments: [],
    })
    await publish(segmentChange(segment))
    expect(await changesSince(2)).toEqual([
      changed(segment, { included: { added: ['a'], removed: [] } }),
    ])
    await assertMergeable()
  })
}

const NONE: KeyChanges = { added: [], removed: [] }

function changed(
  definition: ReturnType<typeof publishedSegment>,
  lists: Partial<Pick<ChangedSegment, 'included' | 'excluded'>> = {},
): ChangedSegment {
  return { id: definition.id, definition, included: NONE, excluded: NONE, ...lists }
}

function keysFrom(count: number, name = 'user'): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index}`)
}

/** Opens a store in which version 1 of an environment contains one segment. */
async function withSegment(open: OpenStorage) {
  const storage = await open()
  const environmentId = newId()
  const segment = publishedSegment()
  const publish = (...changes: DefinitionChange[]) =>
    storage.publish(environmentId, changes, METADATA)
  const changesSince = async (version: number) =>
    withSortedKeys(await storage.loadChanges(environmentId, version)).segments
  const assertMergeable = () => expectMergeable(storage, environmentId)
  await publish(segmentChange(segment))
  return { storage, environmentId, segment, publish, changesSince, assertMergeable }
}

/** Publishes six versions and returns the flag set after each. */
export async function publishHistory(
  storage: Storage,
  environmentId: string,
): Promise<readonly FlagSetDefinition[]> {
  const [flag, other] = [flagDefinition({ key: 'one' }), flagDefinition({ key: 'two' })]
  const segment = publishedSegment()
  const publications: readonly (readonly DefinitionChange[])[] = [
    [flagChange(flag), segmentChange(segment)],
    [flagChange(other), keysChange(segment.id, { added: ['a', 'b'] })],
    [flagChange({ ...flag, isActive: false }), keysChange(segment.id, { removed: ['a'] })],
    [flagRemoval(flag.id), segmentChange({ ...segment, force: true })],
    [segmentRemoval(segment.id), flagChange({ ...other, key: 'zero' })],
    [flagChange(flag), segmentChange(segment)],
  ]
  const history: FlagSetDefinition[] = []
  for (const changes of publications) {
    await storage.publish(environmentId, changes, METADATA)
    const flagSet = await storage.loadFlagSet(environmentId)
    if (flagSet !== undefined) history.push(flagSet)
  }
  return history
}
