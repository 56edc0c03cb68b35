import { randomUUID } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import {
  newPostgresSchema,
  openPostgres,
  startListening,
  urlWithLimit,
} from '../../test/postgres-store.ts'
import { sample } from '../contract/samples/samples.ts'
import { plain } from '../sql/sql-driver.ts'
import type { PostgresCapabilities } from './postgres.ts'
import { PostgresDriver } from './postgres-driver.ts'
import { PostgresPool } from './postgres-pool.ts'
import { postgresSettings } from './postgres-settings.ts'

/**
 * Starts a proxy that refuses connections until `isOpen` is `true`, and counts them. While `isSlow`
 * is `true`, it refuses them when `refuse` is called.
 */
async function openGate(url: string) {
  const { hostname, port } = new URL(url)
  const held: Socket[] = []
  const refuse = () => {
    for (const client of held.splice(0)) client.destroy()
  }
  const gate = { attempts: 0, isOpen: false, isSlow: false, refuse }
  const proxy = createServer((client) => {
    gate.attempts += 1
    client.on('error', () => undefined)
    if (!gate.isOpen && gate.isSlow) return held.push(client)
    if (!gate.isOpen) return client.destroy()
    const server = connect(Number(port), hostname)
    server.on('error', () => client.destroy())
    client.on('close', () => server.destroy())
    return client.pipe(server).pipe(client)
  })
  const own = Object.assign(new URL(url), { port: await startListening(proxy) })
  return Object.assign(gate, { url: own.href })
}

it('While PostgreSQL refuses connections, many calls share one attempt to connect, and later calls succeed', async () => {
  const gate = await openGate((await newPostgresSchema()).url)
  const driver = new PostgresDriver(postgresSettings({ url: gate.url }))
  onTestFinished(() => driver.close())
  const read = () => driver.reader.run([plain('select 1 as one')])
  await expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  for (let round = 1; round <= 5; round += 1) {
    const calls = await Promise.allSettled(Array.from({ length: 50 }, read))
    for (const call of calls) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } })
    }
    expect(gate.attempts).toBeLessThanOrEqual(1 + round)
    await delay(110)
  }
  expect(gate.attempts).toBeGreaterThan(2)
  // The next calls wait for one attempt, which succeeds.
  await expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  gate.isOpen = true
  const results = await Promise.all(Array.from({ length: 50 }, read))
  expect(results).toEqual(Array.from({ length: 50 }, () => [[{ one: 1 }]]))
})

it('A call succeeds that begins after PostgreSQL accepts connections, although an earlier attempt is refused meanwhile', async () => {
  const gate = await openGate((await newPostgresSchema()).url)
  const driver = new PostgresDriver(postgresSettings({ url: gate.url }))
  onTestFinished(() => driver.close())
  const read = () => driver.reader.run([plain('select 1 as one')])
  await expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  gate.isSlow = true
  const earlier = expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await expect.poll(() => gate.attempts, { interval: 5 }).toBe(2)
  gate.isOpen = true
  const later = Promise.all([read(), read()])
  gate.refuse()
  expect(await later).toEqual([[[{ one: 1 }]], [[{ one: 1 }]]])
  await earlier
})

it('A call uses a free connection, although an attempt to open another one is in progress', async () => {
  const gate = await openGate((await newPostgresSchema()).url)
  gate.isOpen = true
  const pool = new PostgresPool(postgresSettings({ url: gate.url }), 'readConnections')
  onTestFinished(() => pool.close())
  const read = () => pool.runAlone(plain('select 1 as one'))
  await read()
  gate.isOpen = false
  const onlyClient = await pool.connect()
  await expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  gate.isSlow = true
  let isRefused = false
  const waiting = expect(
    read().finally(() => {
      isRefused = true
    }),
  ).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await expect.poll(() => gate.attempts, { interval: 5 }).toBe(3)
  onlyClient.release()
  expect(await read()).toEqual([{ one: 1 }])
  expect(isRefused).toBe(false)
  gate.refuse()
  await waiting
})

it('With fewer connections than the options allow, all calls wait for one, and one warning names the options', async () => {
  const url = await urlWithLimit(5)
  const warnings: string[] = []
  const onWarning = (message: string) => void warnings.push(message)
  const driver = new PostgresDriver(postgresSettings({ url, listenUrl: false, onWarning }))
  onTestFinished(() => driver.close())
  const read = () => driver.reader.run([plain('select pg_sleep(0.01)')])
  const write = () => driver.transaction(randomUUID(), (each) => each.run([plain('select 1')]))
  for (let round = 0; round < 3; round += 1) {
    const reads = Array.from({ length: 50 }, read)
    const writes = Array.from({ length: 50 }, write)
    const outcomes = await Promise.allSettled([...reads, ...writes])
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
  }
  expect(warnings).toEqual([
    expect.stringContaining('fewer connections than `readConnections` and `writeConnections` (20)'),
  ])
  expect(warnings[0]).not.toContain('few@')
})

it('Two instances with five connections each start and share the six that PostgreSQL permits', async () => {
  const url = await urlWithLimit(6)
  const warnings: string[] = []
  const options = { url, readConnections: 2, writeConnections: 2 }
  const open = () =>
    openPostgres({ ...options, onWarning: (message) => void warnings.push(message) })
  const instances = [open(), open()]
  const received: unknown[][] = [[], []]
  let isOver = false
  const load = async ({ storage }: PostgresCapabilities) => {
    for (let count = 0; ; count += 1) {
      if (isOver) return count
      await storage.insert('project', sample('project'))
      await Promise.all([1, 2, 3].map(() => storage.list('project', { limit: 1 })))
    }
  }
  const loads: Promise<number>[] = []
  for (const [at, instance] of instances.entries()) {
    await instance.storage.migrate()
    await instance.changeFeed?.subscribe((change) => void received[at]?.push(change))
    loads.push(...[1, 2, 3].map(() => load(instance)))
  }
  await delay(3000)
  isOver = true
  for (const count of await Promise.all(loads)) expect(count).toBeGreaterThan(0)
  expect(warnings.filter((each) => each.includes('permits fewer connections'))).not.toEqual([])
})
