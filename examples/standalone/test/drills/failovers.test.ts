import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import { IS_FULL, report, sized } from '../../../../packages/server/test/drills/scale.ts'
import { openPostgresName } from '../../../../packages/storage/test/postgres-name.ts'
import { PostgresProcess } from '../../../../packages/storage/test/postgres-process.ts'
import { RunningStandalone } from '../running-standalone.ts'

const SWITCHES = sized({ full: 20, small: 1 })
const LATE_MS = sized({ full: 10_000, small: 500 })
const ADMIN_TOKEN = 'an-administrators-own-token'
const FLAG = '/projects/shop/flags/checkout-enabled'
/** Successive changes over new connections, which reach all workers. */
const CHANGES = 8

it('After a failover of PostgreSQL, every worker accepts changes as soon as the name points to the primary', {
  timeout: 300_000 + SWITCHES * 60_000,
}, async () => {
  let primary = await PostgresProcess.start({ isDurable: true })
  let standby = await primary.startStandby()
  onTestFinished(async () => {
    await Promise.all([primary.remove(), standby.remove()])
  })
  const name = await openPostgresName(primary.url)
  const server = new RunningStandalone({
    DATABASE_URL: name.url,
    FF_SECRET_KEY: 'ab'.repeat(32),
    FF_ADMIN_TOKEN: ADMIN_TOKEN,
    FF_WORKERS: '2',
    FF_LOG_LEVEL: 'silent',
  })
  onTestFinished(() => server.destroy())
  const url = await server.listening()
  const key = /live\s+(ff_[0-9a-f]{64})/.exec(server.output)?.[1] ?? ''
  // A connection for each request, so that the workers take turns.
  const dispatcher = new Agent({ pipelining: 0 })
  onTestFinished(() => dispatcher.destroy())

  const send = async (method: 'PUT' | 'POST', path: string, headers: object, body: object) => {
    const { statusCode, body: read } = await request(url + path, {
      ...{ method, dispatcher, reset: true, body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...headers },
    })
    await read.dump()
    return statusCode
  }
  let count = 0
  const change = () => {
    count += 1
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    return send('PUT', FLAG, headers, { name: `Checkout ${count}` })
  }
  const evaluate = () => send('POST', '/evaluator/evaluate', { 'x-api-key': key }, { context: {} })

  const statuses = new Map<number, number>()
  let isOver = false
  onTestFinished(() => {
    isOver = true
  })
  const evaluating = (async () => {
    for (; !isOver; await pause(5)) {
      const status = await evaluate()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })()
  const acceptedAfter: number[] = []
  for (let round = 0; round < SWITCHES; round += 1) {
    for (let n = 0; n < CHANGES; n += 1) expect(await change()).toBe(200)
    await primary.kill()
    await Promise.all([standby.promote(), primary.restartAsStandby(standby)])
    const movesAt = performance.now() + (LATE_MS * round) / Math.max(1, SWITCHES - 1)
    do {
      for (let n = 0; n < CHANGES; n += 1) expect(await change()).toBe(503)
      await pause(100)
    } while (performance.now() < movesAt)
    name.pointTo(standby.url)
    const begunAt = performance.now()
    for (let accepted = 0; accepted < CHANGES; )
      accepted = (await change()) === 200 ? accepted + 1 : 0
    acceptedAfter.push(performance.now() - begunAt)
    await primary.remove()
    ;[primary, standby] = [standby, await standby.startStandby()]
  }
  isOver = true
  await evaluating
  const longest = Math.round(Math.max(...acceptedAfter))
  report(
    `${SWITCHES} failovers, two workers: ${JSON.stringify(Object.fromEntries(statuses))} evaluations; ` +
      `${CHANGES} successive changes accepted at most ${longest} ms after the name moved`,
  )
  expect([...statuses.keys()]).toEqual([200])
  if (IS_FULL) expect(longest).toBeLessThan(5000)
})
