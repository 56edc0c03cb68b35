import { utf8 } from './utf8.ts'

/**
 * A fingerprint of text in 32 lower-case hex digits: MurmurHash3 x86_128, seed 0, of its UTF-8
 * bytes (a lone surrogate counts as U+FFFD). Fast and even, but not a defence against forgery.
 */
export function hash128(text: string): string {
  return murmur128(utf8(text), 0)
}

const MULTIPLIERS = [0x239b961b, 0xab0e9789, 0x38b34ae5, 0xa1e38b93] as const
const BLOCK_ROTATIONS = [15, 16, 17, 18] as const
const STATE_ROTATIONS = [19, 17, 15, 13] as const
const ADDENDS = [0x561ccd1b, 0x0bcaa747, 0x96cd1c35, 0x32ac3b17] as const

/** MurmurHash3 x86_128 of bytes; its four words, in order, as hex. */
export function murmur128(bytes: Uint8Array, seed: number): string {
  const state = new Int32Array(4).fill(seed)
  const blocks = bytes.length - (bytes.length % 16)
  for (let start = 0; start < blocks; start += 16) mixBlock(state, bytes, start)
  mixTail(state, bytes, blocks)
  return finish(state, bytes.length)
}

function mixBlock(state: Int32Array, bytes: Uint8Array, start: number): void {
  for (const lane of LANES) {
    const mixed = word(state, lane) ^ scramble(wordAt(bytes, start + lane * 4), lane)
    const turned = rotate(mixed, STATE_ROTATIONS[lane]) + word(state, (lane + 1) % 4)
    state[lane] = Math.imul(turned, 5) + ADDENDS[lane]
  }
}

function mixTail(state: Int32Array, bytes: Uint8Array, start: number): void {
  for (const lane of LANES) {
    state[lane] = word(state, lane) ^ scramble(wordAt(bytes, start + lane * 4), lane)
  }
}

function finish(state: Int32Array, length: number): string {
  for (const lane of LANES) state[lane] = word(state, lane) ^ length
  spread(state)
  for (const lane of LANES) state[lane] = avalanche(word(state, lane))
  spread(state)
  return Array.from(state, (lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('')
}

/** Lets every lane depend on all the others. */
function spread(state: Int32Array): void {
  const first = word(state, 0) + word(state, 1) + word(state, 2) + word(state, 3)
  state[0] = first
  for (let lane = 1; lane < 4; lane += 1) state[lane] = word(state, lane) + first
}

const LANES = [0, 1, 2, 3] as const
type Lane = (typeof LANES)[number]

function scramble(block: number, lane: Lane): number {
  const next = MULTIPLIERS[((lane + 1) % 4) as Lane]
  return Math.imul(rotate(Math.imul(block, MULTIPLIERS[lane]), BLOCK_ROTATIONS[lane]), next)
}

function avalanche(lane: number): number {
  let hash = lane
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}

function word(state: Int32Array, index: number): number {
  return state[index] ?? 0
}

/** Four bytes, lowest first; bytes past the end are zero. */
function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  )
}
