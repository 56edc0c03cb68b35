import { storableSighting } from '../ports/storable.ts'
import type { ContextSighting } from '../ports/storage.ts'

/** A text that all sightings of one context have in common. */
export function sightingName({ environmentId, hash }: ContextSighting): string {
  return JSON.stringify([environmentId, hash])
}

/** What is known of a context after one more sighting; of two at the same time the latter counts. */
export function sightAgain(known: ContextSighting, sighting: ContextSighting): ContextSighting {
  const isNewer = sighting.lastSeen >= known.lastSeen
  const isEarlier = sighting.firstSeen < known.firstSeen
  return {
    ...known,
    ...(isNewer ? sighting : undefined),
    id: known.id,
    firstSeen: isEarlier ? sighting.firstSeen : known.firstSeen,
    seenCount: known.seenCount + sighting.seenCount,
  }
}

/**
 * The context samples as every store keeps them, one for each context. Throws `INVALID_REQUEST` if
 * a number among them is not finite.
 */
export function mergeSightings(sightings: readonly ContextSighting[]): readonly ContextSighting[] {
  const found = new Map<string, ContextSighting>()
  for (const sighting of sightings.map(storableSighting)) {
    const name = sightingName(sighting)
    const known = found.get(name)
    found.set(name, known === undefined ? sighting : sightAgain(known, sighting))
  }
  return [...found.values()]
}
