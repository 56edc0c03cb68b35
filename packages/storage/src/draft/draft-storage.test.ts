import { isFlagError } from '@ff/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Command } from '../contract/commands/model-values.ts'
import { commands } from '../contract/model-commands.ts'
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

const KINDS = ['flag', 'variation', 'organization', 'auditHead'] as const

/** Returns `true` for commands that read or write records, which a draft supports completely. */
function isOnRecords({ name }: Command): boolean {
  return /^(insert|find|find deleted|list|update|revive) /.test(name)
}

async function openStore(): Promise<Storage> {
  const { storage } = memory()
  await storage.migrate()
  return storage
}

async function resultOf(command: Command, storage: Storage): Promise<unknown> {
  try {
    return { result: await command.run(storage) }
  } catch (error) {
    if (isFlagError(error)) return { refusal: error.code }
    throw error
  }
}

const everythingIn = (storage: Storage) =>
  Promise.all(KINDS.map((kind) => storage.list(kind, {}).then(({ data }) => data)))

describe('createDraft', () => {
  it('A draft over a store returns the same results as a store, and does not change its base', async () => {
    await fc.assert(
      fc.asyncProperty(commands, commands, async (earlier, later) => {
        const [base, model] = [await openStore(), await openStore()]
        for (const command of earlier.filter(isOnRecords)) {
          await resultOf(command, base)
          await resultOf(command, model)
        }
        const before = JSON.stringify(await everythingIn(base))
        const { storage } = createDraft(base)
        for (const command of later.filter(isOnRecords)) {
          expect(await resultOf(command, storage)).toEqual(await resultOf(command, model))
        }
        expect(await everythingIn(storage)).toEqual(await everythingIn(model))
        expect(JSON.stringify(await everythingIn(base))).toBe(before)
      }),
      { numRuns: 150 },
    )
  }, 60_000)

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
