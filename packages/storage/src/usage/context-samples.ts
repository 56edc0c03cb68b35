import { storableContextSample } from '../ports/storable.ts'
import type { ContextSample } from '../ports/storage.ts'

/** Returns text that identifies the context of a sample. */
export function contextSampleName({ environmentId, hash }: ContextSample): string {
  return JSON.stringify([environmentId, hash])
}

/**
 * Returns a context merged with another sample. `sample` takes precedence if both have the same
 * `lastSeen`.
 */
export function addContextSample(known: ContextSample, sample: ContextSample): ContextSample {
  const isNewer = sample.lastSeen >= known.lastSeen
  const isEarlier = sample.firstSeen < known.firstSeen
  return {
    ...known,
    ...(isNewer ? sample : undefined),
    id: known.id,
    firstSeen: isEarlier ? sample.firstSeen : known.firstSeen,
    seenCount: known.seenCount + sample.seenCount,
  }
}

/**
 * Returns the context samples in the form that every store saves, merged into one per context.
 * Throws `INVALID_REQUEST` if a number in a sample is not finite.
 */
export function mergeContextSamples(samples: readonly ContextSample[]): readonly ContextSample[] {
  const found = new Map<string, ContextSample>()
  for (const sample of samples.map(storableContextSample)) {
    const name = contextSampleName(sample)
    const known = found.get(name)
    found.set(name, known === undefined ? sample : addContextSample(known, sample))
  }
  return [...found.values()]
}
