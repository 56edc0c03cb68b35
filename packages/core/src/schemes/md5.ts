import { utf8 } from '../hashing/utf8.ts'
import { paddedWords, rotateLeft } from './words.ts'

type State = readonly [number, number, number, number]

const START: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]

const ROTATIONS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const

/**
 * Returns the MD5 hash of a text in UTF-8, as 32 lower-case hex digits. For bucketing only, not for
 * security.
 */
export function md5(text: string): string {
  const words = paddedWords(utf8(text), true)
  let state = START
  for (let block = 0; block < words.length; block += 16) {
    state = mixBlock(state, words.subarray(block, block + 16))
  }
  return state.map(hexOf).join('')
}

function mixBlock(state: State, block: Uint32Array): State {
  let [a, b, c, d] = state
  for (let round = 0; round < 64; round += 1) {
    const word = block[wordIndex(round)] ?? 0
    const mixed = (a + chooseOf(round, b, c, d) + constantOf(round) + word) | 0
    const by = ROTATIONS[(round >>> 4) as 0 | 1 | 2 | 3][(round & 3) as 0 | 1 | 2 | 3]
    ;[a, b, c, d] = [d, (b + rotateLeft(mixed, by)) | 0, b, c]
  }
  return [(state[0] + a) | 0, (state[1] + b) | 0, (state[2] + c) | 0, (state[3] + d) | 0]
}

function chooseOf(round: number, b: number, c: number, d: number): number {
  if (round < 16) return (b & c) | (~b & d)
  if (round < 32) return (d & b) | (~d & c)
  return round < 48 ? b ^ c ^ d : c ^ (b | ~d)
}

function wordIndex(round: number): number {
  if (round < 16) return round
  if (round < 32) return (5 * round + 1) % 16
  return (round < 48 ? 3 * round + 5 : 7 * round) % 16
}

/** The constants of RFC 1321: `floor(2^32 * abs(sin(i)))` for `i` from 1 to 64. */
const CONSTANTS: readonly number[] = [
  0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
  0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
  0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
  0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
  0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
  0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
  0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
  0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
]

function constantOf(round: number): number {
  return CONSTANTS[round] ?? 0
}

/** Returns a word as 8 hex digits, least significant byte first. */
function hexOf(word: number): string {
  const bytes = [0, 8, 16, 24].map((shift) => (word >>> shift) & 0xff)
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
