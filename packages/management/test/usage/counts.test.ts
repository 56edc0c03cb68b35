import type { Records } from '@ff/storage'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { call, evaluate, poll } from '../../../server/test/call.ts'
import { settle } from '../../../server/test/fake-clock.ts'
import { flagChange, publish, textFlag } from '../../../server/test/seed.ts'
import {
  apiUsage,
  BANNER,
  countsOf,
  free,
  MINUTE,
  openClient,
  openScene,
  pro,
  type Scene,
  shared,
  TITLE,
} from '../../../server/test/usage/usage-scene.ts'
import { createManagedServer } from '../world/managed-server.ts'

let scene: Scene

beforeEach(async () => {
  scene = await openScene()
  return () => scene.flags.close()
})

const written = () => scene.clock.advance(1000)
async function rename(value: string): Promise<void> {
  await publish(scene.memory, scene.live.environmentId, flagChange(textFlag('title', value)))
  await settle()
}

describe('counting of evaluations', () => {
  it('An evaluation over REST is counted once per flag', async () => {
    const { flags, live } = scene
    for (const context of [pro, free, pro]) await evaluate(flags, live.sdkKey, context)
    await written()
    expect(await countsOf(scene, BANNER)).toEqual({
      'rest DEFAULT banner-hello': 1,
      'rest TARGETING_MATCH banner-other': 2,
    })
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 3 })
  })

  it('A response with 304 counts as a request but not as an evaluation', async () => {
    const { flags, live } = scene
    const { headers } = await evaluate(flags, live.sdkKey, pro)
    const tag = { 'if-none-match': headers.get('etag') }
    expect((await evaluate(flags, live.sdkKey, pro, tag)).status).toBe(304)
    await written()
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 1 })
    expect(await apiUsage(scene)).toBe(2)
  })

  it('An evaluation over a poll is counted when the response is sent', async () => {
    const { flags, live, clock } = scene
    const answer = poll(flags, live.sdkKey, { context: pro })
    await settle()
    await written()
    expect(await countsOf(scene, TITLE)).toEqual({})
    expect(await apiUsage(scene)).toBe(1)
    await rename('market')
    expect((await answer).body).toMatchObject({ title: 'market' })
    await poll(flags, live.sdkKey, { context: free, since: '"0.0-x-x"' })
    const pending = poll(flags, live.sdkKey, { context: free })
    await settle()
    await clock.advance(61_000)
    expect((await pending).status).toBe(200)
    await written()
    expect(await countsOf(scene, BANNER)).toEqual({
      'poll DEFAULT banner-hello': 2,
      'poll TARGETING_MATCH banner-other': 1,
    })
    expect(await countsOf(scene, TITLE)).toEqual({ 'poll STATIC title-market': 3 })
    expect(await apiUsage(scene)).toBe(3)
  })

  it('A poll is not counted if its client has disconnected', async () => {
    const { flags, live } = scene
    const leaving = new AbortController()
    const answer = poll(flags, live.sdkKey, { context: pro }, leaving.signal)
    await settle()
    leaving.abort()
    await answer.catch(() => undefined)
    await written()
    expect(await countsOf(scene, TITLE)).toEqual({})
  })

  it('For a socket, all flags are counted when it connects, and later only the flags that are pushed', async () => {
    const client = await openClient(scene)
    await written()
    expect(await countsOf(scene, BANNER)).toEqual({ 'ws TARGETING_MATCH banner-other': 1 })
    expect(await countsOf(scene, TITLE)).toEqual({ 'ws STATIC title-shop': 1 })
    await rename('market')
    await client.say({ type: 'context', context: free })
    await client.say({ type: 'ping' })
    await written()
    expect(await countsOf(scene, BANNER)).toEqual({
      'ws DEFAULT banner-hello': 1,
      'ws TARGETING_MATCH banner-other': 1,
    })
    expect(await countsOf(scene, TITLE)).toEqual({
      'ws STATIC title-market': 2,
      'ws STATIC title-shop': 1,
    })
    expect(await apiUsage(scene)).toBe(2)
  })

  it('For a socket, only values that are sent are counted, and a merged update is counted once', async () => {
    const { socket } = await openClient(scene)
    await publish(
      scene.memory,
      scene.live.environmentId,
      flagChange({ ...textFlag('title', 'shop'), offVariationId: 'title-other' }),
    )
    socket.isStuck = true
    await rename('market')
    socket.bufferedAmount = 300_000
    await rename('fair')
    await rename('bazaar')
    await written()
    const before = { 'ws STATIC title-shop': 1, 'ws STATIC title-market': 1 }
    expect(await countsOf(scene, TITLE)).toEqual(before)
    socket.drain()
    await written()
    expect(await countsOf(scene, TITLE)).toEqual({ ...before, 'ws STATIC title-bazaar': 1 })
    expect(await countsOf(scene, BANNER)).toEqual({ 'ws TARGETING_MATCH banner-other': 1 })
  })

  it('In process, all is counted for every flag, and detail only for the requested flag', async () => {
    const { flags, live } = scene
    await flags.allOrThrow(live, pro)
    await flags.detailOrThrow(live, 'title', free)
    await flags.detail(live, 'no such flag', free, null)
    await written()
    expect(await countsOf(scene, BANNER)).toEqual({ 'sdk TARGETING_MATCH banner-other': 1 })
    expect(await countsOf(scene, TITLE)).toEqual({ 'sdk STATIC title-shop': 2 })
    expect(await apiUsage(scene)).toBe(3)
  })

  it('An explanation is not counted', async () => {
    const { memory, live } = scene
    const managed = createManagedServer({ ...memory, storage: shared(memory.storage) })
    const actor = { id: 'a', email: '', name: '', role: 'platform', orgId: null } as const
    const params = { projectId: live.projectId, environmentId: live.environmentId }
    const explained = managed.as(actor).explainEvaluation({ params, body: { context: pro } })
    expect((await explained).flags).toHaveLength(2)
    await written()
    expect(await countsOf(scene, BANNER)).toEqual({})
    expect(await apiUsage(scene)).toBe(0)
  })

  it('An event that is reported with a client key is counted in its minute', async () => {
    const { flags, live, clock } = scene
    await clock.advance(120_000)
    const event = { flag_key: 'title', variation_key: 'shop', reason: 'STATIC', from: MINUTE }
    const body = { events: [{ ...event, count: 7 }] }
    expect((await call(flags, '/evaluator/events', { key: live.sdkKey, body })).status).toBe(200)
    await written()
    const first = { from: MINUTE, to: '2030-01-01T00:01:00.000Z' }
    expect(await countsOf(scene, TITLE, first)).toEqual({ 'client STATIC title-shop': 7 })
  })
})

