/**
 * Orders text by code point, as databases and other languages do; JavaScript's own `<` compares
 * UTF-16 units, which puts emoji before some rarer letters. Negative, zero or positive.
 */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return rankAt(left, index) - rankAt(right, index)
  }
  return left.length - right.length
}

/** A unit of a surrogate pair stands for a code point above every other unit, and its order in it. */
function rankAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  const isInPair =
    (isHigh(unit) && isLow(text.charCodeAt(index + 1))) ||
    (isLow(unit) && isHigh(text.charCodeAt(index - 1)))
  return isInPair ? unit + 0x10000 : unit
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
