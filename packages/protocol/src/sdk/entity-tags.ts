/**
 * A pattern of what proxies append to an entity tag when they compress a response, such as `-gzip`
 * (Apache, Caddy), `;br` or `:dt` and a text. It stands before the closing quote.
 */
export const ENTITY_TAG_SUFFIX = '(?:[-;:+][^"]*)?'

const SUFFIX_AND_QUOTE = new RegExp(`^${ENTITY_TAG_SUFFIX}"$`)

/**
 * Returns `true` if an `If-None-Match` header contains the entity tag or `*`. Weak and strong tags
 * with the same text are equal, and the suffix of a proxy is ignored, because a proxy that
 * compresses a response changes its tag in these ways.
 */
export function isTagNamedIn(header: string | null | undefined, tag: string): boolean {
  const start = opaqueTag(tag).slice(0, -1)
  return (header ?? '').split(',').some((text) => {
    const named = opaqueTag(text.trim())
    if (named === '*') return true
    return named.startsWith(start) && SUFFIX_AND_QUOTE.test(named.slice(start.length))
  })
}

/** Returns a tag without the mark of a weak tag. */
function opaqueTag(tag: string): string {
  return tag.replace(/^W\//, '')
}
