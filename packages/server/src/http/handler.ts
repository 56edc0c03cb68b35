import type { Logger } from '../logger.ts'
import { managementErrorReply, sdkErrorReply } from './error-reply.ts'
import type { Exchange, Reply } from './exchange.ts'
import type { Metrics } from './metrics.ts'
import { PROBE_PATHS } from './probes.ts'
import { isSdkPath } from './sdk.ts'

export type Handle = (exchange: Exchange) => Promise<Reply>

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
  return async (exchange) => {
    const reply = await answer(parts, exchange)
    parts.metrics.countRequest(exchange.path, reply.status)
    return reply
  }
}

async function answer(
  { whenReady, sdk, management, logger }: HandlerParts,
  exchange: Exchange,
): Promise<Reply> {
  const isSdk = isSdkPath(exchange.path)
  try {
    // Whether the process runs does not depend on whether the store can be read.
    const starting = exchange.path === PROBE_PATHS.health ? undefined : whenReady()
    if (starting !== undefined) await starting
    return await (isSdk ? sdk(exchange) : management(exchange))
  } catch (error) {
    return isSdk ? sdkErrorReply(error, logger) : managementErrorReply(error, logger)
  }
}
