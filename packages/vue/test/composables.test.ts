import { createFlagClient, type FlagClientOptions, memoryCache } from '@ff/client'
import { createTestClient } from '@ff/client/testing'
import { expect, expectTypeOf, it, vi } from 'vitest'
import {
  createApp,
  createSSRApp,
  defineComponent,
  effectScope,
  h,
  nextTick,
  ref,
  type ShallowRef,
  watchSyncEffect,
} from 'vue'
import { renderToString } from 'vue/server-renderer'
import { FakeServer } from '../../client/test/fake-server.ts'
import { FakeTime, seededRandom } from '../../client/test/fake-time.ts'
import { CONTEXT, countedClock, FakePage, flags, type Values } from '../../client/test/scene.ts'
import { createFlags, type ProvidedFlags } from '../src/index.ts'

function createScene() {
  const time = new FakeTime()
  const server = new FakeServer(time)
  const page = new FakePage()
  const clock = countedClock(time)
  const options = {
    url: 'http://flags.test',
    sdkKey: 'ff_1',
    fetch: server.fetch,
    webSocket: server.webSocket,
    lifecycle: page,
    clock,
    random: seededRandom(1),
  } satisfies Partial<FlagClientOptions<Values>>
  return { time, server, page, clock, options, ...createFlags(flags) }
}

type Scene = ReturnType<typeof createScene>

/** Returns a page with the provided flags, which shows `text`. */
const pageOf = (scene: Scene, provided: () => ProvidedFlags<Values>, text: () => () => string) => {
  const Shown = defineComponent(() => {
    const read = text()
    return () => h('p', read())
  })
  return defineComponent(() => {
    scene.provideFlags(provided())
    return () => h(Shown)
  })
}

/** Mounts a page. Returns its element and a function that removes it. */
function mount(page: ReturnType<typeof pageOf>) {
  const element = document.createElement('div')
  const app = createApp(page)
  app.mount(element)
  return { element, unmount: () => app.unmount() }
}

it('The client of the options is connected with the component, followed, and closed with it.', async () => {
  const scene = createScene()
  const { time, server, clock, page: lifecycle } = scene
  const page = pageOf(
    scene,
    () => ({ options: scene.options, context: CONTEXT }),
    () => {
      const [theme, status] = [scene.useFlag('theme'), scene.useFlagStatus()]
      return () => `${theme.value} ${status.value.connection}`
    },
  )
  const { element, unmount } = mount(page)
  expect(element.textContent).toMatch(/^fallback /)
  await time.advance(100)
  await nextTick()
  expect(element.textContent).toBe('light socket')
  server.publish({ theme: 'dark' })
  await nextTick()
  expect(element.textContent).toBe('dark socket')
  expect(server.attempts.map(({ kind }) => kind)).toEqual(['socket'])
  unmount()
  await time.advance(1000)
  expect([clock.timers, lifecycle.listeners.size, server.open]).toEqual([0, 0, 0])
})

it('A change of the context sets it, and an equal context changes nothing.', async () => {
  const scene = createScene()
  const context = ref<object>(CONTEXT)
  const page = pageOf(
    scene,
    () => ({ options: scene.options, context: () => context.value as never }),
    () => {
      const who = scene.useFlag('whoami')
      return () => who.value
    },
  )
  const { element, unmount } = mount(page)
  await scene.time.advance(100)
  const sent = vi.spyOn([...scene.server.sockets][0] as { send(text: string): void }, 'send')
  context.value = { key: 'u1', kind: 'user' }
  await nextTick()
  expect([element.textContent, sent.mock.calls]).toEqual(['u1', []])
  context.value = { kind: 'user', key: 'u2' }
  await nextTick()
  await scene.time.advance(100)
  await nextTick()
  expect([element.textContent, sent.mock.calls.length]).toEqual(['u2', 1])
  unmount()
})

it('A client of the application is neither connected nor closed, and receives the context.', async () => {
  const scene = createScene()
  const client = createFlagClient({ ...scene.options, flags, connect: false })
  const page = pageOf(
    scene,
    () => ({ client, context: CONTEXT }),
    () => {
      const who = scene.useFlag('whoami')
      return () => who.value
    },
  )
  const { element, unmount } = mount(page)
  expect(client.status.connection).toBe('idle')
  client.connect()
  await scene.time.advance(100)
  await nextTick()
  expect(element.textContent).toBe('u1')
  unmount()
  expect(client.status.connection).toBe('socket')
  client.close()
})

it('While a server renders 1,000 pages, nothing connects and nothing is subscribed.', async () => {
  const scene = createScene()
  const client = createTestClient(flags, { theme: 'dark' })
  const [subscribe, watch] = [vi.spyOn(client, 'subscribe'), vi.spyOn(client, 'watch')]
  const text = () => {
    const [theme, status] = [scene.useFlag('theme'), scene.useFlagStatus()]
    return () => `${theme.value} ${status.value.connection}`
  }
  const snapshot = { flags: { theme: 'red' } }
  const pages = new Set<string>()
  for (let turn = 0; turn < 500; turn += 1) {
    const context = { kind: 'user', key: `u${turn}` }
    const own = pageOf(scene, () => ({ options: scene.options, context, snapshot }), text)
    pages.add(await renderToString(createSSRApp(own)))
    pages.add(await renderToString(createSSRApp(pageOf(scene, () => ({ client }), text))))
  }
  await scene.time.advance(60_000)
  expect([...pages]).toEqual(['<p>red idle</p>', '<p>dark socket</p>'])
  expect([scene.clock.timers, scene.page.listeners.size, scene.server.attempts]).toEqual([0, 0, []])
  expect([subscribe.mock.calls, watch.mock.calls]).toEqual([[], []])
})

