import { memoryCache } from '@ff/client'
import { createFlagClient } from '@ff/client/node'
import { createTestClient } from '@ff/client/testing'
import {
  ClientProviderStatus,
  type EvaluationContext,
  OpenFeature,
  ProviderEvents,
} from '@openfeature/web-sdk'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createScene, type Scene } from '../../client/test/scene.ts'
import { until } from '../../server/test/fake-clock.ts'
import { textFlag } from '../../server/test/seed.ts'
import { createFlagProvider } from '../src/web.ts'
import { startFlagServer } from './flag-server.ts'

const user = { targetingKey: 'u1' }
const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }
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

const evaluator = OpenFeature.getClient()
const themeOf = () => evaluator.getStringDetails('theme', 'default')

afterEach(async () => {
  vi.useRealTimers()
  OpenFeature.clearHandlers()
  await OpenFeature.clearProviders()
  await OpenFeature.clearContexts()
})

describe('the provider of the web SDK, over HTTP', () => {
  it('A change of a flag becomes an event with its key, and other flags keep their values.', async () => {
    const server = await startFlagServer(textFlag('theme', 'light', [proRule]), textFlag('a', 'b'))
    const client = createFlagClient({ url: server.url, sdkKey: server.clientKey })
    await OpenFeature.setProviderAndWait(createFlagProvider(client), user)
    noteEvents()
    expect(themeOf()).toMatchObject({
      value: 'light',
      reason: 'UNKNOWN',
      flagMetadata: { version: 1 },
    })
    await until(() => client.status.connection === 'socket')
    await server.publish(textFlag('theme', 'dark', [proRule]))
    await until(() => events.length > 1)
    expect(events).toEqual([ProviderEvents.Ready, [ProviderEvents.ConfigurationChanged, 'theme']])
    expect(themeOf().value).toBe('dark')
    await OpenFeature.setContext({ ...user, plan: 'pro' })
    expect(themeOf().value).toBe('other')
    expect(events.slice(2)).toEqual([ProviderEvents.Reconciling, ProviderEvents.ContextChanged])
    await OpenFeature.clearProviders()
    expect(client.status.connection).toBe('closed')
    await server.stop()
  })
})

