import { FlagError } from '@ff/core'
import { asClientMessage, type ClientMessage } from '@ff/protocol/sdk'

const MESSAGES =
  'A message must be {"type":"init","sdkKey":"ff_…","context":{…}}, {"type":"init","sdkKey":"ff_…","flagSet":{}}, {"type":"context","context":{…}} or {"type":"ping"}. `id` and `since` must be whole numbers.'

/**
 * Parses the message of a client. Returns `unknown` if this release does not support the type of
 * the message. Throws `INVALID_REQUEST` if the text is not JSON or the message is not valid.
 */
export function parseMessage(text: string): ClientMessage | 'unknown' {
  const json = parseJson(text)
  const message = asClientMessage(json)
  if (message !== undefined) return message
  if (hasOtherType(json)) return 'unknown'
  throw new FlagError('INVALID_REQUEST', MESSAGES)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new FlagError('INVALID_REQUEST', 'A message must be JSON.', { cause })
  }
}

const KNOWN_TYPES: readonly unknown[] = [
  'init',
  'context',
  'ping',
] satisfies ClientMessage['type'][]

function hasOtherType(json: unknown): boolean {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, 'type')) return false
  const { type } = json as { readonly type: unknown }
  return typeof type === 'string' && !KNOWN_TYPES.includes(type)
}
