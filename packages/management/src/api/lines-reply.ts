import type { Endpoint } from '@ff/protocol/management'
import type { Logger, Reply } from '@ff/server/plane'
import * as z from 'zod'

/**
 * JSON lines that are encoded while they are sent. A failure on the way is logged, and ends it.
 * Returning the body's iterator returns that of the items, even if no line was taken.
 */
export function linesReply(
  { status, response }: Pick<Endpoint, 'status' | 'response'>,
  items: AsyncIterable<unknown>,
  logger: Logger,
): Reply {
  const headers = { 'Content-Type': 'application/x-ndjson; charset=utf-8' }
  const iterator = items[Symbol.asyncIterator]()
  let isReturned = false
  const lines: Required<Pick<AsyncIterator<string, undefined>, 'next' | 'return'>> = {
    async next() {
      try {
        const { done, value } = await iterator.next()
        if (done === true) return { done, value: undefined }
        return { done: false, value: `${JSON.stringify(z.encode(response, value))}\n` }
      } catch (cause) {
        // A caller that has gone is no failure, though it stops what looks for the next line.
        if (!isReturned) logger.error('an answer failed while it was being sent', { cause })
        await lines.return()
        throw cause
      }
    },
    async return() {
      isReturned = true
      await iterator.return?.()
      return { done: true, value: undefined }
    },
  }
  return { status, headers, body: { [Symbol.asyncIterator]: () => lines } }
}
