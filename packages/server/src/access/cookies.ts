/**
 * The value of the one cookie of this name in a `Cookie` header. Of two one was put there by
 * somebody else, and nobody can tell which: then `undefined`, as for none.
 */
export function findCookie(header: string | undefined, name: string): string | undefined {
  const pairs = header?.split(';').map((pair) => pair.trim()) ?? []
  const found = pairs.filter((pair) => pair.startsWith(`${name}=`))
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined
}
