import { createFlagClient } from '@ff/client'
import { createTestClient } from '@ff/client/testing'
import { act, type ReactNode, version } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it, vi } from 'vitest'
import { createFlagHooks } from '../src/index.ts'
import { hydrate, render, strict } from './render.tsx'
import { CONTEXT, createScene, flags } from './scene.ts'

it('The tests run with the React of their project.', () => {
  expect(version).toMatch(/^(?:18\.3|19\.3)\./)
})

describe('a provider with options', () => {
  it.each([
    ['without Strict Mode', (node: ReactNode) => node],
    ['in Strict Mode', strict],
  ])(
    '%s, it opens one socket when it is mounted, and leaves nothing when it is removed.',
    async (_, mode) => {
      const scene = createScene()
      const { FlagsProvider, useFlag } = scene.hooks
      const Theme = () => <p>{useFlag('theme')}</p>
      const tree = await render(
        mode(
          <FlagsProvider options={scene.options} context={CONTEXT}>
            <Theme />
          </FlagsProvider>,
        ),
      )
      expect(tree.text).toBe('fallback')
      await scene.advance(5000)
      expect(tree.text).toBe('light')
      expect(scene.server.attempts.map(({ kind }) => kind)).toEqual(['socket'])
      await scene.publish({ theme: 'dark' })
      expect(tree.text).toBe('dark')
      await tree.unmount()
      await scene.advance(1000)
      expect([scene.clock.timers, scene.page.listeners.size, scene.server.open]).toEqual([0, 0, 0])
    },
  )

  it('After 100 mounts and removals, no socket, timer or listener is left.', async () => {
    const scene = createScene()
    const { FlagsProvider, useFlag } = scene.hooks
    const Theme = () => <p>{useFlag('theme')}</p>
    for (let turn = 0; turn < 100; turn += 1) {
      const tree = await render(
        strict(
          <FlagsProvider options={scene.options} context={CONTEXT}>
            <Theme />
          </FlagsProvider>,
        ),
      )
      await scene.advance(turn % 30)
      await tree.unmount()
    }
    await scene.advance(1000)
    expect([scene.clock.timers, scene.page.listeners.size, scene.server.open]).toEqual([0, 0, 0])
  })

  it('While a server renders 1,000 pages, nothing connects.', async () => {
    const scene = createScene()
    const { FlagsProvider, useFlag, useFlagStatus } = scene.hooks
    const Theme = () => (
      <p>
        {useFlag('theme', { suspend: true })} {useFlagStatus().connection}
      </p>
    )
    const pages = new Set<string>()
    for (let turn = 0; turn < 1000; turn += 1) {
      const context = { kind: 'user', key: `u${turn}` }
      const snapshot = { flags: { theme: 'dark' } }
      pages.add(
        renderToString(
          <FlagsProvider options={scene.options} context={context} snapshot={snapshot}>
            <Theme />
          </FlagsProvider>,
        ),
      )
    }
    await scene.advance(60_000)
    expect([...pages].map((page) => page.replace(/<!-- -->/g, ''))).toEqual(['<p>dark idle</p>'])
    expect([scene.clock.timers, scene.page.listeners.size]).toEqual([0, 0])
    expect([scene.server.attempts.length, scene.server.requests.length]).toEqual([0, 0])
  })

  it('A change of the context sets it, equal contexts change nothing, and none is the empty context.', async () => {
    const scene = createScene()
    const { FlagsProvider, useFlag } = scene.hooks
    const Who = () => <p>{useFlag('whoami')}</p>
    const page = (context: { kind: string; key: string } | undefined) =>
      strict(
        <FlagsProvider options={scene.options} context={context}>
          <Who />
        </FlagsProvider>,
      )
    const tree = await render(page(CONTEXT))
    await scene.advance(100)
    expect(tree.text).toBe('u1')
    const sent = vi.spyOn([...scene.server.sockets][0] as { send(text: string): void }, 'send')
    await tree.render(page({ ...CONTEXT }))
    await tree.render(page({ key: 'u1', kind: 'user' }))
    expect(sent).not.toHaveBeenCalled()
    await tree.render(page({ kind: 'user', key: 'u2' }))
    expect([tree.text, sent.mock.calls.length]).toEqual(['u1', 1])
    await scene.advance(100)
    expect(tree.text).toBe('u2')
    await tree.render(page(undefined))
    await scene.advance(100)
    expect(sent.mock.calls.map(([text]) => JSON.parse(text).context)).toEqual([
      { kind: 'user', key: 'u2' },
      {},
    ])
    await tree.unmount()
  })

  it('A log-out with `reset` shows no value of the previous user, also while the context changes.', async () => {
    const scene = createScene()
    const { FlagsProvider, useFlag, useFlagClient } = scene.hooks
    let logOut = () => {}
    const seen: string[] = []
    const Who = ({ onLogOut }: { onLogOut: () => void }) => {
      const client = useFlagClient()
      logOut = () => {
        void client.reset({})
        onLogOut()
      }
      seen.push(useFlag('whoami'))
      return null
    }
    const page = (context: { kind: string; key: string } | undefined) => (
      <FlagsProvider options={scene.options} context={context}>
        <Who onLogOut={() => void tree.render(page(undefined))} />
      </FlagsProvider>
    )
    const tree = await render(page(CONTEXT))
    await scene.advance(100)
    expect(seen.at(-1)).toBe('u1')
    seen.length = 0
    await act(async () => logOut())
    await scene.advance(100)
    expect(seen).not.toContain('u1')
    expect(scene.server.attempts.map(({ kind }) => kind)).toEqual(['socket'])
    await tree.unmount()
  })

  it('An invalid context leaves the values, and the error says so.', async () => {
    const scene = createScene()
    const { FlagsProvider, useFlag, useFlagDetail } = scene.hooks
    const Who = () => (
      <p>
        {useFlag('whoami')} {String(useFlagDetail('whoami').errorCode)}
      </p>
    )
    const page = (context: object) => (
      <FlagsProvider options={scene.options} context={context as never}>
        <Who />
      </FlagsProvider>
    )
    const tree = await render(page(CONTEXT))
    await scene.advance(100)
    for (const wrong of [{ key: 'u2' }, [], { kind: 1n }]) {
      await tree.render(page(wrong))
      await scene.advance(100)
      expect(tree.text).toBe('u1 INVALID_CONTEXT')
    }
    await tree.unmount()
  })
})

