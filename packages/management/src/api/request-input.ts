import { type Endpoint, type EndpointName, noBody } from '@ff/protocol/management'
import { ENTITY_TAG_SUFFIX, MAX_BODY_BYTES } from '@ff/protocol/sdk'
import { assertJson, type Exchange, hashSecret } from '@ff/server/plane'
import type { Actor } from '../access/actors.ts'
import { acceptsComment, COMMENT_HEADER, decodeComment } from '../requests/comments.ts'
import type { IdempotentRequest } from '../requests/idempotency.ts'
import type { AnyInput } from '../requests/input.ts'
import { decodeWire, invalid } from '../requests/validation.ts'

/** The maximum nesting depth of the objects and arrays of a body. */
const DEEPEST = 32
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
const HEADER = COMMENT_HEADER.toLowerCase()
const REVISION_TAG = new RegExp(`^(?:W/)?"(\\d{1,15})${ENTITY_TAG_SUFFIX}"$`)

/**
 * Returns the input of an endpoint, decoded by its codecs. Throws `INVALID_REQUEST` if a codec
 * rejects a part of the request.
 */
export async function readInput(
  endpoint: Endpoint,
  exchange: Exchange,
  params: Readonly<Record<string, string>>,
): Promise<AnyInput> {
  return {
    params: decodeWire(endpoint.params, params),
    query: decodeWire(endpoint.query, parseQuery(exchange.query)),
    expectedRevision: parseIfMatch(exchange.header('if-match')),
    comment: acceptsComment(endpoint) ? decodeComment(exchange.header(HEADER)) : undefined,
    lastEventId: endpoint.events && exchange.header('last-event-id'),
    body:
      endpoint.body === noBody
        ? undefined
        : decodeWire(endpoint.body, await readBody(endpoint, exchange)),
  }
}

/**
 * Returns the identity of a request with an `Idempotency-Key`, which also depends on the records
 * that the path names. Throws `INVALID_REQUEST` for a malformed key.
 */
export async function idempotentRequestOf(
  key: string,
  endpoint: EndpointName,
  { actor, input }: { readonly actor: Actor; readonly input: AnyInput },
): Promise<IdempotentRequest> {
  if (!IDEMPOTENCY_KEY.test(key)) {
    throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
  }
  const bodyHash = await hashSecret(JSON.stringify([input.body]))
  return { actorId: actor.id, endpoint, key, bodyHash }
}

/** Returns the entity tag of a revision, as it appears in `ETag` and `If-Match`. */
export function revisionTag(revision: number): string {
  return `"${revision}"`
}

function parseIfMatch(tag: string | undefined): number | undefined {
  if (tag === undefined || tag === '*') return undefined
  const revision = REVISION_TAG.exec(tag.trim())?.[1]
  if (revision === undefined)
    throw invalid(
      'If-Match',
      'must be the ETag of an earlier response with its quotes, such as "3"',
    )
  return Number(revision)
}

function parseQuery(text: string): Readonly<Record<string, string>> {
  const query = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (query.has(name)) throw invalid(name, 'must not occur more than once')
    query.set(name, value)
  }
  return Object.fromEntries(query)
}

async function readBody(endpoint: Endpoint, exchange: Exchange): Promise<unknown> {
  if (endpoint.rawBody) return readText(endpoint, exchange)
  if (!exchange.hasBody) throw invalid('', 'A JSON body is required.')
  assertJson(exchange.header('content-type'))
  const body = (await exchange.json(endpoint.maxBodyBytes ?? MAX_BODY_BYTES)).parse()
  assertPlain(body, DEEPEST)
  return body
}

/** Throws `INVALID_REQUEST` for a body that is not UTF-8. */
async function readText({ maxBodyBytes }: Endpoint, exchange: Exchange): Promise<string> {
  const bytes = await exchange.bytes(maxBodyBytes ?? MAX_BODY_BYTES)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalid('', 'The request body is not UTF-8 text.')
  }
}

/**
 * Throws `INVALID_REQUEST` for a body that is nested too deeply, because codecs are recursive, or
 * that contains a member `__proto__`, because some codecs would ignore it.
 */
function assertPlain(value: unknown, depthLeft: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depthLeft === 0)
    throw invalid('', `The body must not be nested deeper than ${DEEPEST} levels.`)
  if (Object.hasOwn(value, '__proto__')) throw invalid('__proto__', 'is not a known field')
  for (const member of Object.values(value)) assertPlain(member, depthLeft - 1)
}
