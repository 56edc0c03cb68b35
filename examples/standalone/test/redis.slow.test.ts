import { it as anyIt, expect, inject, onTestFinished } from 'vitest'
import { newPostgresSchema } from '../../../packages/storage/test/postgres-store.ts'
import { startRedis } from '../../../packages/storage/test/redis-store.ts'
import { RunningStandalone } from './running-standalone.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const PASSWORD = 'a secret'
const FLAG = '/projects/shop/envs/live/flags/checkout-enabled'

const it = anyIt.skipIf(!inject('hasRedisServer'))

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
type Json = any

/** Sends a request to the management API, and returns the data of the response. */
async function manage(url: string, method: 'GET' | 'PUT', body?: object): Promise<Json> {
  const response = await fetch(url + FLAG, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect(response.status).toBe(200)
  const { data }: Json = await response.json()
  return data
}

it('Workers with PostgreSQL and Redis start without Redis, and use it as soon as it is reachable', async () => {
  const { url: databaseUrl } = await newPostgresSchema()
  const redis = await startRedis(['--requirepass', PASSWORD])
  await redis.stop()
  const server = new RunningStandalone({
    DATABASE_URL: databaseUrl,
    REDIS_URL: redis.url.replace('//', `//:${encodeURIComponent(PASSWORD)}@`),
    FF_SECRET_KEY: 'ab'.repeat(32),
    FF_ADMIN_TOKEN: ADMIN_TOKEN,
    FF_WORKERS: '2',
  })
  onTestFinished(() => server.destroy())
  const url = await server.listening()
  const unavailable = `REDIS_URL: Redis at 127.0.0.1:${redis.port} cannot be reached (ECONNREFUSED). The server continues without Redis`
  const linesWith = (text: string) => server.log.split(text).length - 1
  // The primary, which starts a server to report errors, and the workers.
  await expect.poll(() => linesWith(unavailable)).toBe(3)
  await manage(url, 'PUT', { is_active: false })
  expect((await manage(url, 'GET')).is_active).toBe(false)
  await expect.poll(() => linesWith('The rate limiter failed')).toBeGreaterThan(0)
  expect(server.log).not.toContain('`url`')

  await redis.restart()
  await expect.poll(() => linesWith('Redis can be used again')).toBe(2)
  server.stop('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(linesWith('continues without Redis')).toBe(3)
  expect(server.log).not.toContain(PASSWORD)
  expect(server.log).not.toContain(encodeURIComponent(PASSWORD))
})
