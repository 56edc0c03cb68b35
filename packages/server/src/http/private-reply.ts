import { FlagError } from '@ff/core'
import type { Logger } from '../runtime/logger.ts'
import { managementErrorReply } from './error-reply.ts'
import { discardBody, type Exchange, type Headers, type Reply } from './exchange.ts'

/** Keeps a reply out of caches, and browsers from treating it as a page. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const

/**
 * Completes the reply of a path that is not an SDK path: errors become the management envelope,
 * replies to HEAD lose their body, and caches keep nothing. `more` is read when the
 * reply is complete. Never rejects.
 */
export async function privateReply(
  exchange: Exchange,
  answer: () => Reply | Promise<Reply>,
  { logger, more = {} }: { readonly logger: Logger; readonly more?: Headers },
): Promise<Reply> {
  const reply = await Promise.resolve()
    .then(answer)
    .catch((error: unknown) => managementErrorReply(error, logger))
  const headers = { ...HEADERS, ...more, ...reply.headers }
  const body = exchange.method === 'HEAD' ? await headBodyOf(reply) : reply.body
  return { ...reply, headers, body }
}

/** The bindings leave a body out but send its length; pieces would be made for nothing. */
async function headBodyOf(reply: Reply): Promise<Reply['body']> {
  const { body } = reply
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  await discardBody(reply)
  return null
}

/** Returns the method of a request; HEAD counts as GET. */
export function methodOf({ method }: Exchange): string {
  return method === 'HEAD' ? 'GET' : method
}

/** Answers GET and HEAD. Throws `METHOD_NOT_ALLOWED` for other methods. */
export function answerGet(
  exchange: Exchange,
  reply: () => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  if (methodOf(exchange) !== 'GET') throw methodNotAllowed(['GET'])
  return reply()
}

/** Returns the refusal of a method at a path that takes only these methods. */
export function methodNotAllowed(methods: readonly string[]): FlagError {
  const allow = methods
    .flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : method))
    .join(', ')
  return new FlagError('METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { details: { allow } })
}
