import { hash128 } from '@ff/core/fingerprint'
import type { FlagSetScope } from '../access/sdk-keys.ts'

/** The inputs of an evaluation, and a hash of its values: equal tags mean equal values. */
export interface EntityTag {
  /** Of the flag set. */
  readonly version: number
  /** How many timestamps of that version's gradual rollouts had passed. */
  readonly step: number
  /** Of the context, the environment and the kind of SDK key: each environment has a version 3. */
  readonly contextHash: string
  readonly valuesHash: string
}

/** The beginning of a body that contains only a context and no spaces. */
const CONTEXT_ALONE = Uint8Array.from('{"context":', (character) => character.charCodeAt(0))
const CLOSING_BRACE = 0x7d

/**
 * Returns a hash of one text of a context, in an environment and for a kind of SDK key: its text in
 * the body, which costs least, or that of `JSON.stringify`. Equal hashes mean equal contexts; the same
 * context has the same hash if it is written in the same way.
 */
export function contextHashOf(scope: FlagSetScope, text: string | Uint8Array): string {
  return hash128(text, seedOf(scope))
}

/** Returns the text of the context in a body that contains nothing else, without parsing it. */
export function contextTextIn(body: Uint8Array): Uint8Array | undefined {
  return isContextAlone(body) ? body.subarray(CONTEXT_ALONE.length, body.length - 1) : undefined
}

const SEEDS = { server: 0x811c9dc5, client: 0x050c5d1f } as const

/** FNV-1a. */
function seedOf({ environmentId, kind }: FlagSetScope): number {
  let seed: number = SEEDS[kind]
  for (let at = 0; at < environmentId.length; at += 1) {
    seed = Math.imul(seed ^ environmentId.charCodeAt(at), 0x01000193)
  }
  return seed
}

function isContextAlone(body: Uint8Array): boolean {
  for (let at = 0; at < CONTEXT_ALONE.length; at += 1) {
    if (body[at] !== CONTEXT_ALONE[at]) return false
  }
  return body[body.length - 1] === CLOSING_BRACE
}

const PATTERN = /^(?:W\/)?"(\d{1,15})\.(\d{1,15})-([0-9a-f]{32})-([0-9a-f]{32})"$/

/** `"version.step-contextHash-valuesHash"`, quotes included, as the `ETag` header carries it. */
export function entityTagText(tag: EntityTag): string {
  return `"${tag.version}.${tag.step}-${tag.contextHash}-${tag.valuesHash}"`
}

/** Returns the tag in a text, strong or weak; `undefined` if this server did not create it. */
export function asEntityTag(text: string): EntityTag | undefined {
  const [, version, step, contextHash, valuesHash] = PATTERN.exec(text.trim()) ?? []
  if (contextHash === undefined || valuesHash === undefined) return undefined
  return { version: Number(version), step: Number(step), contextHash, valuesHash }
}

/** Returns every tag of this server in an `If-None-Match` header. */
export function entityTagsIn(header: string): readonly EntityTag[] {
  const only = asEntityTag(header)
  if (only !== undefined) return [only]
  return header.split(',').flatMap((text) => asEntityTag(text) ?? [])
}
