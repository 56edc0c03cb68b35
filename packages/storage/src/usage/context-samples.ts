import { storableContextSample } from '../ports/storable.ts'
import type { ContextSample } from '../ports/storage.ts'

/** Returns text that identifies the context of a sample. */
export function contextSampleName({ environmentId, hash }: ContextSample): string {
  return JSON.stringify([environmentId, hash])
}

/**
 * Returns `known` merged with `sample`. If both have the same `lastSeen`, the fields of `sample`
 * take precedence.
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
 * Returns the context samples in the form that every store saves, merged into one sample per
 * context. Throws `INVALID_REQUEST` if a number in a sample is not finite.
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
