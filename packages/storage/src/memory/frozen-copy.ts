/** Returns a frozen copy without undefined members, as after a round trip through JSON. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T
  const members = Object.entries(value).filter(([, part]) => part !== undefined)
  const copies = members.map(([name, part]) => [name, frozenCopy(part)])
  return Object.freeze(Object.fromEntries(copies))
}