describe('evaluation counts', () => {
  it('An evaluation is counted in its minute even if it is written later', async () => {
    const { flags, live, clock } = scene
    await clock.advance(59_500)
    await evaluate(flags, live.sdkKey, pro)
    await clock.advance(700)
    await evaluate(flags, live.sdkKey, pro)
    await evaluate(flags, live.sdkKey, pro)
    await written()
    const middle = '2030-01-01T00:01:00.000Z'
    const first = await countsOf(scene, TITLE, { from: MINUTE, to: middle })
    const second = await countsOf(scene, TITLE, { from: middle, to: '2030-01-01T00:02:00.000Z' })
    expect([first, second]).toEqual([
      { 'rest STATIC title-shop': 1 },
      { 'rest STATIC title-shop': 2 },
    ])
  })

  it('The counts are complete if flags change between evaluations', async () => {
    const { flags, live } = scene
    await evaluate(flags, live.sdkKey, pro)
    await rename('market')
    await evaluate(flags, live.sdkKey, pro)
    await publish(scene.memory, live.environmentId, flagChange(textFlag('a-first', 'x')), {
      kind: 'flag',
      id: TITLE,
      definition: null,
    })
    await evaluate(flags, live.sdkKey, pro)
    await written()
    expect(await countsOf(scene, TITLE)).toEqual({
      'rest STATIC title-market': 1,
      'rest STATIC title-shop': 1,
    })
    expect(await countsOf(scene, BANNER)).toEqual({ 'rest TARGETING_MATCH banner-other': 3 })
    expect(await countsOf(scene, 'flag-a-first')).toEqual({ 'rest STATIC a-first-x': 1 })
  })

  it('The counts distinguish inactive flags from flags with an error', async () => {
    const { flags, live, memory } = scene
    await publish(
      memory,
      live.environmentId,
      flagChange({ ...textFlag('off', 'x'), isActive: false }),
      flagChange({ ...textFlag('broken', 'x'), defaultVariationId: 'gone' }),
    )
    await evaluate(flags, live.sdkKey, pro)
    await written()
    expect(await countsOf(scene, 'flag-off')).toEqual({ 'rest DISABLED off-x': 1 })
    expect(await countsOf(scene, 'flag-broken')).toEqual({ 'rest ERROR null': 1 })
  })

  it('The counts include the duration of the evaluations', async () => {
    const { flags, live, memory } = scene
    let now = 0
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 0.25
      return now
    })
    onTestFinished(() => spy.mockRestore())
    for (let round = 0; round < 200; round += 1) await evaluate(flags, live.sdkKey, pro)
    await written()
    const query = { environmentId: live.environmentId, flagId: TITLE, from: MINUTE, to: '2031' }
    const [total] = await memory.storage.loadEvaluationCounts(query)
    expect(total?.count).toBe(200)
    expect(total?.micros).toBe(200 * 250)
  })
})

