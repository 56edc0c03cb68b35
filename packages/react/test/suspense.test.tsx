import { createTestClient } from '@ff/client/testing'
import { act, type ReactNode, StrictMode, Suspense } from 'react'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFlagHooks } from '../src/index.ts'
import { hydrate, render, type Tree } from './render.tsx'
import { CONTEXT, createScene, flags } from './scene.ts'

type Scene = ReturnType<typeof createScene>

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** Advances the time of the clients and that of the hooks. */
async function advance(scene: Scene, ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms)
  await scene.advance(ms)
}

/** Returns a page whose component suspends, with a boundary inside or outside of the provider. */
function pageOf({ hooks, options }: Scene, place: 'inside' | 'outside' | 'nowhere'): ReactNode {
  const { FlagsProvider, useFlag } = hooks
  const Theme = () => <p>{useFlag('theme', { suspend: true })}</p>
  const bounded = (node: ReactNode) => <Suspense fallback={<i>wait</i>}>{node}</Suspense>
  const provided = (
    <FlagsProvider options={options} context={CONTEXT}>
      {place === 'inside' ? bounded(<Theme />) : <Theme />}
    </FlagsProvider>
  )
  return place === 'outside' ? bounded(provided) : provided
}

const WAITING = { inside: 'wait', outside: 'wait', nowhere: '' }

describe.each(['inside', 'outside', 'nowhere'] as const)('with a boundary %s', (place) => {
  it.each([false, true])(
    'A component waits until there are values, or for two seconds. Strict Mode: %j',
    async (isStrict) => {
      const scene = createScene()
      const page = pageOf(scene, place)
      const tree = await render(isStrict ? <StrictMode>{page}</StrictMode> : page)
      expect(tree.text).toBe(WAITING[place])
      await advance(scene, 100)
      // Without a boundary inside the provider, no effect runs, so that the client cannot connect.
      expect(tree.text).toBe(place === 'inside' ? 'light' : WAITING[place])
      await advance(scene, 2000)
      await advance(scene, 100)
      expect(tree.text).toBe('light')
      expect(scene.server.attempts).toHaveLength(1)
      await tree.unmount()
    },
  )

  it('Without a server, the component has its fallback after two seconds, and never waits again.', async () => {
    const scene = createScene()
    scene.server.state = 'blackhole'
    const tree = await render(pageOf(scene, place))
    await advance(scene, 1990)
    expect(tree.text).toBe(WAITING[place])
    await advance(scene, 20)
    expect(tree.text).toBe('fallback')
    await tree.render(pageOf(scene, place))
    await advance(scene, 3000)
    scene.server.state = 'up'
    const shown = new Set<string>()
    for (let second = 0; second < 60; second += 1) {
      await advance(scene, 1000)
      shown.add(tree.text)
    }
    expect([...shown]).toEqual(['fallback', 'light'])
    await tree.unmount()
  })
})

it('A component does not wait for a server that refuses the key.', async () => {
  const scene = createScene()
  const tree = await render(pageOf(scene, 'inside'))
  await scene.advance(0)
  expect(scene.server.sockets.size).toBe(1)
  await act(async () => {
    for (const socket of [...scene.server.sockets]) socket.end(4401)
  })
  await advance(scene, 10)
  expect(tree.text).toBe('fallback')
  await tree.unmount()
})

it('A component that is mounted does not suspend after a log-out.', async () => {
  const scene = createScene()
  const { FlagsProvider, useFlag, useFlagClient } = scene.hooks
  let logOut = () => {}
  const shown = new Set<string>()
  const Theme = () => {
    const client = useFlagClient()
    logOut = () => void client.reset({})
    return <p>{useFlag('theme', { suspend: true })}</p>
  }
  const tree: Tree = await render(
    <FlagsProvider options={scene.options} context={CONTEXT}>
      <Suspense fallback={<i>wait</i>}>
        <Theme />
      </Suspense>
    </FlagsProvider>,
  )
  await advance(scene, 100)
  scene.server.state = 'blackhole'
  await act(async () => logOut())
  for (let turn = 0; turn < 30; turn += 1) {
    await advance(scene, 100)
    shown.add(tree.text)
  }
  expect([...shown]).toEqual(['fallback'])
  await tree.unmount()
})

it('A server and a page that is hydrated do not suspend.', async () => {
  const scene = createScene()
  scene.server.state = 'blackhole'
  const page = pageOf(scene, 'nowhere')
  expect(renderToString(page)).toBe('<p>fallback</p>')
  const tree = await hydrate(page)
  expect([tree.text, tree.faults]).toEqual(['fallback', []])
  await tree.unmount()
})

it('A component with known values does not suspend, whatever the client does.', async () => {
  const { FlagsProvider, useFlag } = createFlagHooks(flags)
  const client = createTestClient(flags, { theme: 'dark' })
  client.close()
  const Theme = () => <p>{useFlag('limit', { suspend: true })}</p>
  const tree = await render(
    <FlagsProvider client={client}>
      <Theme />
    </FlagsProvider>,
  )
  expect(tree.text).toBe('-1')
  await tree.unmount()
})

it('A tree that was never mounted does not prevent the next one from waiting.', async () => {
  const scene = createScene()
  const first = await render(pageOf(scene, 'nowhere'))
  await first.unmount()
  await advance(scene, 10_000)
  const tree = await render(pageOf(scene, 'inside'))
  expect(tree.text).toBe('wait')
  await advance(scene, 100)
  expect(tree.text).toBe('light')
  await tree.unmount()
})
