import { hash128 } from '@ff/core/fingerprint'
import { ENTITY_TAG_SUFFIX } from '@ff/protocol/sdk'
import type { FlagSetScope } from '../access/scope.ts'

/** Identifies the inputs of an evaluation and its values. Equal tags mean equal values. */
export interface EntityTag {
  /** The version of the flag set. */
  readonly version: number
  /**
   * The number of timestamps in the gradual rollouts of this version that had passed at the
   * evaluation.
   */
  readonly step: number
  /**
   * The hash of the context, the environment and the kind of SDK key. Without the environment, tags
   * of different environments with the same version could be equal.
   */
  readonly contextHash: string
  /** The hash of the values. */
  readonly valuesHash: string
}

/** The beginning of a body that contains only a context, without spaces before the context. */
const CONTEXT_ALONE = Uint8Array.from('{"context":', (character) => character.charCodeAt(0))
const CLOSING_BRACE = 0x7d

/**
 * Returns the hash of a context in an environment, for a kind of SDK key. `text` is the context as
 * JSON: its bytes from the request body, which is faster, or the result of `JSON.stringify`. Equal
 * hashes mean equal contexts. Equal contexts have the same hash only if their JSON is the same.
 */
export function contextHashOf(scope: FlagSetScope, text: string | Uint8Array): string {
  return hash128(text, seedOf(scope))
}

/**
 * Returns the JSON of the context in a body, without parsing the body. Returns `undefined` if the
 * body may contain more than a context.
 */
export function contextTextIn(body: Uint8Array): Uint8Array | undefined {
  return isContextAlone(body) ? body.subarray(CONTEXT_ALONE.length, body.length - 1) : undefined
}

const SEEDS = { server: 0x811c9dc5, client: 0x050c5d1f } as const

/** Returns the FNV-1a hash of the scope. */
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

const PATTERN = new RegExp(
  `^(?:W/)?"(\\d{1,15})\\.(\\d{1,15})-([0-9a-f]{32})-([0-9a-f]{32})${ENTITY_TAG_SUFFIX}"$`,
)

/**
 * Returns the value of the `ETag` header, including quotes:
 * `"version.step-contextHash-valuesHash"`.
 */
export function entityTagText(tag: EntityTag): string {
  return `"${tag.version}.${tag.step}-${tag.contextHash}-${tag.valuesHash}"`
}

/**
 * Returns the tag in a text, strong or weak, also with the suffix of a proxy; `undefined` if the
 * text does not have the form of this server's tags.
 */
export function asEntityTag(text: string): EntityTag | undefined {
  const [, version, step, contextHash, valuesHash] = PATTERN.exec(text.trim()) ?? []
  if (contextHash === undefined || valuesHash === undefined) return undefined
  return { version: Number(version), step: Number(step), contextHash, valuesHash }
}

/** Returns all tags in an `If-None-Match` header that have the form of this server's tags. */
export function entityTagsIn(header: string): readonly EntityTag[] {
  const only = asEntityTag(header)
  if (only !== undefined) return [only]
  return header.split(',').flatMap((text) => asEntityTag(text) ?? [])
}
