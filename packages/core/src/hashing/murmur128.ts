/** Writes the MurmurHash3 x86_128 hash of bytes to `hash`, as four words of 32 bits. */
export function murmur128Into(hash: Int32Array, bytes: Uint8Array, seed = 0): void {
  const { buffer, byteOffset, byteLength } = bytes
  mix(hash, new DataView(buffer, byteOffset, byteLength), byteLength, seed)
}

/** Writes the hash of the first `length` bytes to `hash`. */
export function mix(hash: Int32Array, bytes: DataView, length: number, seed: number): void {
  hash.fill(seed)
  mixBlocks(hash, bytes, length)
  mixRest(hash, bytes, length, length)
}

/**
 * Mixes all whole blocks of four words. Each word has its own multipliers, rotations and addend.
 */
export function mixBlocks(hash: Int32Array, bytes: DataView, length: number): void {
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
export function mixRest(hash: Int32Array, bytes: DataView, length: number, total: number): void {
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
