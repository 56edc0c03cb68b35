/** Returns the first four words of 32 bits as 32 lower-case hex digits. */
export function hexOf(hash: Int32Array): string {
  return wordText(hash[0]) + wordText(hash[1]) + wordText(hash[2]) + wordText(hash[3])
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function wordText(word = 0): string {
  const high = byteText(word >>> 24) + byteText((word >>> 16) & 255)
  return high + byteText((word >>> 8) & 255) + byteText(word & 255)
}

function byteText(byte: number): string {
  return HEX[byte] ?? ''
}
