/**
 * Returns the padded message that MD5 and SHA-1 process: the bytes, a one bit, zeros, and the
 * number of bits. The message consists of 32-bit words in blocks of 16.
 */
export function paddedWords(bytes: Uint8Array, isLittleEndian: boolean): Uint32Array {
  const words = new Uint32Array(16 * (1 + Math.floor((bytes.length + 8) / 64)))
  const put = (at: number, byte: number) => {
    const shift = 8 * (isLittleEndian ? at % 4 : 3 - (at % 4))
    words[at >>> 2] = (words[at >>> 2] ?? 0) | (byte << shift)
  }
  for (const [at, byte] of bytes.entries()) put(at, byte)
  put(bytes.length, 0x80)
  const [high, low] = [Math.floor(bytes.length / 2 ** 29), bytes.length << 3]
  words.set(isLittleEndian ? [low, high] : [high, low], words.length - 2)
  return words
}

/** Rotates a word of 32 bits to the left. */
export function rotateLeft(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by))
}
