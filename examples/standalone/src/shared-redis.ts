import type { Logger } from '@ff/server'
import type { Capabilities } from '@ff/storage'
import { redis } from '@ff/storage/redis'
import type { Config } from './config.ts'
import { withVariables } from './failure.ts'

/**
 * Returns the ports of the Redis server; none if there is no Redis server. The logger receives a
 * line when Redis becomes unavailable, and one when it can be used again.
 */
export function openRedis({ redisUrl: url }: Pick<Config, 'redisUrl'>, log: Logger): Capabilities {
  if (url === undefined) return {}
  return redis({
    url,
    onStatus: (unavailable) => {
      if (unavailable === undefined) return log.info('Redis can be used again')
      log.warn(`${withVariables(unavailable.message)} The server continues without Redis`)
    },
  })
}
