import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../server/test/fake-clock.ts'
import { flagChange, textFlag } from '../../../server/test/seed.ts'
import { countsOf } from '../../../server/test/usage/usage-scene.ts'
import { MAX_WAITING } from '../../src/local/usage-counts.ts'
import { createLocalScene, type LocalScene, untilCurrent, user } from './local-scene.ts'

let scene: LocalScene

const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }
const EVENTS = 'POST /evaluator/events'

beforeEach(async () => {
  scene = await createLocalScene()
  await scene.publish(flagChange(textFlag('banner', 'hello', [proRule])))
})

afterEach(() => scene.close())

const counted = async () => {
  // The server writes its counts within a minute.
  await scene.clock.advance(60_000)
  return countsOf(scene, 'flag-banner')
}
const sent = () => scene.network.requests.filter((each) => each === EVENTS).length

async function opened() {
  const local = scene.create()
  await untilCurrent(scene, local)
  return local
}

describe('usage counts', () => {
  it('Every evaluation is counted once, with its outcome.', async () => {
    const local = await opened()
    for (let index = 0; index < 1000; index += 1) {
      local.value('banner', { ...user, plan: index % 4 === 0 ? 'pro' : 'free' })
      if (index % 100 === 0) await scene.clock.advance(3000)
    }
    local.detail('banner', user)
    local.all(user)
    local.snapshot(user)
    local.for(user).value('banner')
    // These evaluate nothing.
    local.value('title', user)
    local.value('banner', 'no context' as never)
    await local.close()
    expect(sent()).toBeLessThan(8)
    expect(await counted()).toEqual({
      'sdk TARGETING_MATCH banner-other': 250,
      'sdk DEFAULT banner-hello': 754,
    })
    expect(scene.errors).toEqual([])
  })

  it('Evaluations are sent every ten seconds, and nothing is sent without evaluations.', async () => {
    const local = await opened()
    await scene.clock.advance(60_000)
    expect(sent()).toBe(0)
    local.value('banner', user)
    await scene.clock.advance(9999)
    expect(sent()).toBe(0)
    await scene.clock.advance(1)
    expect(sent()).toBe(1)
    await scene.clock.advance(60_000)
    expect(sent()).toBe(1)
  })

  it('Reports that the server refuses for a time are repeated, and counted once.', async () => {
    const local = await opened()
    const refusals = [429, 500, 429, 500, 401].map((status) => {
      return new Response('{}', { status, headers: { 'retry-after': '20' } })
    })
    const times: number[] = []
    scene.network.script = (path) => {
      if (path !== '/evaluator/events') return undefined
      times.push(scene.clock.now())
      return refusals.shift()
    }
    for (let minute = 0; minute < 20; minute += 1) {
      local.value('banner', user)
      await scene.clock.advance(30_000)
    }
    const gaps = times.slice(1, 6).map((time, index) => time - (times[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(20_000)
    await local.close()
    expect(await counted()).toEqual({ 'sdk DEFAULT banner-hello': 20 })
    expect(scene.errors).toEqual([])
  })

  it('Reports wait while the server is away, and are counted in their minutes.', async () => {
    const local = await opened()
    scene.network.down()
    for (let minute = 0; minute < 10; minute += 1) {
      local.value('banner', user)
      await scene.clock.advance(60_000)
    }
    const before = sent()
    expect(before).toBeLessThanOrEqual(1)
    scene.network.isDown = false
    await untilCurrent(scene, local)
    await scene.clock.advance(60_000)
    await local.close()
    await counted()
    const { environmentId } = scene.live
    const rows = await scene.memory.storage.loadEvaluationCounts({
      ...{ environmentId, flagId: 'flag-banner' },
      ...{ from: '2030-01-01T00:02:00.000Z', to: '2030-01-01T00:06:00.000Z' },
    })
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(4)
    expect(await counted()).toEqual({ 'sdk DEFAULT banner-hello': 10 })
    expect(scene.errors.map(String)).toEqual([
      'Error: The flag server http://flags.test is not available: cannot reach',
    ])
  })

  it('A report that the server finds invalid is dropped and reported.', async () => {
    const local = await opened()
    scene.network.script = (path) => {
      return path === '/evaluator/events' ? new Response('{}', { status: 400 }) : undefined
    }
    local.value('banner', user)
    await scene.clock.advance(120_000)
    expect(sent()).toBe(1)
    expect(scene.errors).toMatchObject([
      {
        message: 'Evaluations were not reported, because the server refused the report',
        evaluations: 1,
      },
    ])
  })

  it('Large reports are divided.', async () => {
    const flags = Array.from({ length: 2500 }, (_, index) => `flag-${index}${'k'.repeat(100)}`)
    await scene.publish(...flags.map((key) => flagChange(textFlag(key, 'x'))))
    const local = await opened()
    for (const key of flags) local.value(key as never, user)
    await local.close()
    expect(sent()).toBeGreaterThan(6)
    await counted()
    const totals = await Promise.all(flags.map((key) => countsOf(scene, `flag-${key}`)))
    expect(totals.map((total) => Object.values(total))).toEqual(flags.map(() => [1]))
  })

  it('A report waits for a retry hint of at most an hour.', async () => {
    const local = await opened()
    const refusals = [new Response('{}', { status: 429, headers: { 'retry-after': '1e9' } })]
    scene.network.script = (path) => (path === '/evaluator/events' ? refusals.shift() : undefined)
    local.value('banner', user)
    await scene.clock.advance(10_000)
    await scene.clock.advance(3_599_000)
    expect(sent()).toBe(1)
    await scene.clock.advance(40_000)
    expect(sent()).toBe(2)
    await local.close()
    expect(await counted()).toEqual({ 'sdk DEFAULT banner-hello': 1 })
  })

  it('Counts are limited, and dropped evaluations are reported with their number.', async () => {
    const local = await opened()
    scene.network.script = (path) => {
      if (path !== '/evaluator/events') return undefined
      return new Response('{}', { status: 429, headers: { 'retry-after': '30' } })
    }
    // Each version of the flag has counts of its own.
    const versions = 30
    for (let version = 0; version < versions; version += 1) {
      for (let index = 0; index < 5; index += 1) local.value('banner', user)
      await scene.publish(flagChange(textFlag('banner', `v${version}`)))
      await settle()
    }
    expect(MAX_WAITING).toBe(10_000)
    await scene.clock.advance(10_000)
    const closing = local.close()
    await scene.clock.advance(5000)
    await closing
    expect(scene.errors).toMatchObject([
      {
        message: 'Evaluations were not reported, because the client is closed',
        evaluations: 150,
      },
    ])
  })

  it('A client without usage reports, and a client without a server, send nothing.', async () => {
    const local = scene.create({ usage: false })
    await untilCurrent(scene, local)
    local.value('banner', user)
    await scene.clock.advance(60_000)
    await local.close()
    expect(sent()).toBe(0)
  })
})
