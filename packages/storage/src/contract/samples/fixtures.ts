import { type FlagDefinition, isFlagError } from '@ff/core'
import { expect } from 'vitest'
import type {
  DefinitionChange,
  PublishedSegment,
  PublishMetadata,
} from '../../ports/publications.ts'
import type { Storage } from '../../ports/storage.ts'
import { CREATED_AT, newId } from './sample-fields.ts'

/** A new, empty store on which no method has been called, not even `migrate`. */
export interface StorageUnderTest {
  readonly storage: Storage
  /** Closes the store and removes its data. */
  readonly close: () => Promise<void>
}

/** Opens a store for one test. The store is closed when the test ends. */
export type OpenStorage = () => Promise<Storage>

/** The metadata of publications in tests that do not check the metadata. */
export const METADATA: PublishMetadata = { publishedAt: CREATED_AT, eventId: null }

/** Returns a flag definition with a new id. `fields` override its defaults. */
export function flagDefinition(fields: Partial<FlagDefinition> = {}): FlagDefinition {
  return {
    id: newId(),
    key: 'new-checkout',
    type: 'boolean',
    isActive: true,
    variations: [{ id: 'v-on', key: 'on', value: 'true' }],
    defaultVariationId: 'v-on',
    offVariationId: null,
    targets: [],
    prerequisites: [],
    rules: [],
    rollouts: [],
    ...fields,
  }
}

/** Returns a published segment with a new id. `fields` override its defaults. */
export function publishedSegment(fields: Partial<PublishedSegment> = {}): PublishedSegment {
  return {
    id: newId(),
    key: 'partners',
    rules: [],
    logicalOp: 'AND',
    force: false,
    keyAttribute: 'user.key',
    ...fields,
  }
}

/** Returns the change that publishes a flag. */
export function flagChange(definition: FlagDefinition): DefinitionChange {
  return { kind: 'flag', id: definition.id, definition }
}

/** Returns the change that publishes a segment. */
export function segmentChange(definition: PublishedSegment): DefinitionChange {
  return { kind: 'segment', id: definition.id, definition }
}

/** Returns the change that removes a flag. */
export function flagRemoval(id: string): DefinitionChange {
  return { kind: 'flag', id, definition: null }
}

/** Returns the change that removes a segment. */
export function segmentRemoval(id: string): DefinitionChange {
  return { kind: 'segment', id, definition: null }
}

interface KeysOptions {
  readonly list?: 'included' | 'excluded'
  readonly added?: readonly string[]
  readonly removed?: readonly string[]
}

/** Returns a change of one key list of a segment. The default list is `included`. */
export function keysChange(segmentId: string, options: KeysOptions): DefinitionChange {
  const { list = 'included', added = [], removed = [] } = options
  return { kind: 'segmentKeys', segmentId, list, added, removed }
}

/** Asserts that the promise rejects with a `FlagError` that has this code. */
export async function expectRefusal(work: Promise<unknown>, code: string): Promise<void> {
  const outcome = await work.then(
    (result) => ({ result }),
    (error: unknown) => error,
  )
  expect(isFlagError(outcome) ? outcome.code : outcome).toBe(code)
}
