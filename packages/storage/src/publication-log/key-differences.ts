import type { DefinitionChange, SegmentKeysChange } from '../ports/storage.ts'
import type { Interruptible } from '../runtime/time-slice.ts'

/** The keys that a change adds to and removes from one list of a segment. */
export type KeyDifference = Pick<SegmentKeysChange, 'added' | 'removed'>

/** The cost of reading a log entry, expressed as a number of keys. */
const ENTRY_WEIGHT = 20
const MIN_CHECKPOINT_WEIGHT = 1000

/**
 * Returns `true` if the differences cost more to read than the checkpoint, which is the first
 * element of the array.
 */
export function isCheckpointDue([checkpoint, ...differences]: readonly KeyDifference[]): boolean {
  let weight = 0
  for (const { added, removed } of differences) {
    weight += ENTRY_WEIGHT + added.length + removed.length
  }
  return weight > Math.max(MIN_CHECKPOINT_WEIGHT, checkpoint?.added.length ?? 0)
}

/** Parses the body of a log entry. Returns an empty difference for `null`. */
export function toKeyDifference(body: string | null): KeyDifference {
  return body === null ? { added: [], removed: [] } : JSON.parse(body)
}

/**
 * Returns the keys that `changes` add to and remove from a list. `known` contains all earlier
 * differences of the list. Changes without effect, such as adding a listed key, are omitted.
 */
export function* effectOf(
  changes: readonly DefinitionChange[],
  known: readonly KeyDifference[],
): Interruptible<KeyDifference> {
  const differences = changes.filter((change) => change.kind === 'segmentKeys')
  const touched = new Set(differences.flatMap(({ added, removed }) => [...added, ...removed]))
  const before = yield* foldKeys(known, touched)
  const after = new Set(before)
  for (const difference of differences) apply(difference, after)
  return {
    added: [...after].filter((key) => !before.has(key)),
    removed: [...before].filter((key) => !after.has(key)),
  }
}

function apply(difference: KeyDifference, keys: Set<string>): void {
  for (const key of difference.removed) keys.delete(key)
  for (const key of difference.added) keys.add(key)
}

/** The number of keys that one step processes. */
const KEYS_PER_STEP = 10_000

/**
 * Returns the listed keys after all differences. If `interesting` is present, other keys are
 * omitted.
 */
export function* foldKeys(
  differences: readonly KeyDifference[],
  interesting?: ReadonlySet<string>,
): Interruptible<Set<string>> {
  const keys = new Set<string>()
  for (const { added, removed } of differences) {
    for (const key of removed) keys.delete(key)
    for (const [index, key] of added.entries()) {
      if (index % KEYS_PER_STEP === 0) yield
      if (interesting === undefined || interesting.has(key)) keys.add(key)
    }
  }
  return keys
}
