/** Returns the value of a key. If the key is missing, inserts the result of `create` first. */
export function getOrInsert<Key, Value extends object | string>(
  map: Pick<Map<Key, Value>, 'get'> & { set(key: Key, value: Value): unknown },
  key: Key,
  create: () => Value,
): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}
