/** Smaller units are code points of their own. */
const FIRST_SURROGATE = 0xd800

/**
 * Orders text by code point, as databases and other languages do; JavaScript's own `<` compares
 * UTF-16 units, which puts emoji before some rarer letters. Negative, zero or positive.
 */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a === b) continue
    if (a < FIRST_SURROGATE && b < FIRST_SURROGATE) return a - b
    // The units that differ may be the second halves of surrogate pairs.
    return differenceAt(left, right, index - 1) || differenceAt(left, right, index)
  }
  return left.length - right.length
}

function differenceAt(left: string, right: string, index: number): number {
  return (left.codePointAt(index) ?? 0) - (right.codePointAt(index) ?? 0)
}
