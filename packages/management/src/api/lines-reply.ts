import type { Endpoint } from '@ff/protocol/management'
import type { Reply } from '@ff/server/plane'
import * as z from 'zod'

/**
 * Returns a reply with the items as JSON lines, which are encoded while they are sent. If reading
 * or encoding an item fails, the body fails. Calling `return` on the iterator of the body also calls
 * `return` on the iterator of the items, even if no line was read.
 */
export function linesReply(
  { status, response }: Pick<Endpoint, 'status' | 'response'>,
  items: AsyncIterable<unknown>,
): Reply {
  const headers = { 'Content-Type': 'application/x-ndjson; charset=utf-8' }
  const iterator = items[Symbol.asyncIterator]()
  const lines: Required<Pick<AsyncIterator<string, undefined>, 'next' | 'return'>> = {
    async next() {
      try {
        const { done, value } = await iterator.next()
        if (done === true) return { done, value: undefined }
        return { done: false, value: `${JSON.stringify(z.encode(response, value))}\n` }
      } catch (cause) {
        await lines.return()
        throw cause
      }
    },
    async return() {
      await iterator.return?.()
      return { done: true, value: undefined }
    },
  }
  return { status, headers, body: { [Symbol.asyncIterator]: () => lines } }
}
