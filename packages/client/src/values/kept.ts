/** Returns the object that was last kept with a name if its fields are the same, else `next`. */
export type Keep = <State extends object>(name: unknown, next: State) => State

type Fields = Readonly<Record<string, unknown>>

/** Programs can read any number of flags that do not exist. */
const MAX_NAMES = 10_000

/**
 * Returns a function by which an object keeps its identity until one of its fields changes, for
 * callers that compare states by identity.
 */
export function createKeep(): Keep {
  const kept = new Map<unknown, Fields>()
  const keep = (name: unknown, next: Fields) => {
    const known = kept.get(name)
    const isSame = (field: string) => Object.is(known?.[field], next[field])
    if (known && Object.keys({ ...known, ...next }).every(isSame)) return known
    if (kept.size === MAX_NAMES) kept.clear()
    kept.set(name, next)
    return next
  }
  // The compiler cannot know that the objects of one name have the same type.
  return keep as Keep
}
