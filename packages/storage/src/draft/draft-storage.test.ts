import { describe, expect, it } from 'vitest'
import { newContextSample } from '../contract/samples/context-samples.ts'
import {
  flagChange,
  flagDefinition,
  keysChange,
  METADATA,
  publishedSegment,
  segmentChange,
} from '../contract/samples/fixtures.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { memory } from '../memory/memory.ts'
import type { Storage } from '../ports/storage.ts'
import { createDraft } from './draft-storage.ts'

async function openStore(): Promise<Storage> {
  const { storage } = memory()
  await storage.migrate()
  return storage
}

describe('createDraft', () => {
  it('The flag set of a draft contains its publications, in which the last change of a definition applies', async () => {
    const base = await openStore()
    const environmentId = newId()
    const [kept, gone, fresh] = ['kept', 'gone', 'fresh'].map((key) => flagDefinition({ key }))
    const segment = publishedSegment()
    if (kept === undefined || gone === undefined || fresh === undefined) throw new Error('no flags')
    const first = [flagChange(kept), flagChange(gone), segmentChange(segment)]
    await base.publish(environmentId, first, METADATA)
    await base.publish(environmentId, [keysChange(segment.id, { added: ['a', 'b'] })], METADATA)
    const { storage, published } = createDraft(base)
    const changes = [
      flagChange({ ...kept, isActive: false }),
      { kind: 'flag', id: gone.id, definition: null } as const,
      flagChange(fresh),
      keysChange(segment.id, { added: ['c', 'd'], removed: ['a'] }),
    ]
    await storage.publish(environmentId, changes, METADATA)
    const more = [flagChange(kept), keysChange(segment.id, { added: ['a'], removed: ['c'] })]
    await storage.publish(environmentId, more, METADATA)
    const flagSet = await storage.loadFlagSet(environmentId)
    expect(flagSet?.flags).toEqual([fresh, kept])
    expect([...(flagSet?.segments[0]?.included ?? [])].sort()).toEqual(['a', 'b', 'd'])
    expect(published.get(environmentId)).toEqual([...changes, ...more])
    expect((await base.loadFlagSet(environmentId))?.version).toBe(2)
    expect(await storage.loadFlagSet(environmentId, 2)).toEqual(
      await base.loadFlagSet(environmentId, 2),
    )
  })

  it('A draft refuses to write anything but records and publications', async () => {
    const { storage } = createDraft(await openStore())
    for (const write of [
      () => storage.recordContextSamples([newContextSample()]),
      () => storage.addEvaluationCounts([]),
      () => storage.addApiCalls([]),
      () => storage.purge('flag', { where: { id: newId() } }),
    ]) {
      await expect(write()).rejects.toMatchObject({ code: 'INTERNAL' })
    }
  })
})
