import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EvaluationContext } from '@ff/core'
import { createManagement, SYSTEM } from '@ff/management/node'
import { type Clock, createFlagServer, type LogFields, silentLogger } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { FakeClock } from '../../../../packages/server/test/fake-clock.ts'
import { createDemo } from './demo.ts'
import { DEMO_USERS, startDemoTraffic } from './demo-traffic.ts'

const SETTINGS = { adminToken: undefined, administrator: undefined }

/** A clock whose timers run immediately, one after the other, at their time. */
class ImmediateClock implements Clock {
  #now = 0
  timers = 0

  now(): number {
    return this.#now
  }

  monotonicNow(): number {
    return this.#now
  }

  schedule(delayMs: number, task: () => void): () => void {
    this.timers += 1
    const timer = setImmediate(() => {
      this.#now += Math.max(0, delayMs)
      task()
    })
    return () => clearImmediate(timer)
  }
}

function logged() {
  const lines: { level: string; message: string; fields: LogFields | undefined }[] = []
  const log = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push({ level, message, fields })
  return { lines, logger: { ...silentLogger, info: log('info'), warn: log('warn') } }
}

it('The invented users have different keys that begin with demo-user-, and plausible attributes', () => {
  const keys = DEMO_USERS.map(({ key }) => key)
  expect(new Set(keys).size).toBe(500)
  for (const key of keys) expect(key).toMatch(/^demo-user-\d+$/)
  const count = (name: 'plan' | 'beta', value: unknown) =>
    DEMO_USERS.filter((user) => user[name] === value).length
  expect(['free', 'pro', 'enterprise'].map((plan) => count('plan', plan))).toEqual([375, 100, 25])
  expect(count('beta', true)).toBe(50)
  expect(new Set(DEMO_USERS.map(({ country }) => country)).size).toBe(7)
  const paid = DEMO_USERS.filter(({ plan, country }) => plan !== 'free' && country === 'DE')
  expect(paid.length).toBeGreaterThan(10)
})

it('The demo traffic evaluates 500 users 1,200 times in one minute, 20 times per second, and ends', async () => {
  const clock = new ImmediateClock()
  const times: number[] = []
  const keys = new Set<unknown>()
  const { lines, logger } = logged()
  const flags = {
    allOrThrow: async (_: unknown, context: EvaluationContext) => {
      times.push(clock.now())
      keys.add((context as { key?: string }).key)
      return {}
    },
  }
  startDemoTraffic({ flags, logger, clock })
  await expect.poll(() => lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ level: 'info', message: 'The demo traffic has ended' })
  expect(keys.size).toBe(500)
  expect(times).toEqual(Array.from({ length: 1200 }, (_, n) => n * 50))
  expect(clock.timers).toBe(1200)
})

it('Late timers do not reduce the rate of the demo traffic', async () => {
  const clock = new ImmediateClock()
  const late: Clock = {
    now: () => clock.now(),
    monotonicNow: () => clock.monotonicNow(),
    schedule: (delayMs, task) => clock.schedule(Math.max(delayMs, 0) + 30, task),
  }
  const { lines, logger } = logged()
  startDemoTraffic({ flags: { allOrThrow: async () => ({}) }, logger, clock: late })
  await expect.poll(() => lines).toHaveLength(1)
  expect(clock.now()).toBe(1199 * 50 + 30)
  expect(lines[0]?.fields).toMatchObject({ evaluations: 1200 })
})

it('The demo traffic is counted, and its users become observed contexts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ff-traffic-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'ff.sqlite')
  const clock = new FakeClock(Date.now())
  const flags = createFlagServer({ ...sqlite({ path }), management: createManagement(), clock })
  await createDemo(flags, SETTINGS)
  const { lines, logger } = logged()
  startDemoTraffic({ flags, logger, clock })
  const advance = async () => {
    await clock.advance(1000)
    return lines
  }
  await expect.poll(advance, { interval: 1 }).toHaveLength(1)
  await flags.close()

  const reopened = createFlagServer({ ...sqlite({ path }), management: createManagement() })
  onTestFinished(() => reopened.close())
  const management = reopened.as(SYSTEM)
  const [organization] = (await management.listOrganizations({ query: {} })).data
  const params = { orgId: organization?.id ?? '' }
  expect(await management.getOrganizationUsage({ params })).toMatchObject({ apiUsage: 1200 })
  const seen = await management.listObservedContexts({ query: { limit: 100 } })
  expect(seen.meta.total).toBeGreaterThan(100)
  for (const { contextJson } of seen.data) {
    expect(contextJson).toMatchObject({
      kind: 'user',
      key: expect.stringMatching(/^demo-user-\d+$/),
      plan: expect.any(String),
      country: expect.any(String),
      beta: expect.any(Boolean),
    })
  }
})

it('Without the demo project, the demo traffic stops with one warning', async () => {
  const flags = createFlagServer({ management: createManagement() })
  onTestFinished(() => flags.close())
  const { lines, logger } = logged()
  const clock = new ImmediateClock()
  startDemoTraffic({ flags, logger, clock })
  await expect.poll(() => lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ level: 'warn', message: 'The demo traffic has stopped' })
  expect(lines[0]?.fields?.['cause']).toMatchObject({ code: 'NOT_FOUND' })
  expect(clock.timers).toBe(1)
})

it('After its end was requested, the demo traffic evaluates nothing and logs nothing', async () => {
  const { lines, logger } = logged()
  const clock = new ImmediateClock()
  let evaluations = 0
  let stop: () => void = () => undefined
  const allOrThrow = async () => {
    evaluations += 1
    if (evaluations < 3) return {}
    stop()
    throw new Error('the server is closed')
  }
  stop = startDemoTraffic({ flags: { allOrThrow }, logger, clock })
  await expect.poll(() => evaluations).toBe(3)
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect([evaluations, clock.timers, lines]).toEqual([3, 3, []])
})
