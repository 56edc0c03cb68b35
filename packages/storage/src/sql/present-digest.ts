import { FlagError } from '@ff/core'
import { hash128, hash128Incrementally } from '@ff/core/fingerprint'
import type { LogEntry } from '../publication-log/publication-log.ts'
import type { Interruptible } from '../runtime/time-slice.ts'

/** The digest of an environment without publications. */
export const EMPTY_DIGEST = '0'

interface Step {
  /** The version of the new digest. */
  readonly version: number
  /** The entries that are added to the current state or removed from it. */
  readonly entries: readonly LogEntry[]
}

/**
 * Returns the digest of the current state of an environment after a change. If an entry of the
 * state is altered or lost on disk, the digest no longer matches, even if the database detects no
 * error. The digest combines the hashes of all entries, so that its calculation requires only the
 * changed entries.
 */
export function* nextDigest(digest: string, { version, entries }: Step): Interruptible<string> {
  const [sum = ''] = digest.split(' ')
  return `${yield* add(sum, entries)} ${version}`
}

/** Throws `UNAVAILABLE` if the digest does not match the entries of the current state. */
export function* assertIntact(
  environmentId: string,
  digest: string,
  present: Step,
): Interruptible<void> {
  if ((yield* nextDigest(EMPTY_DIGEST, present)) === digest) return
  const message = `The flag set of environment ${environmentId} is damaged: restore a backup.`
  throw new FlagError('UNAVAILABLE', message)
}

const utf8 = new TextEncoder()

/** The length from which a text is hashed in several steps, in UTF-16 units. */
const LONG = 64 * 1024

/** The bytes of the text that is being hashed. A UTF-16 unit has up to three bytes in UTF-8. */
const bytes = new Uint8Array(3 * LONG)

/** Returns the hash of a text. The platform converts a short text faster than `hash128` does. */
function* hashOf(text: string): Interruptible<string> {
  if (text.length >= LONG) return yield* hash128Incrementally(text)
  return hash128(bytes.subarray(0, utf8.encodeInto(text, bytes).written))
}

/** Adds entries to the digest. Adding an entry a second time removes it. */
function* add(sum: string, entries: readonly LogEntry[]): Interruptible<string> {
  let total = BigInt(`0x${sum}`)
  for (const { kind, id, version, baseVersion, body } of entries) {
    const text = `${kind} ${id} ${version} ${baseVersion} ${body ?? ''}`
    total ^= BigInt(`0x${yield* hashOf(text)}`)
    yield
  }
  return total.toString(16)
}
