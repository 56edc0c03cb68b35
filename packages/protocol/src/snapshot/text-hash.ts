/** Odd factors, which mix well by multiplication. */
const FACTORS = [1, 3, 5, 7].map((lane) => Math.imul(lane, 597399067))

/**
 * Returns a 128-bit hash of a text, for names and checksums. It has four lanes of 32 bits, which
 * are multiplied and shifted as in MurmurHash. It does not protect against intended collisions.
 */
export function textHash(text: string): string {
  let lanes = FACTORS
  for (let at = 0; at < text.length; at += 1) {
    lanes = lanes.map((state, lane) => {
      const mixed = Math.imul(state ^ text.charCodeAt(at), FACTORS[lane] ?? 1)
      return mixed ^ (mixed >>> 15)
    })
  }
  return lanes.join('.')
}
