import { contextHash } from '@ff/core/fingerprint'
import type { Environment } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { evaluate, poll } from '../call.ts'
import { settle } from '../fake-clock.ts'
import { flagChange, publish, textFlag } from '../seed.ts'
import {
  apiUsage,
  contextsIn,
  countsOf,
  free,
  lossesOf,
  MINUTE,
  openClient,
  openScene,
  pro,
  type Scene,
  TITLE,
} from './usage-scene.ts'

let scene: Scene

beforeEach(async () => {
  scene = await openScene()
  return () => scene.flags.close()
})

const written = () => scene.clock.advance(1000)
const kept = () => contextsIn(scene.memory.storage)
const say = (context: unknown) => evaluate(scene.flags, scene.live.sdkKey, context)

const losses = () => lossesOf(scene)

async function choose(contextPrivacy: Environment['contextPrivacy']): Promise<void> {
  const { environmentId } = scene.live
  const { revision = 0 } = (await scene.memory.storage.find('environment', environmentId)) ?? {}
  const changes = { contextPrivacy, revision: revision + 1 }
  await scene.memory.storage.update('environment', environmentId, changes)
  await scene.clock.advance(10_000)
}

describe('Context samples', () => {
  it('A sampled context is one record with a count, times and the source', async () => {
    const { clock, live, orgId } = scene
    await say(pro)
    await clock.advance(400)
    await say(pro)
    await written()
    await clock.advance(60_000)
    await say({ plan: 'pro', key: 'user-1', kind: 'user' })
    await written()
    expect(await kept()).toEqual([
      {
        id: expect.any(String),
        environmentId: live.environmentId,
        orgId,
        hash: contextHash(pro),
        contextJson: pro,
        kind: 'user',
        key: 'user-1',
        firstSeen: MINUTE,
        lastSeen: '2030-01-01T00:01:01.400Z',
        seenCount: 3,
        evaluationSuccess: true,
        source: 'rest',
        reducedBy: 1,
        settingsRevision: 1,
        deletedAt: null,
      },
    ])
  })

  it('A context is sampled over every transport, but not if nothing is evaluated or only changes are sent', async () => {
    const { flags, live, memory } = scene
    const seen = async () => {
      await written()
      return (await kept()).map(({ key, source, seenCount }) => `${key} ${source} ${seenCount}`)
    }
    await openClient(scene)
    await publish(memory, live.environmentId, flagChange(textFlag('title', 'market')))
    expect(await seen()).toEqual(['user-1 ws 1'])
    await poll(flags, live.sdkKey, { context: free, since: '"0.0-x-x"' })
    expect(await seen()).toEqual(['user-1 ws 1', 'user-2 poll 1'])
    await flags.allOrThrow(live, pro)
    expect(await seen()).toEqual(['user-1 sdk 2', 'user-2 poll 1'])
    const tag = (await say(free)).headers.get('etag')
    await evaluate(flags, live.sdkKey, free, { 'if-none-match': tag })
    expect(await seen()).toEqual(['user-1 sdk 2', 'user-2 rest 2'])
  })

  it('A context for which a single flag was evaluated is sampled', async () => {
    await scene.flags.detailOrThrow(scene.live, 'title', pro)
    await written()
    expect(await kept()).toMatchObject([{ evaluationSuccess: true, source: 'sdk' }])
  })

  it.each([
    ['short', pro],
    ['long', { ...pro, plan: 'p'.repeat(2000) }],
  ])(
    'Equal %s contexts that the application evaluates are one sample, also with those of requests',
    async (_length, context) => {
      const { flags, live } = scene
      await flags.value(live, 'banner', context, '')
      await flags.value(live, 'title', { ...context }, '')
      await flags.all(live, { ...context })
      await flags.value(live, 'banner', { ...context, plan: `${context.plan}s` }, '')
      await say(context)
      await written()
      const samples = (await kept()).map(({ contextJson, seenCount }) => [contextJson, seenCount])
      expect(samples).toHaveLength(2)
      expect(samples).toContainEqual([context, 4])
      expect(samples).toContainEqual([{ ...context, plan: `${context.plan}s` }, 1])
    },
  )

  it('A sample is unsuccessful if the evaluation of a flag ends in an error', async () => {
    const broken = { ...textFlag('broken', 'x'), defaultVariationId: 'gone' }
    await publish(scene.memory, scene.live.environmentId, flagChange(broken))
    await say(pro)
    await written()
    expect(await kept()).toMatchObject([
      {
        evaluationSuccess: false,
      },
    ])
  })

  it('A sample contains the context at the time of the evaluation, even if the caller changes it later', async () => {
    const context = { ...pro }
    await scene.flags.allOrThrow(scene.live, context)
    context.key = 'somebody else'
    await written()
    expect(await kept()).toMatchObject([{ key: 'user-1', contextJson: pro }])
  })

  it.each([
    [{}, '', ''],
    [{ kind: 'device', key: 7 }, 'device', '7'],
    [{ kind: 'user' }, 'user', ''],
    [{ kind: 'multi', organization: { key: 'acme' }, user: { key: 'u-1' } }, 'multi', 'u-1'],
    [{ kind: 'multi', organization: { key: 'acme' } }, 'multi', ''],
  ])('The sample of the context %j has the kind %j and the key %j', async (context, kind, key) => {
    await say(context)
    await written()
    expect(await kept()).toMatchObject([{ contextJson: context, kind, key }])
  })
})

