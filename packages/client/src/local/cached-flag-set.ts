import { isObject, textHash } from '@ff/protocol/snapshot'
import { isVersion } from '../json/json.ts'
import type { HeldFlagSet, WholeDefinition } from './held-flag-set.ts'

/** A stored flag set. */
export interface CachedFlagSet {
  readonly definition: WholeDefinition
  /** The time at which the server confirmed the flag set, in epoch milliseconds. */
  readonly time: number
}

/** Returns the name under which the flag set of a server and an SDK key is stored. */
export function cacheNameOf(owner: string): string {
  return `ff1:${textHash(`${owner}\nflag set`)}`
}

/**
 * Returns a text that contains a flag set. `owner` is the URL and the SDK key. The root protects
 * the definitions, and the checksum protects all other parts.
 */
export function cacheTextOf(owner: string, { flagSet, root }: HeldFlagSet, time: number): string {
  const { version, clientVersion, flags, segments } = flagSet.definition
  const about = { version, clientVersion, root: root.root, time }
  return JSON.stringify({ checksum: checksumOf(owner, about), ...about, flags, segments })
}

/**
 * Returns the flag set in a text; `undefined` if the text is damaged or belongs to another owner.
 * The caller checks the root.
 */
export function asCachedFlagSet(owner: string, text: unknown): CachedFlagSet | undefined {
  try {
    const fields: unknown = typeof text === 'string' ? JSON.parse(text) : undefined
    if (!isObject(fields)) return undefined
    const { checksum, time, ...definition } = fields
    const { version, clientVersion, root } = definition
    const isSound = checksum === checksumOf(owner, { version, clientVersion, root, time })
    if (!isSound || !isVersion(version)) return undefined
    return { definition: definition as unknown as WholeDefinition, time: Number(time) }
  } catch {
    return undefined
  }
}

function checksumOf(owner: string, about: Readonly<Record<string, unknown>>): string {
  return textHash(`${owner}\n${JSON.stringify(about)}`)
}
