import { sha256Incrementally } from '../hashing/sha256.ts'
import { canonicalJsonIncrementally } from '../model/canonical-json.ts'
import type { FlagDefinition, FlagSetDefinition, SegmentDefinition } from '../model/definition.ts'
import { type Incremental, runToEnd } from '../model/incremental.ts'
import { elementsOf, type JsonValue } from '../model/json.ts'
import { BucketedHash, type ItemChanges } from './bucketed-hash.ts'
import type { DefinitionDelta } from './definition-delta.ts'

/** The part of a `DefinitionDelta` that changes the root. Contains each id at most once. */
type DefinitionChanges = Pick<DefinitionDelta, 'flags' | 'segments'>

/** A segment and the changes of its lists. */
interface SegmentChange {
  readonly id: string
  readonly definition: unknown
  readonly included: ItemChanges<string>
  readonly excluded: ItemChanges<string>
}

/** The hash of a flag or segment. */
interface HashedDefinition {
  /** The kind and the id. */
  readonly name: string
  readonly line: string
  /** The flag or segment with this hash, or `undefined` if it is unknown. */
  readonly definition: unknown
  /** The keys of a segment. */
  readonly included?: BucketedHash<string>
  readonly excluded?: BucketedHash<string>
}

/**
 * The root of a flag set: a hash that identifies its definitions. Immutable. Equal definitions have
 * equal roots, and different definitions have different roots. The order of flags, segments, listed
 * keys and properties does not matter, and neither do repeated keys and the version. The hashes of
 * all parts are stored, so that the root of a changed flag set can be computed quickly.
 */
export class FlagSetRoot {
  /** The root, as 64 lower-case hex digits. */
  readonly root: string
  readonly #definitions: BucketedHash<HashedDefinition>

  private constructor(definitions: BucketedHash<HashedDefinition>) {
    this.root = definitions.hash
    this.#definitions = definitions
  }

  /** Returns the root of a flag set without flags and segments. */
  static empty(): FlagSetRoot {
    const nameOf = ({ name }: HashedDefinition) => name
    return new FlagSetRoot(BucketedHash.empty({ nameOf, lineOf: ({ line }) => line }))
  }

  /**
   * Returns the root of another definition. Flags, segments and lists of keys that are the same
   * objects as before are not hashed again, so they must not be modified. Throws a `TypeError` if a
   * list is missing, or if two flags or two segments have the same id.
   */
  after(definition: FlagSetDefinition): FlagSetRoot {
    return runToEnd(this.afterIncrementally(definition))
  }

  /** Returns the same root as `after`, and yields about once per millisecond. */
  *afterIncrementally({ flags, segments }: FlagSetDefinition): Incremental<FlagSetRoot> {
    const added: HashedDefinition[] = []
    for (const flag of elementsOf(flags)) added.push(yield* this.#hashedFlag(flag.id, flag))
    for (const segment of elementsOf(segments)) added.push(yield* this.#hashedSegment(segment))
    if (new Set(added.map(({ name }) => name)).size < added.length) {
      throw new TypeError('Two flags or two segments have the same id')
    }
    return new FlagSetRoot(yield* this.#definitions.after({ added, removed: 'all' }))
  }

  /**
   * Returns the root after the changes of a `DefinitionDelta`. It equals the root of the merged
   * definition. Only the changed parts are hashed again.
   */
  afterChanges(changes: DefinitionChanges): FlagSetRoot {
    return runToEnd(this.afterChangesIncrementally(changes))
  }

  /** Returns the same root as `afterChanges`, and yields about once per millisecond. */
  *afterChangesIncrementally({ flags, segments }: DefinitionChanges): Incremental<FlagSetRoot> {
    const added: HashedDefinition[] = []
    const removed: string[] = []
    for (const { id, definition } of flags) {
      if (definition === null) removed.push(flagName(id))
      else added.push(yield* this.#hashedFlag(id, definition))
    }
    for (const change of segments) {
      if (change.definition === null) removed.push(segmentName(change.id))
      else added.push(yield* this.#changedSegment(change))
    }
    return new FlagSetRoot(yield* this.#definitions.after({ added, removed }))
  }

  *#hashedFlag(id: string, definition: FlagDefinition): Incremental<HashedDefinition> {
    const name = flagName(id)
    const before = this.#definitions.find(name)
    if (before?.definition === definition) return before
    return { name, line: `${name} ${yield* hashOf(definition)}`, definition }
  }

  *#hashedSegment(segment: SegmentDefinition): Incremental<HashedDefinition> {
    const { included, excluded, ...definition } = segment
    const { id } = definition
    const before = this.#definitions.find(segmentName(id))
    if (before?.definition === segment) return before
    const change = { id, definition, included: onlyKeys(included), excluded: onlyKeys(excluded) }
    return { ...(yield* this.#changedSegment(change)), definition: segment }
  }

  *#changedSegment(change: SegmentChange): Incremental<HashedDefinition> {
    const name = segmentName(change.id)
    const before = this.#definitions.find(name)
    const included = yield* (before?.included ?? NO_KEYS).after(change.included)
    const excluded = yield* (before?.excluded ?? NO_KEYS).after(change.excluded)
    const line = `${name} ${yield* hashOf(change.definition)} ${included.hash} ${excluded.hash}`
    return { name, line, definition: undefined, included, excluded }
  }
}

/** Returns the root of the definitions of an environment. See `FlagSetRoot`. */
export function flagSetRoot(definition: FlagSetDefinition): FlagSetRoot {
  return FlagSetRoot.empty().after(definition)
}

/** Returns the same root as `flagSetRoot`, and yields about once per millisecond. */
export function flagSetRootIncrementally(definition: FlagSetDefinition): Incremental<FlagSetRoot> {
  return FlagSetRoot.empty().afterIncrementally(definition)
}

function flagName(id: string): string {
  return `flag ${id}`
}

function segmentName(id: string): string {
  return `segment ${id}`
}

function onlyKeys(keys: readonly string[]): ItemChanges<string> {
  return { added: elementsOf(keys), removed: 'all' }
}

function* hashOf(definition: unknown): Incremental<string> {
  return yield* sha256Incrementally(yield* canonicalJsonIncrementally(definition as JsonValue))
}

function textOfKey(key: string): string {
  return key
}

const NO_KEYS = BucketedHash.empty({ nameOf: textOfKey, lineOf: textOfKey })
