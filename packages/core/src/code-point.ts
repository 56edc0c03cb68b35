/**
 * Orders text by code point, as databases and other languages do; JavaScript's own `<` compares
 * UTF-16 units, which puts emoji before some rarer letters. Negative, zero or positive.
 */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return rank(a) - rank(b)
  }
  return left.length - right.length
}

/** Surrogates stand for code points above every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
