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
  const lines = new Lines(response, items[Symbol.asyncIterator](), logger)
  return { status, headers, body: { [Symbol.asyncIterator]: () => lines } }
}

class Lines implements AsyncIterator<string, undefined> {
  readonly #codec: z.ZodType
  readonly #items: AsyncIterator<unknown>
  readonly #logger: Logger
  #isReturned = false

  constructor(codec: z.ZodType, items: AsyncIterator<unknown>, logger: Logger) {
    this.#codec = codec
    this.#items = items
    this.#logger = logger
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    try {
      const { done, value } = await this.#items.next()
      if (done === true) return { done, value: undefined }
      return { done: false, value: `${JSON.stringify(z.encode(this.#codec, value))}\n` }
    } catch (cause) {
      // A caller that has gone is no failure, though it stops what looks for the next line.
      if (!this.#isReturned)
        this.#logger.error('an answer failed while it was being sent', { cause })
      await this.return()
      throw cause
    }
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    this.#isReturned = true
    await this.#items.return?.()
    return { done: true, value: undefined }
  }
}