describe('the provider of the web SDK', () => {
  let scene: Scene

  const use = async (options: Parameters<typeof createScene>[0] = {}, prepare = () => {}) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    scene = createScene({ context: {}, ...options }, (server) => {
      prepare()
      prepareServer(server)
    })
    const set = OpenFeature.setProviderAndWait(createFlagProvider(scene.client), user)
    await scene.time.advance(6000)
    return set
  }
  let prepareServer: (server: Scene['server']) => void = () => {}

  beforeEach(() => {
    prepareServer = () => {}
  })

  it('A provider is stale after 30 seconds without a connection, and ready with the next one.', async () => {
    await use()
    noteEvents()
    scene.server.stop()
    await scene.time.advance(1000)
    await vi.advanceTimersByTimeAsync(29_999)
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.READY)
    await vi.advanceTimersByTimeAsync(1)
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.STALE)
    expect(themeOf().value).toBe('light')
    // OpenFeature sets its status after a change of the context.
    void OpenFeature.setContext({ ...user, plan: 'pro' })
    await scene.time.advance(100)
    await vi.advanceTimersByTimeAsync(0)
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.STALE)
    expect(themeOf()).toMatchObject({ value: 'light', reason: 'STALE' })
    scene.server.state = 'up'
    await scene.time.advance(60_000)
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.READY)
    expect(themeOf()).toMatchObject({ value: 'light', reason: 'UNKNOWN' })
    expect(events).toContain(ProviderEvents.Stale)
    expect(events).not.toContain(ProviderEvents.Error)
    expect(events.at(-1)).toBe(ProviderEvents.Ready)
  })

  it('A short interruption is not reported.', async () => {
    await use()
    noteEvents()
    scene.server.drop()
    await scene.time.advance(20_000)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(events).toEqual([ProviderEvents.Ready])
  })

  it('A provider has an error while the server refuses the SDK key, and keeps the known values.', async () => {
    await use()
    noteEvents()
    scene.server.script = () => ({ status: 401 })
    scene.server.hasSockets = false
    scene.server.drop()
    await scene.time.advance(60_000)
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.ERROR)
    expect(themeOf().value).toBe('light')
    scene.server.script = () => undefined
    await scene.time.advance(400_000)
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.READY)
    expect(events.filter((event) => event === ProviderEvents.Error)).toHaveLength(1)
  })

  it('The initialization rejects if the server refuses the SDK key, and the provider recovers.', async () => {
    prepareServer = (server) => {
      server.script = () => ({ status: 401 })
      server.hasSockets = false
    }
    await expect(use()).rejects.toThrow('refuses the SDK key')
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.ERROR)
    expect(themeOf()).toMatchObject({ value: 'default', errorCode: 'PROVIDER_NOT_READY' })
    scene.server.script = () => undefined
    await scene.time.advance(400_000)
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.READY)
    expect(themeOf().value).toBe('light')
  })

  it('Without a server at the start, a provider is stale and has default values until the server responds.', async () => {
    prepareServer = (server) => server.stop()
    await use()
    await vi.advanceTimersByTimeAsync(0)
    noteEvents()
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.STALE)
    expect(themeOf()).toMatchObject({ value: 'default', errorCode: 'PROVIDER_NOT_READY' })
    scene.server.state = 'up'
    await scene.time.advance(60_000)
    expect(events).toEqual([
      ProviderEvents.Stale,
      [ProviderEvents.ConfigurationChanged, 'theme', 'new-checkout', 'whoami'],
      ProviderEvents.Ready,
    ])
    expect(themeOf().value).toBe('light')
  })

  it('A change of the context during the initialization does not make the provider ready.', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    scene = createScene({ context: {} }, (server) => server.stop())
    const set = OpenFeature.setProviderAndWait(createFlagProvider(scene.client), user)
    await scene.time.advance(100)
    const change = OpenFeature.setContext({ targetingKey: 'u2' })
    await scene.time.advance(100)
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.RECONCILING)
    await scene.time.advance(6000)
    await Promise.all([set, change])
    await vi.advanceTimersByTimeAsync(0)
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.STALE)
  })

  it('A change of the context to cached values takes no time, and another one reconciles.', async () => {
    await use({ cache: memoryCache() })
    await scene.time.advance(2000)
    noteEvents()
    const setContext = async (context: EvaluationContext) => {
      const change = OpenFeature.setContext(context)
      const status = evaluator.providerStatus
      const whoami = evaluator.getStringDetails('whoami', 'nobody')
      await scene.time.advance(2000)
      await change
      return [status, whoami.value, whoami.reason]
    }
    const { READY, RECONCILING } = ClientProviderStatus
    expect(await setContext({ targetingKey: 'u2' })).toEqual([RECONCILING, 'u1', 'STALE'])
    expect(await setContext(user)).toEqual([READY, 'u1', 'CACHED'])
    expect(await setContext(user)).toEqual([READY, 'u1', 'UNKNOWN'])
    expect(evaluator.getStringValue('whoami', 'nobody')).toBe('u1')
    const changed = ProviderEvents.ContextChanged
    expect(events.slice(1)).toEqual([ProviderEvents.Reconciling, changed, changed, changed])
  })

  it('A change of the context in the middle of another one ends with the values of the last one.', async () => {
    await use()
    noteEvents()
    const changes = ['u2', 'u3', 'u4'].map((targetingKey) =>
      OpenFeature.setContext({ targetingKey }),
    )
    await scene.time.advance(1000)
    await Promise.all(changes)
    expect(evaluator.getStringValue('whoami', 'nobody')).toBe('u4')
    expect(evaluator.providerStatus).toBe(ClientProviderStatus.READY)
    expect(events.at(-1)).toBe(ProviderEvents.ContextChanged)
  })

  it('Values for a new context that arrive after a failure are a change of the configuration.', async () => {
    await use()
    scene.server.stop()
    await scene.time.advance(1000)
    noteEvents()
    const change = OpenFeature.setContext({ targetingKey: 'u2' })
    await scene.time.advance(100)
    await change
    expect(evaluator.getStringDetails('whoami', '')).toMatchObject({ value: 'u1', reason: 'STALE' })
    scene.server.state = 'up'
    await scene.time.advance(60_000)
    expect(evaluator.getStringValue('whoami', '')).toBe('u2')
    expect(events).toContainEqual([ProviderEvents.ConfigurationChanged, 'whoami'])
  })

  it('A context that is not valid becomes an error of each evaluation, and nothing throws.', async () => {
    await use()
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    for (const context of [
      { kind: 7 },
      { targetingKey: 'u1', ...circular },
      { targetingKey: 'u1', big: 1n },
      { kind: null },
    ]) {
      await OpenFeature.setContext(context as EvaluationContext)
      expect(themeOf()).toMatchObject({ value: 'default', errorCode: 'INVALID_CONTEXT' })
    }
    const change = OpenFeature.setContext(user)
    await scene.time.advance(1000)
    await change
    expect(themeOf().value).toBe('light')
  })

  it('A removed flag keeps its last known value.', async () => {
    await use()
    scene.server.publish({}, ['theme'])
    expect(themeOf()).toMatchObject({ value: 'light', reason: 'STALE' })
  })

  it('Values of a session that overrides flags are static.', async () => {
    await use({ overrides: '?ff.theme=red' })
    expect(themeOf()).toMatchObject({ value: 'red', reason: 'STATIC' })
  })

  it('A provider that is closed at any time leaves no timer, and OpenFeature gets an error at most.', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    for (let turns = 0; turns < 12; turns += 1) {
      for (const isDown of [false, true]) {
        const started = createScene({}, (server) => isDown && server.stop())
        const provider = createFlagProvider(started.client)
        const outcome = Promise.resolve(provider.initialize?.(user)).catch((error) => error.code)
        const changed = provider.onContextChange?.(user, { targetingKey: 'u2' })
        if (turns % 2 === 1) await started.time.advance(turns * 600)
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
        await provider.onClose?.()
        await provider.onClose?.()
        await changed
        expect([undefined, 'PROVIDER_FATAL']).toContain(await outcome)
        await provider.onContextChange?.(user, {})
        expect(provider.resolveNumberEvaluation('limit', 1, {}, console).value).toBe(1)
        expect([started.timers, vi.getTimerCount()]).toEqual([0, 0])
      }
    }
  })

  it('A provider that is closed emits no events.', async () => {
    await use()
    const provider = OpenFeature.getProvider()
    const seen: unknown[] = []
    provider.events?.addHandler(ProviderEvents.ConfigurationChanged, () => seen.push('changed'))
    scene.client.freeze()
    scene.server.publish({ theme: 'dark' })
    await OpenFeature.clearProviders()
    scene.client.unfreeze()
    expect([scene.client.value('theme'), seen]).toEqual(['dark', []])
  })

  it('A test client is a provider without a server.', async () => {
    const client = createTestClient({ types: {} }, { theme: 'dark' } as never)
    await OpenFeature.setProviderAndWait(createFlagProvider(client))
    expect(themeOf().value).toBe('dark')
  })
})