describe('api_usage', () => {
  it('The usage of an organization grows without a new revision or an audit entry', async () => {
    const { flags, live, memory, orgId } = scene
    const before = await memory.storage.find('organization', orgId)
    for (let round = 0; round < 3; round += 1) await evaluate(flags, live.sdkKey, pro)
    await written()
    expect(await apiUsage(scene)).toBe(3)
    expect(await memory.storage.find('organization', orgId)).toEqual(before)
    expect((await memory.storage.list('auditEvent', {})).total).toBe(0)
  })

  it('Refused requests do not add to the usage of an organization', async () => {
    const { flags, live } = scene
    expect((await evaluate(flags, live.sdkKey, { kind: '' })).status).toBe(400)
    expect((await evaluate(flags, 'ff_', pro)).status).toBe(401)
    await written()
    expect(await apiUsage(scene)).toBe(0)
  })
})

describe('last_evaluated_at', () => {
  const flagRecord: Omit<Records['flag'], 'projectId'> = {
    ...{ id: TITLE, key: 'title', name: 'title', description: '', type: 'string', tags: [] },
    ...{
      clientVisible: true,
      archivedAt: null,
      lastEvaluatedAt: null,
      deletedAt: null,
      revision: 4,
    },
    ...{ createdAt: MINUTE, updatedAt: MINUTE, summary: null, marks: [], unusedSince: MINUTE },
  }
  const lastEvaluatedAt = async () => {
    const flag = await scene.memory.storage.find('flag', TITLE)
    expect(flag).toMatchObject({ revision: 4, updatedAt: MINUTE })
    if (flag?.unusedSince !== MINUTE) expect(flag?.unusedSince).toBe(flag?.lastEvaluatedAt)
    return flag?.lastEvaluatedAt
  }

  it('The time of the last evaluation of a flag is rounded down to a multiple of 15 minutes', async () => {
    const { flags, live, clock, memory, store } = scene
    await memory.storage.insert('flag', { ...flagRecord, projectId: live.projectId })
    const evaluated = async () => {
      await evaluate(flags, live.sdkKey, pro)
      await written()
      return lastEvaluatedAt()
    }
    expect(await lastEvaluatedAt()).toBeNull()
    await clock.advance(60_000 * 17)
    expect(await evaluated()).toBe('2030-01-01T00:15:00.000Z')
    store.calls.length = 0
    await clock.advance(60_000 * 10)
    expect(await evaluated()).toBe('2030-01-01T00:15:00.000Z')
    await clock.advance(60_000 * 5)
    expect(await evaluated()).toBe('2030-01-01T00:30:00.000Z')
  })

  it('The time of the last evaluation of a flag never moves backwards', async () => {
    const { flags, live, memory } = scene
    const later = '2030-01-01T05:00:00.000Z'
    const record = { ...flagRecord, projectId: live.projectId, lastEvaluatedAt: later }
    await memory.storage.insert('flag', record)
    await evaluate(flags, live.sdkKey, pro)
    await written()
    expect(await lastEvaluatedAt()).toBe(later)
  })
})
