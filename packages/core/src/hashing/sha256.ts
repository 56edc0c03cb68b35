import { type Incremental, runToEnd } from '../model/incremental.ts'
import { hexOf } from './hex.ts'
import { utf8 } from './utf8.ts'

/**
 * Returns the SHA-256 hash of a text in UTF-8, as 64 lower-case hex digits. A lone surrogate is
 * encoded as U+FFFD.
 */
export function sha256(text: string): string {
  return runToEnd(sha256Incrementally(text))
}

/** Returns the same hash as `sha256`, and yields about once per millisecond. */
export function* sha256Incrementally(text: string): Incremental<string> {
  const message = paddedMessage(utf8(text))
  const state = Int32Array.from(START)
  const schedule = new Int32Array(CONSTANTS.length)
  for (let at = 0; at < message.byteLength; at += BLOCK_BYTES) {
    if (at > 0 && at % BYTES_PER_CHUNK === 0) yield
    fillSchedule(schedule, message, at)
    mixBlock(state, schedule)
  }
  return hexOf(state) + hexOf(state.subarray(4))
}

const BLOCK_BYTES = 64
/** The number of bytes that are hashed without interruption. */
const BYTES_PER_CHUNK = 512 * BLOCK_BYTES

/** Returns the bytes, a one bit, zeros, and the number of bits, in whole blocks. */
function paddedMessage(bytes: Uint8Array): DataView {
  const padded = new Uint8Array(BLOCK_BYTES * Math.ceil((bytes.length + 9) / BLOCK_BYTES))
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - 8, 8n * BigInt(bytes.length))
  return view
}

function fillSchedule(schedule: Int32Array, message: DataView, start: number): void {
  for (let at = 0; at < 16; at += 1) schedule[at] = message.getInt32(start + 4 * at)
  for (let at = 16; at < schedule.length; at += 1) {
    const early = schedule[at - 15] ?? 0
    const late = schedule[at - 2] ?? 0
    const mixedEarly = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
    const mixedLate = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    const sum = ((schedule[at - 16] ?? 0) + (schedule[at - 7] ?? 0)) | 0
    schedule[at] = (sum + mixedEarly + mixedLate) | 0
  }
}

function mixBlock(state: Int32Array, schedule: Int32Array): void {
  let a = state[0] ?? 0
  let b = state[1] ?? 0
  let c = state[2] ?? 0
  let d = state[3] ?? 0
  let e = state[4] ?? 0
  let f = state[5] ?? 0
  let g = state[6] ?? 0
  let h = state[7] ?? 0
  for (let round = 0; round < schedule.length; round += 1) {
    const choice = (e & f) ^ (~e & g)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const word = ((schedule[round] ?? 0) + (CONSTANTS[round] ?? 0)) | 0
    const first = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + word) | 0
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  state[0] = (state[0] ?? 0) + a
  state[1] = (state[1] ?? 0) + b
  state[2] = (state[2] ?? 0) + c
  state[3] = (state[3] ?? 0) + d
  state[4] = (state[4] ?? 0) + e
  state[5] = (state[5] ?? 0) + f
  state[6] = (state[6] ?? 0) + g
  state[7] = (state[7] ?? 0) + h
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

/**
 * Returns the first 32 bits of the fractional part of a root. An error of the root below 2^-40 does
 * not change the bits of any root that SHA-256 uses, so they are the same on every platform.
 */
function fractionBits(root: number): number {
  return ((root % 1) * 2 ** 32) | 0
}

function firstPrimes(count: number): readonly number[] {
  const primes: number[] = []
  for (let number = 2; primes.length < count; number += 1) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  }
  return primes
}

const START = firstPrimes(8).map((prime) => fractionBits(Math.sqrt(prime)))
const CONSTANTS = Int32Array.from(firstPrimes(64), (prime) => fractionBits(Math.cbrt(prime)))