describe('Context privacy', () => {
  const email = { ...pro, email: 'user@example.com', visits: 3 }

  it('By default, samples contain the kind, the key and the attributes that rules read', async () => {
    await say(email)
    await say({ ...email, visits: 4 })
    await written()
    expect(await kept()).toMatchObject([{ contextJson: pro, hash: contextHash(pro), seenCount: 2 }])
  })

  it('Samples contain an attribute after a rule that reads it was published', async () => {
    const rule = { conditions: [{ attribute: 'visits', operator: 'gt', value: '5' }] }
    const title = flagChange(textFlag('title', 'shop', [rule]))
    await publish(scene.memory, scene.live.environmentId, title)
    await say(email)
    await written()
    expect(await kept()).toMatchObject([{ contextJson: { ...pro, visits: 3 } }])
  })

  it('With the privacy "all", samples contain the whole context', async () => {
    await say(pro)
    await choose('all')
    await say(email)
    await say({ ...email, visits: 4 })
    await written()
    const visits = (await kept()).map(({ contextJson }) => Object(contextJson).visits)
    expect(new Set(visits)).toEqual(new Set([undefined, 3, 4]))
  })

  it('With the privacy "none", contexts are not sampled, but evaluations are counted', async () => {
    await say(pro)
    await written()
    await choose('none')
    await say(free)
    await written()
    expect((await kept()).map(({ key }) => key)).toEqual(['user-1'])
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 2 })
    expect(await losses()).toMatchObject({ contexts: 0 })
  })
})

describe('Limits of context samples', () => {
  const users = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ ...pro, key: `user-${from + index}` }))

  it('At most a hundred new contexts are sampled per batch, and the others are dropped and counted', async () => {
    for (const context of users(0, 130)) await say(context)
    await say(users(0, 1)[0])
    await written()
    expect(await kept()).toHaveLength(100)
    expect(await losses()).toMatchObject({ contexts: 30, evaluations: 0 })
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 131 })
    for (const context of users(100, 130)) await say(context)
    await written()
    expect(await kept()).toHaveLength(130)
    expect(await losses()).toMatchObject({ contexts: 30 })
  })

  it('Stored contexts do not count towards the limit of new contexts', async () => {
    for (const context of users(0, 100)) await say(context)
    await written()
    for (const context of users(0, 200)) await say(context)
    await written()
    const records = await kept()
    expect(records).toHaveLength(200)
    expect(records.filter(({ seenCount }) => seenCount === 2)).toHaveLength(100)
    expect(await losses()).toMatchObject({ contexts: 0 })
  })

  it('Contexts that differ only in attributes that no rule reads share one sample', async () => {
    for (let visits = 0; visits < 300; visits += 1) await say({ ...pro, visits })
    await written()
    expect(await kept()).toMatchObject([{ seenCount: 300 }])
  })

  it('Contexts that are too large are not sampled', async () => {
    await say({ ...pro, plan: Array(3).fill('k'.repeat(8000)) })
    await written()
    expect(await kept()).toEqual([])
    expect(await losses()).toMatchObject({ contexts: 1 })
  })
})

describe('Usage of a deleted environment', () => {
  it('The usage of a deleted environment is dropped', async () => {
    await say(pro)
    const deletedAt = MINUTE
    await scene.memory.storage.update('environment', scene.live.environmentId, { deletedAt })
    await written()
    await settle()
    expect(await kept()).toEqual([])
    expect(await apiUsage(scene)).toBe(0)
    expect(await losses()).toMatchObject({ contexts: 1, requests: 1, pending: 0 })
  })
})
