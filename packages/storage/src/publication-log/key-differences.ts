import type { KeyChanges } from '@ff/core/changes'
import type { DefinitionChange } from '../ports/publications.ts'
import type { Interruptible } from '../runtime/time-slice.ts'

/** The cost of reading a log entry, expressed as a number of keys. */
const ENTRY_WEIGHT = 20
const MIN_CHECKPOINT_WEIGHT = 1000

/**
 * Returns `true` if the differences cost more to read than the checkpoint, which is the first
 * element of the array.
 */
export function isCheckpointDue([checkpoint, ...differences]: readonly KeyChanges[]): boolean {
  let weight = 0
  for (const { added, removed } of differences) {
    weight += ENTRY_WEIGHT + added.length + removed.length
  }
  return weight > Math.max(MIN_CHECKPOINT_WEIGHT, checkpoint?.added.length ?? 0)
}

/** Parses the body of a log entry. Returns no changes for `null`. */
export function toKeyChanges(body: string | null): KeyChanges {
  return body === null ? { added: [], removed: [] } : JSON.parse(body)
}

/**
 * Returns the keys that `changes` add to and remove from a list. `known` contains all earlier
 * differences of the list. Changes without effect, such as adding a listed key, are omitted.
 */
export function* effectOf(
  changes: readonly DefinitionChange[],
  known: readonly KeyChanges[],
): Interruptible<KeyChanges> {
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

function apply(difference: KeyChanges, keys: Set<string>): void {
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
  differences: readonly KeyChanges[],
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

/**
 * Returns the keys that consecutive differences add and remove in total. Each difference must
 * contain only keys with an effect: added keys that were not listed, and removed keys that were.
 */
export function* sumOf(differences: readonly KeyChanges[]): Interruptible<KeyChanges> {
  const added = new Set<string>()
  const removed = new Set<string>()
  for (const difference of differences) {
    yield* addOrCancel(difference.removed, removed, added)
    yield* addOrCancel(difference.added, added, removed)
  }
  return { added: [...added], removed: [...removed] }
}

/** Removes changed keys from `opposite`, and adds those that `opposite` does not contain to `sum`. */
function* addOrCancel(
  changed: readonly string[],
  sum: Set<string>,
  opposite: Set<string>,
): Interruptible<void> {
  for (const [index, key] of changed.entries()) {
    if (index % KEYS_PER_STEP === 0) yield
    if (!opposite.delete(key)) sum.add(key)
  }
}
