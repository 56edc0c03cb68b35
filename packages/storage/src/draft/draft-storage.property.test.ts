import { isFlagError } from '@ff/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import type { Command } from '../contract/commands/model-values.ts'
import { commands } from '../contract/model-commands.ts'
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
        const base = await openStore()
        const model = await openStore()
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
      { numRuns: runs(150) },
    )
  })
})
