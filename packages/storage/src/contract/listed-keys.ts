import { expect, it } from 'vitest'
import {
  keysChange,
  METADATA,
  type OpenStorage,
  publishedSegment,
  segmentChange,
  segmentRemoval,
} from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'

/** Tests the listed keys of segments, which are published as differences. */
export function describeListedKeys(open: OpenStorage): void {
  it('A segment contains its listed keys in the order in which they were added', async () => {
    const { storage, environmentId, segment, lists } = await withSegment(open)
    const changes = [
      keysChange(segment.id, { added: ['b', 'a', 'ключ'] }),
      keysChange(segment.id, { list: 'excluded', added: ['x', 'x'] }),
    ]
    expect(await storage.publish(environmentId, changes, METADATA)).toBe(2)
    expect(await lists()).toEqual([['b', 'a', 'ключ'], ['x']])
    const change = keysChange(segment.id, { added: ['c'], removed: ['b', 'never there'] })
    expect(await storage.publish(environmentId, [change], METADATA)).toBe(3)
    expect(await lists()).toEqual([['a', 'ключ', 'c'], ['x']])
    expect(await lists(2)).toEqual([['b', 'a', 'ключ'], ['x']])
    expect(await lists(1)).toEqual([[], []])
  })

  it('A difference of listed keys without effect adds no version', async () => {
    const { storage, environmentId, segment, lists } = await withSegment(open)
    await storage.publish(environmentId, [keysChange(segment.id, { added: ['a', 'b'] })], METADATA)
    for (const difference of [
      { added: ['a', 'b'] },
      { removed: ['c'] },
      { added: ['a'], removed: ['a'] },
      { list: 'excluded', removed: ['a'] } as const,
      {},
    ]) {
      expect(
        await storage.publish(environmentId, [keysChange(segment.id, difference)], METADATA),
      ).toBe(2)
    }
    const thereAndBack = [
      keysChange(segment.id, { added: ['c'] }),
      keysChange(segment.id, { removed: ['c'] }),
    ]
    expect(await storage.publish(environmentId, thereAndBack, METADATA)).toBe(2)
    expect(await lists()).toEqual([['a', 'b'], []])
  })

  it('Listed keys of a segment that is not published are kept but appear in no flag set', async () => {
    const { storage, environmentId, segment, lists } = await withSegment(open)
    await storage.publish(environmentId, [keysChange(segment.id, { added: ['a'] })], METADATA)
    await storage.publish(environmentId, [segmentRemoval(segment.id)], METADATA)
    expect(
      await storage.publish(environmentId, [keysChange(segment.id, { added: ['b'] })], METADATA),
    ).toBe(4)
    expect(await storage.loadFlagSet(environmentId)).toEqual({
      version: 4,
      flags: [],
      segments: [],
    })
    await storage.publish(environmentId, [segmentChange(segment)], METADATA)
    expect(await lists()).toEqual([['a', 'b'], []])
  })

  it('A long list of keys with many small differences is exact in every version', async () => {
    const { storage, environmentId, segment, lists } = await withSegment(open)
    const keys = new Set(Array.from({ length: 3000 }, (_, index) => `user-${index}`))
    await storage.publish(environmentId, [keysChange(segment.id, { added: [...keys] })], METADATA)
    const expected = new Map([[2, [...keys]]])
    for (let round = 0; round < 400; round += 1) {
      const [added, removed] = [`late-${round}`, `user-${round * 7}`]
      keys.delete(removed)
      keys.add(added)
      const change = keysChange(segment.id, { added: [added], removed: [removed] })
      const version = await storage.publish(environmentId, [change], METADATA)
      if (round % 57 === 0) expected.set(version, [...keys])
    }
    expect((await lists())[0]).toEqual([...keys])
    for (const [version, included] of expected) {
      expect((await lists(version))[0]).toEqual(included)
    }
  })
}

async function withSegment(open: OpenStorage) {
  const storage = await open()
  const environmentId = newId()
  const segment = publishedSegment()
  await storage.publish(environmentId, [segmentChange(segment)], METADATA)
  const lists = async (at?: number) => {
    const flagSet = await storage.loadFlagSet(environmentId, at)
    return [flagSet?.segments[0]?.included, flagSet?.segments[0]?.excluded]
  }
  return { storage, environmentId, segment, lists }
}
