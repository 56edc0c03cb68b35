import { type Incremental, runToEnd } from '../model/incremental.ts'
import { utf8 } from './utf8.ts'

/**
 * Returns the MurmurHash3 x86_128 hash of bytes, or of a text in UTF-8, as 32 lower-case hex
 * digits. A lone surrogate is encoded as U+FFFD. The seed has 32 bits. The hash is fast and evenly
 * distributed, but not cryptographic.
 */
export function hash128(source: string | Uint8Array, seed = 0): string {
  if (typeof source === 'string') hash128Into(words, source, seed)
  else murmur128Into(words, source, seed)
  return hexOf(words)
}

/** Writes the hash that `hash128` returns for a text to `hash`, as four words of 32 bits. */
export function hash128Into(hash: Int32Array, text: string, seed = 0): void {
  if (text.length > ROOM) runToEnd(longTextInto(hash, text, seed))
  else if (writeAscii(text, 0)) mix(hash, view, text.length, seed)
  else murmur128Into(hash, utf8(text), seed)
}

/**
 * Returns the same hash as `hash128`. Yields about once per millisecond until the first character
 * that is not ASCII. After that, the work is not interrupted.
 */
export function* hash128Incrementally(text: string): Incremental<string> {
  const hash = new Int32Array(4)
  if (text.length > ROOM) yield* longTextInto(hash, text, 0)
  else hash128Into(hash, text)
  return hexOf(hash)
}

/** Returns four words of 32 bits as 32 lower-case hex digits. */
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

const words = new Int32Array(4)

/** The size of the buffer that text is copied to before it is hashed, in bytes. */
const ROOM = 4096
/** The number of characters of a long text that are hashed without interruption. */
const CHARACTERS_PER_CHUNK = 32 * ROOM
const room = new Uint8Array(ROOM)
const view = new DataView(room.buffer)

/**
 * Copies the text from `start` to the buffer, up to its size. Returns `false` if the copied text is
 * not ASCII, so that its units are not its UTF-8 bytes.
 */
function writeAscii(text: string, start: number): boolean {
  const length = Math.min(ROOM, text.length - start)
  let all = 0
  for (let at = 0; at < length; at += 1) {
    const unit = text.charCodeAt(start + at)
    room[at] = unit
    all |= unit
  }
  return all < 0x80
}

function* longTextInto(hash: Int32Array, text: string, seed: number): Incremental<void> {
  hash.fill(seed)
  for (let start = 0; start < text.length; start += ROOM) {
    if (!writeAscii(text, start)) return murmur128Into(hash, utf8(text), seed)
    const length = Math.min(ROOM, text.length - start)
    mixBlocks(hash, view, length)
    if (start + ROOM >= text.length) mixRest(hash, view, length, text.length)
    else if (start % CHARACTERS_PER_CHUNK === 0) yield
  }
}

function murmur128Into(hash: Int32Array, bytes: Uint8Array, seed: number): void {
  const { buffer, byteOffset, byteLength } = bytes
  mix(hash, new DataView(buffer, byteOffset, byteLength), byteLength, seed)
}

function mix(hash: Int32Array, bytes: DataView, length: number, seed: number): void {
  hash.fill(seed)
  mixBlocks(hash, bytes, length)
  mixRest(hash, bytes, length, length)
}

/**
 * Mixes all whole blocks of four words. Each word has its own multipliers, rotations and addend.
 */
function mixBlocks(hash: Int32Array, bytes: DataView, length: number): void {
  const blocks = length - (length % 16)
  let a = hash[0] ?? 0
  let b = hash[1] ?? 0
  let c = hash[2] ?? 0
  let d = hash[3] ?? 0
  for (let at = 0; at < blocks; at += 16) {
    a = rotate(a ^ scramble(bytes.getInt32(at, true), M1, 15, M2), 19) + b
    a = (Math.imul(a, 5) + 0x561ccd1b) | 0
    b = rotate(b ^ scramble(bytes.getInt32(at + 4, true), M2, 16, M3), 17) + c
    b = (Math.imul(b, 5) + 0x0bcaa747) | 0
    c = rotate(c ^ scramble(bytes.getInt32(at + 8, true), M3, 17, M4), 15) + d
    c = (Math.imul(c, 5) + 0x96cd1c35) | 0
    d = rotate(d ^ scramble(bytes.getInt32(at + 12, true), M4, 18, M1), 13) + a
    d = (Math.imul(d, 5) + 0x32ac3b17) | 0
  }
  hash[0] = a
  hash[1] = b
  hash[2] = c
  hash[3] = d
}

/**
 * Mixes the bytes after the last whole block, and finishes the hash. `length` is the number of
 * bytes in `bytes`, and `total` is the number of all hashed bytes.
 */
function mixRest(hash: Int32Array, bytes: DataView, length: number, total: number): void {
  const blocks = length - (length % 16)
  hash[0] = (hash[0] ?? 0) ^ scramble(wordAt(bytes, blocks, length), M1, 15, M2)
  hash[1] = (hash[1] ?? 0) ^ scramble(wordAt(bytes, blocks + 4, length), M2, 16, M3)
  hash[2] = (hash[2] ?? 0) ^ scramble(wordAt(bytes, blocks + 8, length), M3, 17, M4)
  hash[3] = (hash[3] ?? 0) ^ scramble(wordAt(bytes, blocks + 12, length), M4, 18, M1)
  close(hash, total)
}

const M1 = 0x239b961b
const M2 = 0xab0e9789
const M3 = 0x38b34ae5
const M4 = 0xa1e38b93

function scramble(block: number, first: number, by: number, second: number): number {
  return Math.imul(rotate(Math.imul(block, first), by), second)
}

/** Returns four bytes as a little-endian word. Bytes past the end are zero. */
function wordAt(bytes: DataView, at: number, length: number): number {
  if (at + 4 <= length) return bytes.getInt32(at, true)
  let word = 0
  for (let each = at; each < length; each += 1) word |= bytes.getUint8(each) << (8 * (each - at))
  return word
}

function close(hash: Int32Array, length: number): void {
  for (let lane = 0; lane < 4; lane += 1) hash[lane] = (hash[lane] ?? 0) ^ length
  spread(hash)
  for (let lane = 0; lane < 4; lane += 1) hash[lane] = avalanche(hash[lane] ?? 0)
  spread(hash)
}

/** Makes each of the four words depend on all others. */
function spread(hash: Int32Array): void {
  const first = (hash[0] ?? 0) + (hash[1] ?? 0) + (hash[2] ?? 0) + (hash[3] ?? 0)
  hash[0] = first
  for (let lane = 1; lane < 4; lane += 1) hash[lane] = (hash[lane] ?? 0) + first
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
