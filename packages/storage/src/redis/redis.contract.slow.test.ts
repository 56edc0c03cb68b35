import { describe, inject } from 'vitest'
import { newRedisOptions, receiveFrom } from '../../test/redis-store.ts'
import {
  changeFeedContract,
  rateLimiterContract,
  recentEventsContract,
} from '../contract/contract.ts'
import { redis } from './redis.ts'

describe.skipIf(inject('redisUrl') === '')('Redis', () => {
  changeFeedContract('Redis', async () => {
    const ports = redis(newRedisOptions())
    await receiveFrom(ports.changeFeed)
    return ports
  })

  rateLimiterContract('Redis', async () => redis(newRedisOptions()))

  recentEventsContract('Redis', async () => redis(newRedisOptions()))
})