it('After a server has rendered a page, also with an asynchronous setup, shared state has no watchers.', async () => {
  const scene = createScene()
  const client = createTestClient(flags, { theme: 'dark' })
  const setContext = vi.spyOn(client, 'setContext')
  const user = ref('u1')
  const page = defineComponent({
    async setup() {
      const theme = scene.useFlag('theme')
      scene.provideFlags({ client, context: () => ({ kind: 'user', key: user.value }) })
      await Promise.resolve()
      return () => h('p', theme.value)
    },
  })
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  expect(await renderToString(createSSRApp(page))).toBe('<p>fallback</p>')
  user.value = 'u2'
  await nextTick()
  expect(setContext).not.toHaveBeenCalled()
  warn.mockRestore()
})

it('The first render in the page equals the HTML, also with a cache and with newer values of the client.', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const scene = createScene()
  const cache = memoryCache()
  const visit = createFlagClient({ ...scene.options, flags, context: CONTEXT, cache })
  await scene.time.advance(3000)
  visit.close()
  scene.server.state = 'blackhole'
  const newer = createTestClient(flags, { theme: 'light' })
  const snapshot = { flags: { theme: 'dark' } }
  const seen: string[] = []
  const text = () => {
    const theme = scene.useFlag('theme')
    return () => {
      seen.push(theme.value)
      return theme.value
    }
  }
  for (const [provided, after] of [
    [{ options: { ...scene.options, cache }, context: CONTEXT, snapshot }, 'dark'],
    [{ options: { ...scene.options, cache }, context: CONTEXT }, 'light'],
    [{ client: newer, snapshot }, 'light'],
  ] as const) {
    const page = pageOf(scene, () => provided, text)
    const element = document.createElement('div')
    element.innerHTML = await renderToString(createSSRApp(page))
    const html = element.textContent ?? ''
    seen.length = 0
    const app = createSSRApp(page)
    app.mount(element)
    expect(seen[0]).toBe(html)
    await nextTick()
    expect(element.textContent).toBe(after)
    app.unmount()
  }
  expect([warn.mock.calls, error.mock.calls]).toEqual([[], []])
  warn.mockRestore()
  error.mockRestore()
})

it('A value cannot be set, keeps the identity of JSON, and changes once for a change.', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const scene = createScene()
  const client = createTestClient(flags, { layout: { columns: 2 } })
  let layout: Readonly<ShallowRef<{ readonly columns: number }>> | undefined
  const seen: unknown[] = []
  const { unmount } = mount(
    pageOf(
      scene,
      () => ({ client }),
      () => {
        const own = scene.useFlag('layout')
        layout = own
        watchSyncEffect(() => void seen.push(own.value))
        return () => ''
      },
    ),
  )
  client.set({ layout: { columns: 2 }, limit: 4 })
  client.set({ layout: { columns: 3 } })
  Reflect.set(layout as object, 'value', 'other')
  expect(seen).toEqual([{ columns: 2 }, { columns: 3 }])
  expect(seen[1]).toBe(client.value('layout'))
  unmount()
  client.set({ layout: { columns: 4 } })
  expect(layout?.value).toEqual({ columns: 3 })
  warn.mockRestore()
})

it('Outside of `provideFlags`, the values are fallbacks, and one warning is written.', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const scene = createScene()
  const page = defineComponent(() => {
    const values = [scene.useFlag('theme'), scene.useFlag('theme', { fallback: 'red' })]
    const status = scene.useFlagStatus()
    const unknown = scene.useFlag('unknown' as never)
    return () =>
      h(
        'p',
        [...values.map(({ value }) => value), status.value.connection, unknown.value].join(' '),
      )
  })
  const { element, unmount } = mount(page as never)
  expect(element.textContent).toBe('fallback red idle ')
  expect(warn).toHaveBeenCalledTimes(1)
  unmount()
  warn.mockRestore()
})

it('A value follows the client until its scope ends, also if that is before the component is mounted.', () => {
  const scene = createScene()
  const client = createTestClient(flags, { theme: 'dark' })
  const [early, late] = [effectScope(true), effectScope(true)]
  const values: Readonly<ShallowRef<string>>[] = []
  const { unmount } = mount(
    pageOf(
      scene,
      () => ({ client }),
      () => {
        for (const scope of [early, late]) scope.run(() => values.push(scene.useFlag('theme')))
        early.stop()
        return () => ''
      },
    ),
  )
  client.set({ theme: 'red' })
  expect(values.map(({ value }) => value)).toEqual(['dark', 'red'])
  late.stop()
  client.set({ theme: 'light' })
  expect(values.map(({ value }) => value)).toEqual(['dark', 'red'])
  unmount()
})

/** Checked by the compiler only. */
export function wrongUses(): void {
  const { provideFlags, useFlag } = createFlags(flags)
  expectTypeOf(useFlag('new-checkout').value).toEqualTypeOf<boolean>()
  // @ts-expect-error The flag is not defined.
  useFlag('thme')
  // @ts-expect-error The fallback is not a value of the flag.
  useFlag('theme', { fallback: 'blue' })
  // @ts-expect-error The flag never has this value.
  void (useFlag('theme').value === 'blue')
  // @ts-expect-error A value cannot be set.
  useFlag('limit').value = 3
  // @ts-expect-error The SDK key is missing.
  provideFlags({ options: { url: 'http://flags.test' } })
}
