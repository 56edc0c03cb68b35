import { type Incremental, runToEnd } from '../model/incremental.ts'
import { hexOf } from './hex.ts'
import { mix, mixBlocks, mixRest, murmur128Into } from './murmur128.ts'
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
