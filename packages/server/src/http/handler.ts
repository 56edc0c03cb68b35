import type { Logger } from '../logger.ts'
import { whenHere } from '../when-here.ts'
import { managementErrorReply, sdkErrorReply } from './error-reply.ts'
import type { Exchange, Outcome } from './exchange.ts'
import type { Metrics } from './metrics.ts'
import { PROBE_PATHS } from './probes.ts'
import { isSdkPath } from './sdk.ts'

/** Comes to an outcome at once when there is nothing to wait for. */
export type Handle = (exchange: Exchange) => Outcome | Promise<Outcome>

interface HandlerParts {
  /** Resolves once the server can answer; `undefined` when it can already. */
  readonly whenReady: () => Promise<void> | undefined
  readonly sdk: Handle
  readonly management: Handle
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Exchange → outcome, for every path below the base path; nothing escapes as an exception. */
export function createHandler(parts: HandlerParts): Handle {
  const { metrics, logger } = parts
  return (exchange) => {
    const { path } = exchange
    const tell = (outcome: Outcome) => {
      if (outcome !== 'held') metrics.countRequest(path, outcome.status)
      return outcome
    }
    const refuse = (error: unknown) =>
      tell(isSdkPath(path) ? sdkErrorReply(error, logger) : managementErrorReply(error, logger))
    try {
      const outcome = answer(parts, exchange)
      return outcome instanceof Promise ? outcome.then(tell, refuse) : tell(outcome)
    } catch (error) {
      return refuse(error)
    }
  }
}

function answer(parts: HandlerParts, exchange: Exchange): Outcome | Promise<Outcome> {
  const { whenReady, sdk, management } = parts
  const { path, waiting } = exchange
  // Whether the process runs does not depend on whether the store can be read.
  const starting = path === PROBE_PATHS.health || waiting ? undefined : whenReady()
  return whenHere(starting, () => (isSdkPath(path) ? sdk(exchange) : management(exchange)))
}
