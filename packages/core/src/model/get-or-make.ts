/** The value of a key; made and kept if there is none. */
export function getOrMake<Key, Value>(
  map: Pick<Map<Key, Value>, 'get'> & { set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
