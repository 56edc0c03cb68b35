import { FlagError, type FlagSet } from '@ff/core'
import { FLAG_SET_VERSION_HEADER } from '@ff/protocol/sdk'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Exchange, Headers, Reply } from './exchange.ts'

interface FlagSetRequest {
  readonly scope: EnvironmentScope
  readonly exchange: Exchange
  readonly headers: Headers
}

/** The JSON text of each flag set in use: it is large and often requested. */
const texts = new WeakMap<FlagSet, string>()

/**
 * Answers with the definition of the flag set, as `compileFlagSet` takes it; with 304 if the caller
 * has it. Throws `FORBIDDEN` unless the key is of kind `server`.
 */
export async function flagSetReply(
  cache: FlagSetCache,
  { scope, exchange, headers }: FlagSetRequest,
): Promise<Reply> {
  if (scope.kind !== 'server') {
    throw new FlagError('FORBIDDEN', 'Only an SDK key of kind "server" may fetch the flag set.')
  }
  const { environmentId } = scope
  const flagSet = cache.find(scope) ?? (await cache.get(scope))
  // The path is the same for every environment, so that the version alone would not name one.
  const tag = `"${flagSet.version}-${environmentId}"`
  const about = {
    ...headers,
    ETag: tag,
    [FLAG_SET_VERSION_HEADER]: String(flagSet.version),
    'Cache-Control': 'private, no-cache',
  }
  if (isNamedIn(exchange.header('if-none-match'), tag)) {
    return { status: 304, headers: about, body: null }
  }
  const type = { 'Content-Type': 'application/json; charset=utf-8' }
  return { status: 200, headers: { ...about, ...type }, body: textOf(flagSet) }
}

function textOf(flagSet: FlagSet): string {
  const text = texts.get(flagSet) ?? JSON.stringify(flagSet.definition)
  texts.set(flagSet, text)
  return text
}

/** Whether `If-None-Match` names a tag; weakly, as for a GET. */
function isNamedIn(header: string | undefined, tag: string): boolean {
  const named = (header ?? '').split(',').map((text) => text.trim())
  return named.some((text) => text === '*' || text === tag || text === `W/${tag}`)
}
