/**
 * Returns `true` if an `If-None-Match` header contains the entity tag or `*`. Weak and strong tags
 * with the same text are equal, because a proxy that compresses a response makes its tag weak.
 */
export function isTagNamedIn(header: string | undefined, tag: string): boolean {
  const named = (header ?? '').split(',').map((text) => text.trim())
  return named.some((text) => text === '*' || withoutWeakness(text) === withoutWeakness(tag))
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '')
}
