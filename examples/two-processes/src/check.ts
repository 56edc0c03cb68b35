// Starts a PostgreSQL and a Redis server, runs the example with them, and stops them in turn.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { PostgresProcess } from '../../../packages/storage/test/postgres-process.ts'
import { RedisProcess } from '../../../packages/storage/test/redis-process.ts'
import { type RunningServer, startServers } from './servers.ts'

const database = await PostgresProcess.start({ isDurable: true })
const redis = await RedisProcess.start()
const servers = await startServers({ databaseUrl: database.url, redisUrl: redis.url })
const [first, second] = servers as [RunningServer, RunningServer]

/** Waits until a condition is true, and returns the milliseconds that this has taken. */
async function until(condition: () => boolean | Promise<boolean>, withinMs: number) {
  const begunAt = performance.now()
  while (!(await condition())) {
    assert.ok(performance.now() - begunAt < withinMs, `not within ${withinMs} ms`)
    await pause(5)
  }
  return Math.round(performance.now() - begunAt)
}

/** Changes the flag at one server, and waits for the client of the other one. */
async function change(from: RunningServer, to: RunningServer, withinMs: number) {
  const isOn = !to.isNewCheckout
  const [status, tookMs] = await Promise.all([
    from.setNewCheckout(isOn),
    until(() => to.isNewCheckout === isOn, withinMs),
  ])
  assert.equal(status, 200)
  return tookMs
}

/** Asserts that writes fail within two seconds. */
async function assertRefused(server: RunningServer) {
  const begunAt = performance.now()
  assert.equal(await server.setNewCheckout(true), 503)
  const tookMs = Math.round(performance.now() - begunAt)
  assert.ok(tookMs < 2000, `refused after ${tookMs} ms`)
  return tookMs
}

try {
  console.log(`Over Redis: ${await change(first, second, 5000)} ms`)
  console.log(`In the other direction: ${await change(second, first, 5000)} ms`)
  redis.suspend()
  console.log(`Redis does not respond: ${await change(first, second, 10_000)} ms`)
  redis.resume()
  await redis.stop()
  console.log(`Redis is stopped: ${await change(second, first, 10_000)} ms`)
  await redis.restart()
  await database.kill()
  console.log(`PostgreSQL is stopped: a write fails after ${await assertRefused(first)} ms`)
  await pause(1000)
  await database.restart()
  const recovered = async () => (await first.setNewCheckout(!first.isNewCheckout)) === 200
  console.log(`PostgreSQL runs again: a write succeeds after ${await until(recovered, 10_000)} ms`)
  await database.suspend()
  console.log(`PostgreSQL does not respond: ${await assertRefused(second)} ms`)
  await database.resume()
  await until(recovered, 10_000)
  for (const { evaluations } of servers) {
    console.log(evaluations)
    assert.equal(evaluations.failed, 0)
    assert.ok(evaluations.succeeded > 100)
  }
} finally {
  for (const server of servers) await server.close()
  await redis.stop()
  await database.remove()
}
