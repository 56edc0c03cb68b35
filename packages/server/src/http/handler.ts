import type { Logger } from '../logger.ts'
import { whenHere } from '../when-here.ts'
import { managementErrorReply, sdkErrorReply } from './error-reply.ts'
import type { Exchange, Reply } from './exchange.ts'
import type { Metrics } from './metrics.ts'
import { PROBE_PATHS } from './probes.ts'
import { isSdkPath } from './sdk.ts'

/** Answers at once when there is nothing to wait for. */
export type Handle = (exchange: Exchange) => Reply | Promise<Reply>

interface HandlerParts {
  /** Resolves once the server can answer; `undefined` when it can already. */
  readonly whenReady: () => Promise<void> | undefined
  readonly sdk: Handle
  readonly management: Handle
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Exchange → reply, for every path below the base path; nothing escapes as an exception. */
export function createHandler(parts: HandlerParts): Handle {
  const { metrics } = parts
  return (exchange) =>
    whenHere(answer(parts, exchange), (reply) => {
      metrics.countRequest(exchange.path, reply.status)
      return reply
    })
}

function answer(parts: HandlerParts, exchange: Exchange): Reply | Promise<Reply> {
  const { whenReady, sdk, management, logger } = parts
  const isSdk = isSdkPath(exchange.path)
  const refuse = (error: unknown) => {
    return isSdk ? sdkErrorReply(error, logger) : managementErrorReply(error, logger)
  }
  try {
    // Whether the process runs does not depend on whether the store can be read.
    const starting = exchange.path === PROBE_PATHS.health ? undefined : whenReady()
    const reply = whenHere(starting, () => (isSdk ? sdk(exchange) : management(exchange)))
    return reply instanceof Promise ? reply.catch(refuse) : reply
  } catch (error) {
    return refuse(error)
  }
}
