import { type FlagDefinition, isFlagError } from '@ff/core'
import { expect } from 'vitest'
import type {
  DefinitionChange,
  PublishedSegment,
  PublishMetadata,
  Storage,
} from '../ports/storage.ts'
import { CREATED_AT, newId } from './samples/sample-fields.ts'

/** A fresh and empty store that nothing has been asked of yet, not even `migrate`. */
export interface StorageUnderTest {
  readonly storage: Storage
  /** Closes the store and removes what it kept. */
  readonly close: () => Promise<void>
}

/** Opens a store for one test; it is closed when the test ends. */
export type OpenStorage = () => Promise<Storage>

/** When and why tests publish, where it does not matter. */
export const METADATA: PublishMetadata = { publishedAt: CREATED_AT, eventId: null }

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

export function flagChange(definition: FlagDefinition): DefinitionChange {
  return { kind: 'flag', id: definition.id, definition }
}

export function segmentChange(definition: PublishedSegment): DefinitionChange {
  return { kind: 'segment', id: definition.id, definition }
}

export function goneFlag(id: string): DefinitionChange {
  return { kind: 'flag', id, definition: null }
}

export function goneSegment(id: string): DefinitionChange {
  return { kind: 'segment', id, definition: null }
}

interface KeysOptions {
  readonly list?: 'included' | 'excluded'
  readonly added?: readonly string[]
  readonly removed?: readonly string[]
}

export function keysChange(segmentId: string, options: KeysOptions): DefinitionChange {
  const { list = 'included', added = [], removed = [] } = options
  return { kind: 'segmentKeys', segmentId, list, added, removed }
}

/** Expects a `FlagError` with this code. */
export async function expectRefusal(work: Promise<unknown>, code: string): Promise<void> {
  const outcome = await work.then(
    (answer) => ({ answer }),
    (error: unknown) => error,
  )
  expect(isFlagError(outcome) ? outcome.code : outcome).toBe(code)
}
