import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished } from 'vitest'
import type { ChangeFeed } from '../src/ports/change-feed.ts'
import { type RedisCapabilities, type RedisOptions, redis } from '../src/redis/redis.ts'
import { RedisProcess } from './redis-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a Redis server for one test run; empty if there is none. */
    readonly redisUrl: string
    /** `true` if tests can start Redis servers of their own. */
    readonly hasRedisServer: boolean
  }
}

/** Returns the options of a store without keys in the Redis of the test run. */
export function newRedisOptions(): RedisOptions {
  return { url: inject('redisUrl'), prefix: `test-${randomUUID()}` }
}

/** Creates the ports, whose connections are closed after the test. */
export function openRedis(options: RedisOptions): RedisCapabilities {
  const capabilities = redis(options)
  onTestFinished(() => capabilities.close())
  return capabilities
}

/**
 * Subscribes to a change feed, and returns the changes that the listener receives. Resolves when
 * Redis delivers them, which the listener learns by a first `resync`.
 */
export async function receiveFrom(changeFeed: ChangeFeed): Promise<unknown[]> {
  const received: unknown[] = []
  await changeFeed.subscribe((change) => received.push(change))
  await expect.poll(() => received.splice(0)).toEqual([{ type: 'resync' }])
  return received
}

/** Starts a Redis server of its own for a test, which is stopped after it. */
export async function startRedis(settings: readonly string[] = []): Promise<RedisProcess> {
  const server = await RedisProcess.start(settings)
  onTestFinished(() => server.stop())
  return server
}

/** Opens a connection with which a test changes the server. It is closed after the test. */
export function openRedisClient(url = inject('redisUrl'), password?: string): Redis {
  const client = new Redis(url, password === undefined ? {} : { password })
  onTestFinished(() => client.disconnect())
  return client
}
