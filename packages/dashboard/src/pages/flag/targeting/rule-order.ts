/** Where an item is dropped: before or after another item. */
export interface DropPlace {
  readonly key: string
  readonly position: 'before' | 'after' | 'on'
}

/** Returns the index of a dropped item among the others. */
export function dropIndex(
  ids: readonly string[],
  id: string,
  { key, position }: DropPlace,
): number {
  const others = ids.filter((each) => each !== id)
  const at = others.indexOf(key)
  if (at === -1) return ids.indexOf(id)
  return position === 'after' ? at + 1 : at
}

/** Returns the index of an item after a move by one place. `undefined` if it cannot move further. */
export function shiftedIndex(ids: readonly string[], id: string, by: 1 | -1): number | undefined {
  const index = ids.indexOf(id) + by
  return index < 0 || index >= ids.length ? undefined : index
}
