import type { Endpoint } from '@ff/protocol/management'
import * as z from 'zod'
import type { Logger } from '../logger.ts'
import type { Reply } from './exchange.ts'

/** JSON lines that are encoded while they are sent. A failure on the way is logged, and ends it. */
export function linesReply(
  { status, response }: Pick<Endpoint, 'status' | 'response'>,
  items: AsyncIterable<unknown>,
  logger: Logger,
): Reply {
  const headers = { 'Content-Type': 'application/x-ndjson; charset=utf-8' }
  return { status, headers, body: toLines(response, items, logger) }
}

async function* toLines(
  codec: z.ZodType,
  items: AsyncIterable<unknown>,
  logger: Logger,
): AsyncIterable<string> {
  try {
    for await (const item of items) yield `${JSON.stringify(z.encode(codec, item))}\n`
  } catch (cause) {
    logger.error('an answer failed while it was being sent', { cause })
    throw cause
  }
}
