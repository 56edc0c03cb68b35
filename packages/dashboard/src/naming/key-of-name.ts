const MAX_LENGTH = 64

/** Returns a key that is derived from a name; empty if the name has no Latin letter and no digit. */
export function keyOfName(name: string): string {
  const ascii = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const words = ascii.slice(0, MAX_LENGTH * 4).replace(/[^a-z0-9]+/g, '-')
  return words.slice(0, MAX_LENGTH).replace(/^-|-$/g, '')
}
