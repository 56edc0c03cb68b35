import { FlagError } from '@ff/core'
import { managementErrorReply } from './error-reply.ts'
import { discardBody, type Exchange, type Headers, type Reply } from './exchange.ts'

/** Headers that prevent caching, and prevent browsers from guessing another content type. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const

/**
 * Creates the reply at a path that is not an SDK path from the result of `answer`. Errors are sent
 * in the management envelope, replies to HEAD have no body, and caches must not store the reply.
 * `more` contains additional headers; it is read after `answer` has finished. Never rejects.
 */
export async function privateReply(
  exchange: Exchange,
  answer: () => Reply | Promise<Reply>,
  more: Headers = {},
): Promise<Reply> {
  const reply = await Promise.resolve()
    .then(answer)
    .catch((error: unknown) => managementErrorReply(error))
  const headers = { ...HEADERS, ...more, ...reply.headers }
  const body = exchange.method === 'HEAD' ? await headBodyOf(reply) : reply.body
  return { ...reply, headers, body }
}

/**
 * Returns the body of the reply to a HEAD request. Bindings send its length, but not the body.
 * Chunks are discarded, because they would be created only for their length.
 */
async function headBodyOf(reply: Reply): Promise<Reply['body']> {
  const { body } = reply
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  await discardBody(reply)
  return null
}

/** Returns the method of a request. HEAD counts as GET. */
export function methodOf({ method }: Exchange): string {
  return method === 'HEAD' ? 'GET' : method
}

/** Returns the reply to a GET or HEAD request. Throws `METHOD_NOT_ALLOWED` for other methods. */
export function answerGet(
  exchange: Exchange,
  reply: () => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  if (methodOf(exchange) !== 'GET') throw methodNotAllowed(['GET'])
  return reply()
}

/**
 * Creates the `METHOD_NOT_ALLOWED` error for a path that accepts only these methods. HEAD is
 * accepted with GET.
 */
export function methodNotAllowed(methods: readonly string[]): FlagError {
  const allow = methods
    .flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : method))
    .join(', ')
  return new FlagError('METHOD_NOT_ALLOWED', `Use ${allow} for this path.`, { details: { allow } })
}
