import type { Fetch } from '@ff/client'
import { createLocalClient } from '@ff/client/node'
import {
  type EvaluationContext,
  OpenFeature,
  ProviderEvents,
  ServerProviderStatus,
} from '@openfeature/server-sdk'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLocalScene, type LocalScene } from '../../client/test/local/local-scene.ts'
import { until } from '../../server/test/fake-clock.ts'
import { flagChange, textFlag } from '../../server/test/seed.ts'
import { createFlagProvider } from '../src/server.ts'
import { startFlagServer } from './flag-server.ts'

const user = { targetingKey: 'u1' }
const pro = { targetingKey: 'u2', plan: 'pro' }
const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }
const evaluator = OpenFeature.getClient()
const events: unknown[] = []

/** Notes the events of OpenFeature. */
function noteEvents(): void {
  events.length = 0
  for (const type of Object.values(ProviderEvents)) {
    OpenFeature.addHandler(type, (details) => {
      const { flagsChanged } = { ...details } as { readonly flagsChanged?: readonly string[] }
      events.push(flagsChanged ? [type, ...flagsChanged] : type)
    })
  }
}

const bannerOf = (context: EvaluationContext = user) =>
  evaluator.getStringDetails('banner', 'default', context)

afterEach(async () => {
  vi.useRealTimers()
  OpenFeature.clearHandlers()
  await OpenFeature.clearProviders()
})

describe('the provider of the server SDK, over HTTP', () => {
  it('Evaluations need no request, follow changes, and are reported to the server.', async () => {
    const server = await startFlagServer(textFlag('banner', 'hello', [proRule]))
    const requests: string[] = []
    const counts: unknown[] = []
    const send: Fetch = (url, init) => {
      requests.push(url)
      if (url.endsWith('/events')) counts.push(...JSON.parse(init.body ?? '{}').events)
      return fetch(url, init as RequestInit)
    }
    const client = createLocalClient({ url: server.url, sdkKey: server.serverKey, fetch: send })
    await OpenFeature.setProviderAndWait(createFlagProvider(client))
    noteEvents()
    await until(() => client.status.connection === 'socket')
    const before = requests.length
    expect(await bannerOf()).toMatchObject({
      ...{ value: 'hello', variant: 'hello', reason: 'DEFAULT' },
      flagMetadata: { version: 1 },
    })
    expect(await bannerOf(pro)).toMatchObject({
      ...{ value: 'other', variant: 'other', reason: 'TARGETING_MATCH' },
      flagMetadata: { version: 1, ruleId: 'rule-banner-0' },
    })
    expect(requests).toHaveLength(before)
    await server.publish(textFlag('banner', 'changed', [proRule]))
    await until(() => events.length > 1)
    expect(events).toEqual([ProviderEvents.Ready, [ProviderEvents.ConfigurationChanged, 'banner']])
    expect(await bannerOf()).toMatchObject({ value: 'changed' })
    await OpenFeature.clearProviders()
    const total = counts.reduce((sum: number, event) => sum + (event as { count: number }).count, 0)
    expect(total).toBe(3)
    expect(client.status.connection).toBe('closed')
    await server.stop()
  })
})

