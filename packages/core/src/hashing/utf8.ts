/** Returns the UTF-8 bytes of a text. A lone surrogate is encoded as U+FFFD. */
export function utf8(text: string): Uint8Array {
  // A UTF-16 unit never takes more than three bytes.
  const bytes = new Uint8Array(text.length * 3)
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) {
      bytes[length] = unit
      length += 1
      continue
    }
    const point = text.codePointAt(at) ?? 0
    if (point > 0xffff) at += 1
    length = writePoint(bytes, length, point >= 0xd800 && point <= 0xdfff ? 0xfffd : point)
  }
  return bytes.subarray(0, length)
}

/** Writes one code point that is not ASCII, and returns the position after it. */
function writePoint(bytes: Uint8Array, at: number, point: number): number {
  const continuations = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3
  const lead = (0xf00 >> (continuations + 1)) & 0xf0
  bytes[at] = lead | (point >> (6 * continuations))
  for (let rest = 1; rest <= continuations; rest += 1) {
    bytes[at + rest] = 0x80 | ((point >> (6 * (continuations - rest))) & 0x3f)
  }
  return at + 1 + continuations
}

/** Returns the number of UTF-8 bytes of a text. A lone surrogate is encoded as U+FFFD. */
export function utf8Length(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    // Each half of a surrogate pair takes two bytes, a lone surrogate three.
    if (unit >= 0x80) length += unit < 0x800 || isPaired(text, at, unit) ? 1 : 2
  }
  return length
}

function isPaired(text: string, at: number, unit: number): boolean {
  const isHigh = (half: number) => half >= 0xd800 && half <= 0xdbff
  const isLow = (half: number) => half >= 0xdc00 && half <= 0xdfff
  if (isHigh(unit)) return isLow(text.charCodeAt(at + 1))
  return isLow(unit) && isHigh(text.charCodeAt(at - 1))
}
