import { utf8 } from '../hashing/utf8.ts'
import { paddedWords, rotateLeft } from './words.ts'

type State = readonly [number, number, number, number, number]

const START: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]

/**
 * Returns the SHA-1 hash of a text in UTF-8, as 40 lower-case hex digits. For bucketing only, not
 * for security.
 */
export function sha1(text: string): string {
  const words = paddedWords(utf8(text), false)
  let state = START
  for (let block = 0; block < words.length; block += 16) {
    state = mixBlock(state, words.subarray(block, block + 16))
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function mixBlock(state: State, block: Uint32Array): State {
  const schedule = new Uint32Array(80)
  schedule.set(block)
  for (let at = 16; at < 80; at += 1) {
    const word = (back: number) => schedule[at - back] ?? 0
    schedule[at] = rotateLeft(word(3) ^ word(8) ^ word(14) ^ word(16), 1)
  }
  let [a, b, c, d, e] = state
  for (const [round, word] of schedule.entries()) {
    const next = rotateLeft(a, 5) + chooseOf(round, b, c, d) + e + constantOf(round) + word
    ;[a, b, c, d, e] = [next | 0, a, rotateLeft(b, 30), c, d]
  }
  return [
    (state[0] + a) | 0,
    (state[1] + b) | 0,
    (state[2] + c) | 0,
    (state[3] + d) | 0,
    (state[4] + e) | 0,
  ]
}

function chooseOf(round: number, b: number, c: number, d: number): number {
  if (round < 20) return (b & c) | (~b & d)
  if (round < 40 || round >= 60) return b ^ c ^ d
  return (b & c) | (b & d) | (c & d)
}

function constantOf(round: number): number {
  if (round < 20) return 0x5a827999
  if (round < 40) return 0x6ed9eba1
  return round < 60 ? 0x8f1bbcdc : 0xca62c1d6
}
