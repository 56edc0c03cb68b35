import { FlagError } from '@ff/core'
import type { Storage } from '@ff/storage'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { whenHere } from '../runtime/map-maybe-async.ts'
import { managementErrorReply, sdkErrorReply } from './error-reply.ts'
import type { Exchange, Outcome, Reply } from './exchange.ts'
import { METRICS_PATH, type Metrics, metricsReply } from './metrics.ts'
import { answerGet, privateReply } from './private-reply.ts'
import { healthReply, PROBE_PATHS, readyReply } from './probes.ts'
import { isSdkPath } from './sdk.ts'

/** Comes to an outcome at once when there is nothing to wait for. */
export type Handle = (exchange: Exchange) => Outcome | Promise<Outcome>

interface HandlerParts {
  /** Resolves once the server can answer; `undefined` when it can already. */
  readonly whenReady: () => Promise<void> | undefined
  readonly sdk: Handle
  /** Answers the paths that are not the server's own; `undefined` without a management plane. */
  readonly management: Handle | undefined
  readonly metrics: Metrics
  /** Whether `GET /metrics` needs no credentials. */
  readonly metricsArePublic: boolean
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
}

/** Exchange → outcome, for every path below the base path; nothing escapes as an exception. */
export function createHandler(parts: HandlerParts): Handle {
  const { metrics, logger } = parts
  return (exchange) => {
    const { path } = exchange
    const count = (outcome: Outcome) => {
      if (outcome !== 'held') metrics.countRequest(path, outcome.status)
      return outcome
    }
    const refuse = (error: unknown) =>
      count(isSdkPath(path) ? sdkErrorReply(error, logger) : managementErrorReply(error, logger))
    try {
      const outcome = answer(parts, exchange)
      return outcome instanceof Promise ? outcome.then(count, refuse) : count(outcome)
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
  return whenHere(starting, () => {
    if (isSdkPath(path)) return sdk(exchange)
    const own = ownAnswer(parts, exchange)
    if (own !== undefined) return privateReply(exchange, own, parts)
    return management === undefined ? refuse(exchange, parts) : management(exchange)
  })
}

/** Answers the paths of the server itself; `undefined` for all others. */
function ownAnswer(
  { metrics, metricsArePublic, storage, clock }: HandlerParts,
  exchange: Exchange,
): (() => Reply | Promise<Reply>) | undefined {
  const { path } = exchange
  if (path === PROBE_PATHS.health) return () => answerGet(exchange, healthReply)
  if (path === PROBE_PATHS.ready) {
    return () => answerGet(exchange, () => readyReply(storage, clock))
  }
  if (path === METRICS_PATH && metricsArePublic) {
    return () => answerGet(exchange, () => metricsReply(metrics))
  }
  return undefined
}

/** Answers the paths of a management plane when there is none. */
function refuse(exchange: Exchange, parts: HandlerParts): Promise<Reply> {
  const error =
    exchange.path === METRICS_PATH
      ? new FlagError('UNAUTHENTICATED', 'The metrics of this server are not public.')
      : new FlagError('NOT_FOUND', 'There is no such path.')
  return privateReply(exchange, () => Promise.reject(error), parts)
}
