import { isFlagError } from '@ff/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../index.ts'
import type { Kind } from '../ports/records.ts'
import type { Storage } from '../ports/storage.ts'
import { type Command, ENVIRONMENTS, IDS } from './commands/model-values.ts'
import { KINDS } from './commands/record-commands.ts'
import { inOrder } from './commands/usage-commands.ts'
import { expectMergeable, withSortedKeys } from './mergeable.ts'
import { commands } from './model-commands.ts'
import type { StorageUnderTest } from './samples/fixtures.ts'

const RUNS = 40
const TIMEOUT_MS = 120_000

/**
 * Tests that a store and the memory store return the same results for the same random commands, and
 * that loaded changes can be merged into every past flag set.
 */
export function describeModel(create: () => Promise<StorageUnderTest>): void {
  describe('model', () => {
    it(
      'Random commands have the same results in the tested store as in the memory store',
      async () => {
        const property = fc.asyncProperty(commands, (sequence) => compare(create, sequence))
        await fc.assert(property, { numRuns: RUNS })
      },
      TIMEOUT_MS,
    )
  })
}

async function compare(
  create: () => Promise<StorageUnderTest>,
  sequence: readonly Command[],
): Promise<void> {
  const { storage, close } = await create()
  const model = memory().storage
  try {
    await Promise.all([storage.migrate(), model.migrate()])
    for (const command of sequence) {
      expect(await resultOf(command, storage)).toEqual(await resultOf(command, model))
    }
    expect(await everythingIn(storage)).toEqual(await everythingIn(model))
    for (const environmentId of ENVIRONMENTS) await expectMergeable(storage, environmentId)
  } finally {
    await close()
  }
}

/** Runs a command and returns its result or the code of its error. */
async function resultOf(command: Command, storage: Storage): Promise<unknown> {
  try {
    return { result: await command.run(storage) }
  } catch (error) {
    if (isFlagError(error)) return { refusal: error.code }
    throw error
  }
}

/**
 * Returns all living records, all evaluation counts, and all versions with their flag sets and the
 * changes since each version.
 */
async function everythingIn(storage: Storage): Promise<unknown> {
  const found: unknown[] = []
  const kinds: readonly Kind[] = KINDS
  for (const kind of kinds) found.push(await storage.list(kind, {}))
  for (const environmentId of ENVIRONMENTS) {
    for (const flagId of IDS) {
      const counted = { environmentId, flagId, from: '', to: '9' }
      found.push(inOrder(await storage.loadEvaluationCounts(counted)))
    }
    found.push(await storage.listVersions(environmentId, { page: 1, limit: 100 }))
    const { version: newest } = await storage.loadChanges(environmentId, 0)
    for (let version = 0; version <= newest; version += 1) {
      found.push(await storage.loadFlagSet(environmentId, version))
      found.push(withSortedKeys(await storage.loadChanges(environmentId, version)))
    }
  }
  return found
}
