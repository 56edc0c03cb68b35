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
  const { metrics, logger } = parts
  return (exchange) => {
    const { path } = exchange
    const tell = (reply: Reply) => {
      metrics.countRequest(path, reply.status)
      return reply
    }
    const refuse = (error: unknown) =>
      tell(isSdkPath(path) ? sdkErrorReply(error, logger) : managementErrorReply(error, logger))
    try {
      const reply = answer(parts, exchange)
      // Requests that are held live long: there is but one promise here for each.
      return reply instanceof Promise ? reply.then(tell, refuse) : tell(reply)
    } catch (error) {
      return refuse(error)
    }
  }
}

function answer(parts: HandlerParts, exchange: Exchange): Reply | Promise<Reply> {
  const { whenReady, sdk, management } = parts
  const { path } = exchange
  // Whether the process runs does not depend on whether the store can be read.
  const starting = path === PROBE_PATHS.health ? undefined : whenReady()
  return whenHere(starting, () => (isSdkPath(path) ? sdk(exchange) : management(exchange)))
}
