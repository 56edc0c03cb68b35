import { createHash } from 'node:crypto'
import type { RedisOptions } from '@ff/storage/redis'
import { inject } from 'vitest'
import { postgresUrl } from '../../../../storage/test/postgres-schema.ts'

/**
 * Returns the Redis of the servers with a PostgreSQL database; `undefined` unless the drills run with
 * Redis. Servers with the same database and schema have the same Redis.
 */
export function redisOf(location: string): RedisOptions | undefined {
  if (process.env['FF_DRILLS_REDIS'] !== '1') return undefined
  const { pathname, searchParams } = new URL(location)
  const store = `${postgresUrl()} ${pathname} ${searchParams.get('options')}`
  const prefix = createHash('sha256').update(store).digest('hex').slice(0, 16)
  return { url: inject('redisUrl'), prefix }
}
