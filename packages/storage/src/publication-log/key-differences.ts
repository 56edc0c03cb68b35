import type { DefinitionChange, SegmentKeysChange } from '../ports/storage.ts'
import type { Interruptible } from '../runtime/time-slice.ts'

/** A change of one of a segment's two lists of keys. */
export type KeyDifference = Pick<SegmentKeysChange, 'added' | 'removed'>

/** The cost of reading one entry, in keys. */
const ENTRY_WEIGHT = 20
const MIN_CHECKPOINT_WEIGHT = 1000

/** Returns whether the differences cost more to read than the checkpoint, which comes first. */
export function isCheckpointDue([checkpoint, ...differences]: readonly KeyDifference[]): boolean {
  let weight = 0
  for (const { added, removed } of differences) {
    weight += ENTRY_WEIGHT + added.length + removed.length
  }
  return weight > Math.max(MIN_CHECKPOINT_WEIGHT, checkpoint?.added.length ?? 0)
}

/** Parses the body of a log entry; `null` is an empty difference. */
export function toKeyDifference(body: string | null): KeyDifference {
  return body === null ? { added: [], removed: [] } : JSON.parse(body)
}

/** Returns the effective difference of the changes: keys already listed are not added. */
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

/** The keys that are processed in one step. */
const KEYS_PER_STEP = 10_000

/** Returns the keys listed after all differences, restricted to the `interesting` ones if given. */
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
