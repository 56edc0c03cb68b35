/**
 * Orders text by code point, as databases and other languages do; JavaScript's own `<` compares
 * UTF-16 units, which puts emoji before some rarer letters. Negative, zero or positive.
 */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    if (left.charCodeAt(index) === right.charCodeAt(index)) continue
    // The units that differ may be the second halves of surrogate pairs.
    return differenceAt(left, right, index - 1) || differenceAt(left, right, index)
  }
  return left.length - right.length
}

function differenceAt(left: string, right: string, index: number): number {
  return (left.codePointAt(index) ?? 0) - (right.codePointAt(index) ?? 0)
}
