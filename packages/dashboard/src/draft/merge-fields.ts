import { isSame } from './configuration.ts'

/** The sides of a merge, and of a conflict. */
export type Side = 'before' | 'theirs' | 'yours'

/** A value on the three sides of a merge. */
export interface Sides<T> {
  readonly before: T
  readonly theirs: T
  readonly yours: T
}

/** Returns the side that has the merged value. `undefined` if both sides changed it differently. */
export function mergedSide({ before, theirs, yours }: Sides<unknown>): Side | undefined {
  if (isSame(before, theirs) || isSame(theirs, yours)) return 'yours'
  return isSame(before, yours) ? 'theirs' : undefined
}

/** Returns the values of all sides by key. An absent value is `null`. */
export function sidesByKey<T>(
  sides: Sides<ReadonlyMap<string, T>>,
): readonly (readonly [string, Sides<T | null>])[] {
  const { before, theirs, yours } = sides
  const keys = mergedOrder({
    before: [...before.keys()],
    theirs: [...theirs.keys()],
    yours: [...yours.keys()],
  })
  const at = (side: ReadonlyMap<string, T>, key: string) => side.get(key) ?? null
  return keys.map((key) => {
    return [key, { before: at(before, key), theirs: at(theirs, key), yours: at(yours, key) }]
  })
}

/**
 * Returns all keys in their merged order. The last mover wins: if both sides changed the order,
 * yours is kept. Keys of only one side follow their predecessor of that side.
 */
export function mergedOrder({
  before,
  theirs,
  yours,
}: Sides<readonly string[]>): readonly string[] {
  const isYours = isReordered(before, yours) || !isReordered(before, theirs)
  const [first, second] = isYours ? [yours, theirs] : [theirs, yours]
  return withMissing(withMissing(first, second), before)
}

function isReordered(before: readonly string[], after: readonly string[]): boolean {
  const [was, is] = [new Set(before), new Set(after)]
  return !isSame(
    before.filter((key) => is.has(key)),
    after.filter((key) => was.has(key)),
  )
}

function withMissing(keys: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(keys)
  const result = [...keys]
  for (const [index, key] of others.entries()) {
    if (known.has(key)) continue
    const previous = others[index - 1]
    result.splice(previous === undefined ? 0 : result.indexOf(previous) + 1, 0, key)
    known.add(key)
  }
  return result
}