describe('a provider with a client', () => {
  it('The client is neither connected nor closed, and its context is set if there is one.', async () => {
    const scene = createScene()
    const { FlagsProvider, useFlag } = scene.hooks
    const client = createFlagClient({ ...scene.options, flags, context: CONTEXT, connect: false })
    const Who = () => <p>{useFlag('whoami')}</p>
    const page = (context?: object) => (
      <FlagsProvider client={client} context={context as never}>
        <Who />
      </FlagsProvider>
    )
    const tree = await render(page())
    await scene.advance(100)
    expect(client.status.connection).toBe('idle')
    client.connect()
    await scene.advance(100)
    expect(tree.text).toBe('u1')
    await tree.render(page({ kind: 'user', key: 'u2' }))
    await scene.advance(100)
    expect(tree.text).toBe('u2')
    await tree.unmount()
    expect(client.status.connection).toBe('socket')
    client.close()
  })

  it('With another client at the next render, the components have its values and follow only it.', async () => {
    const { FlagsProvider, useFlag } = createFlagHooks(flags)
    const [one, two] = [
      createTestClient(flags, { theme: 'dark' }),
      createTestClient(flags, { theme: 'red' }),
    ]
    let renders = 0
    const Theme = () => {
      renders += 1
      return <p>{useFlag('theme')}</p>
    }
    const page = (client: typeof one) => (
      <FlagsProvider client={client}>
        <Theme />
      </FlagsProvider>
    )
    const tree = await render(page(one))
    await tree.render(page(two))
    expect(tree.text).toBe('red')
    const before = renders
    await act(async () => one.set({ theme: 'light' }))
    expect([tree.text, renders]).toEqual(['red', before])
    await act(async () => two.set({ theme: 'light' }))
    expect([tree.text, renders]).toEqual(['light', before + 1])
    await tree.unmount()
  })

  it('A provider inside another one gives its own client to its children.', async () => {
    const { FlagsProvider, useFlag } = createFlagHooks(flags)
    const Theme = () => <p>{useFlag('theme')}</p>
    const tree = await render(
      <FlagsProvider client={createTestClient(flags, { theme: 'dark' })}>
        <Theme />
        <FlagsProvider client={createTestClient(flags, { theme: 'red' })}>
          <Theme />
        </FlagsProvider>
        <Theme />
      </FlagsProvider>,
    )
    expect(tree.text).toBe('darkreddark')
    await tree.unmount()
  })

  it('A page can change from options to a client and back.', async () => {
    const scene = createScene()
    const { FlagsProvider, useFlag } = scene.hooks
    const Theme = () => <p>{useFlag('theme')}</p>
    const client = createTestClient(flags, { theme: 'red' })
    const withOptions = (
      <FlagsProvider options={scene.options} context={CONTEXT}>
        <Theme />
      </FlagsProvider>
    )
    const tree = await render(withOptions)
    await scene.advance(100)
    await tree.render(
      <FlagsProvider client={client}>
        <Theme />
      </FlagsProvider>,
    )
    await scene.advance(1000)
    expect([tree.text, scene.server.sockets.size]).toEqual(['red', 0])
    await tree.render(withOptions)
    await scene.advance(1000)
    expect([tree.text, scene.server.sockets.size]).toEqual(['light', 1])
    await tree.unmount()
    await scene.advance(1000)
    expect([scene.server.sockets.size, client.status.connection]).toEqual([0, 'socket'])
  })
})

describe('outside of a provider', () => {
  it('The hooks return fallbacks, and one warning is written.', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { useFlag, useFlagDetail, useFlagStatus, useFlagClient } = createFlagHooks(flags)
    const All = () => {
      const { errorCode } = useFlagDetail('theme')
      const words = [useFlag('theme'), useFlag('theme', { fallback: 'red', suspend: true })]
      return (
        <p>
          {[...words, errorCode, useFlagStatus().connection, useFlagClient().value('limit')].join(
            ' ',
          )}
        </p>
      )
    }
    const tree = await render(strict(<All />))
    expect(tree.text).toBe('fallback red PROVIDER_NOT_READY idle -1')
    const { text, faults } = await hydrate(<All />)
    expect([text, faults]).toEqual([tree.text, []])
    expect(warn.mock.calls).toEqual([[expect.stringContaining('outside of its FlagsProvider')]])
    warn.mockRestore()
    await tree.unmount()
  })
})
