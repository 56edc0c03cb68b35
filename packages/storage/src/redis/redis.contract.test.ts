import { describe, inject } from 'vitest'
import { newRedisOptions } from '../../test/redis-store.ts'
import {
  changeFeedContract,
  rateLimiterContract,
  recentEventsContract,
} from '../contract/contract.ts'
import { redis } from './redis.ts'

describe.skipIf(inject('redisUrl') === '')('Redis', () => {
  changeFeedContract('Redis', async () => redis(newRedisOptions()))

  rateLimiterContract('Redis', async () => redis(newRedisOptions()))

  recentEventsContract('Redis', async () => redis(newRedisOptions()))
})
