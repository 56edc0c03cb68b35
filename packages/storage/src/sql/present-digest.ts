import { FlagError } from '@ff/core'
import { hash128Incrementally } from '@ff/core/fingerprint'
import type { LogEntry } from '../publication-log/publication-log.ts'
import type { Interruptible } from '../runtime/time-slice.ts'

/** The digest of an environment of which nothing was ever published. */
export const EMPTY_DIGEST = '0'

interface Step {
  /** The version that the digest is of afterwards. */
  readonly version: number
  /** Entries that join what makes up the present, or leave it. */
  readonly entries: readonly LogEntry[]
}

/**
 * A digest of everything that makes up an environment's present: whatever of it is altered or
 * lost on the disk, even where the database itself sees no fault, another digest comes out. Each
 * entry counts for itself, so that a change costs no more than what it changes.
 */
export function* nextDigest(digest: string, { version, entries }: Step): Interruptible<string> {
  const [sum = ''] = digest.split(' ')
  return `${yield* add(sum, entries)} ${version}`
}

/** Throws `UNAVAILABLE` unless the digest is of this present. */
export function* assertIntact(
  environmentId: string,
  digest: string,
  present: Step,
): Interruptible<void> {
  if ((yield* nextDigest(EMPTY_DIGEST, present)) === digest) return
  const message = `What is published in environment ${environmentId} is damaged: restore a backup.`
  throw new FlagError('UNAVAILABLE', message)
}

/** Adding an entry a second time takes it away. */
function* add(sum: string, entries: readonly LogEntry[]): Interruptible<string> {
  let total = BigInt(`0x${sum}`)
  for (const { kind, id, version, baseVersion, body } of entries) {
    const text = `${kind} ${id} ${version} ${baseVersion} ${body ?? ''}`
    total ^= BigInt(`0x${yield* hash128Incrementally(text)}`)
    yield
  }
  return total.toString(16)
}