describe('the provider of the server SDK', () => {
  /** Sets a provider of a new scene. The timers of the provider are fake. */
  async function use(prepare: (scene: LocalScene) => void = () => {}): Promise<LocalScene> {
    const scene = await createLocalScene()
    await scene.publish(flagChange(textFlag('banner', 'hello', [proRule])))
    prepare(scene)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const set = OpenFeature.setProviderAndWait(createFlagProvider(scene.create()))
    set.catch(() => {})
    await scene.clock.advance(6000)
    await set
    return scene
  }

  it('A provider is stale after 30 seconds without a connection, and ready with the next one.', async () => {
    const scene = await use()
    noteEvents()
    scene.network.down()
    await scene.clock.advance(1000)
    await vi.advanceTimersByTimeAsync(29_999)
    expect(evaluator.providerStatus).toBe(ServerProviderStatus.READY)
    await vi.advanceTimersByTimeAsync(1)
    expect(evaluator.providerStatus).toBe(ServerProviderStatus.STALE)
    expect(await bannerOf()).toMatchObject({ value: 'hello', reason: 'DEFAULT' })
    scene.network.isDown = false
    await scene.clock.advance(60_000)
    expect(evaluator.providerStatus).toBe(ServerProviderStatus.READY)
    const { Ready, Stale } = ProviderEvents
    expect(events).toEqual([Ready, Stale, Ready])
    await scene.close()
  })

  it('A provider has an error only if the server refuses the SDK key, and recovers.', async () => {
    let scene: LocalScene | undefined
    const refuse = (created: LocalScene) => {
      scene = created
      created.network.script = () => new Response('{}', { status: 401 })
    }
    await expect(use(refuse)).rejects.toThrow('refuses the SDK key')
    expect(evaluator.providerStatus).toBe(ServerProviderStatus.ERROR)
    expect(await bannerOf()).toMatchObject({ value: 'default', errorCode: 'PROVIDER_NOT_READY' })
    if (scene === undefined) throw new Error('The scene was not created.')
    scene.network.script = () => undefined
    await scene.clock.advance(400_000)
    expect(evaluator.providerStatus).toBe(ServerProviderStatus.READY)
    expect(await bannerOf()).toMatchObject({ value: 'hello' })
    await scene.close()
  })

  it('Without a server at the start, a provider is stale and has default values until the server responds.', async () => {
    const scene = await use(({ network }) => network.down())
    await vi.advanceTimersByTimeAsync(0)
    expect(evaluator.providerStatus).toBe(ServerProviderStatus.STALE)
    expect(await bannerOf()).toMatchObject({ value: 'default', errorCode: 'PROVIDER_NOT_READY' })
    noteEvents()
    scene.network.isDown = false
    await scene.clock.advance(60_000)
    const { ConfigurationChanged, Ready, Stale } = ProviderEvents
    expect(events).toEqual([Stale, [ConfigurationChanged, 'banner'], Ready])
    await scene.close()
  })

  it('A provider whose flag set comes from a file is ready.', async () => {
    const scene = await createLocalScene()
    await scene.publish(flagChange(textFlag('banner', 'hello')))
    const client = scene.create({ sources: [() => scene.stored()] })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await OpenFeature.setProviderAndWait(createFlagProvider(client))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(evaluator.providerStatus).toBe(ServerProviderStatus.READY)
    expect(await bannerOf()).toMatchObject({ value: 'hello', reason: 'STATIC' })
    await scene.close()
  })

  it('Dates and nested values are evaluated as the server would receive them.', async () => {
    const since = { attribute: 'since', operator: 'eq', value: '2030-01-01T00:00:00.000Z' }
    const scene = await use()
    vi.useRealTimers()
    await scene.publish(flagChange(textFlag('banner', 'changed', [{ conditions: [since] }])))
    while ((await bannerOf()).value !== 'changed') await scene.clock.advance(1000)
    const at = new Date('2030-01-01T00:00:00.000Z')
    expect(await bannerOf({ ...user, since: at })).toMatchObject({ value: 'other' })
    const context = { kind: 'multi', user: { key: 'u1', since: at }, org: { key: 'o1' } }
    expect(await bannerOf(context)).toMatchObject({ value: 'other' })
    await scene.close()
  })

  it('A context that is not valid becomes an error of the evaluation, and nothing throws.', async () => {
    const scene = await use()
    const circular: Record<string, unknown> = { targetingKey: 'u1' }
    circular['self'] = circular
    for (const context of [{ kind: 7 }, { kind: null }, { ...user, when: { big: 1n } }, circular]) {
      const details = await bannerOf(context as EvaluationContext)
      expect(details).toMatchObject({ value: 'default', errorCode: 'INVALID_CONTEXT' })
    }
    await scene.close()
  })

  it('A provider that is closed at any time leaves no timer, and OpenFeature gets an error at most.', async () => {
    const scene = await createLocalScene()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    for (let turns = 0; turns < 12; turns += 1) {
      for (const isDown of [false, true]) {
        scene.network.isDown = isDown
        const provider = createFlagProvider(scene.create())
        const outcome = Promise.resolve(provider.initialize?.()).catch((error) => error.code)
        if (turns % 2 === 1) await scene.clock.advance(turns * 600)
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
        const closed = [provider.onClose?.(), provider.onClose?.()]
        await scene.clock.advance(6000)
        await Promise.all(closed)
        expect([undefined, 'PROVIDER_FATAL']).toContain(await outcome)
        const details = await provider.resolveNumberEvaluation('count', 1, user, console)
        expect(details.value).toBe(1)
        expect([scene.timers.size, vi.getTimerCount()]).toEqual([0, 0])
      }
    }
    await scene.close()
  })
})
