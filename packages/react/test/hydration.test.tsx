import { createFlagClient, type FlagSnapshot, memoryCache, serializeSnapshot } from '@ff/client'
import { createTestClient } from '@ff/client/testing'
import { defineFlags, text } from '@ff/core/flag-types'
import { textHash } from '@ff/protocol/snapshot'
import { act, type ReactNode } from 'react'
import { describe, expect, it } from 'vitest'
import { createFlagHooks } from '../src/index.ts'
import { hydrate, render, strict } from './render.tsx'
import { CONTEXT, createScene, flags } from './scene.ts'

const OTHER = { kind: 'user', key: 'other' }

/** Returns the snapshot of a client with these values. */
const snapshotOf = (theme: string, version = 3): FlagSnapshot =>
  createFlagClient({
    ...{ url: 'http://flags.test', sdkKey: 'ff_1', flags, context: CONTEXT, connect: false },
    bootstrap: { flags: { theme }, version },
  }).snapshot()

/** Returns a page, and the list of the values that it has rendered. */
function pageOf(scene: ReturnType<typeof createScene>, mode = (node: ReactNode) => node) {
  const { FlagsProvider, useFlag } = scene.hooks
  const seen: string[] = []
  const Theme = () => {
    const theme = useFlag('theme')
    seen.push(theme)
    return <p>{theme}</p>
  }
  const page = (parts: object) =>
    mode(
      <FlagsProvider options={scene.options} context={CONTEXT} {...parts}>
        <Theme />
      </FlagsProvider>,
    )
  return { seen, page }
}

describe.each([
  ['without Strict Mode', (node: ReactNode) => node],
  ['in Strict Mode', strict],
])('a page with a snapshot, %s', (_, mode) => {
  it.each([
    ['the same context', {}],
    ['another context', { context: OTHER }],
  ])('With %s, React has no warning, and the page follows the server.', async (_name, parts) => {
    const scene = createScene()
    const { page, seen } = pageOf(scene, mode)
    const snapshot = snapshotOf('dark')
    const onServer = page({ snapshot })
    const tree = await hydrate(onServer, page({ snapshot, ...parts }))
    expect([tree.html, tree.faults, tree.text]).toEqual(['<p>dark</p>', [], 'dark'])
    expect(new Set(seen)).toEqual(new Set(['dark']))
    scene.server.version = 5
    await scene.advance(100)
    expect(tree.text).toBe('light')
    expect(scene.server.attempts.map(({ kind }) => kind)).toEqual(['socket'])
    await tree.unmount()
  })

  it('The first render reads the snapshot although the client has newer values, and the next one has them.', async () => {
    const client = createTestClient(flags, { theme: 'red' })
    const scene = createScene()
    const { page, seen } = pageOf(scene, mode)
    const parts = { client, options: undefined, context: undefined, snapshot: snapshotOf('dark') }
    const tree = await hydrate(page(parts))
    expect([tree.html, tree.faults, tree.text]).toEqual(['<p>dark</p>', [], 'red'])
    expect(seen.slice(0, 2)).toEqual(['dark', 'dark'])
    await tree.unmount()
  })

  it('Without a snapshot, cached values follow after the first render, without a warning.', async () => {
    const scene = createScene()
    const cache = memoryCache()
    const first = createFlagClient({ ...scene.options, flags, context: CONTEXT, cache })
    await scene.advance(3000)
    first.close()
    scene.server.state = 'blackhole'
    const { page } = pageOf(scene, mode)
    const tree = await hydrate(page({}), page({ options: { ...scene.options, cache } }))
    expect([tree.html, tree.faults, tree.text]).toEqual(['<p>fallback</p>', [], 'light'])
    await tree.unmount()
  })
})

describe('a snapshot that is not as expected', () => {
  it.each<[string, unknown, string]>([
    ['`null`', null, 'fallback'],
    ['a text', 'snapshot', 'fallback'],
    ['an object without flags', {}, 'fallback'],
    ['values of another type', { flags: { theme: 7 } }, 'fallback'],
    ['values that the flag cannot have', { flags: { theme: 'green' } }, 'fallback'],
    ['another user', { flags: { theme: 'dark' }, version: 3, context: textHash('other') }, 'dark'],
    ['another environment', { flags: { other: true }, version: 900 }, 'fallback'],
  ])(
    'With %s, the server and the page render the same, and the values of the server follow.',
    async (_name, snapshot, expected) => {
      const scene = createScene()
      const { page } = pageOf(scene)
      const tree = await hydrate(page({ snapshot }))
      expect([tree.html, tree.faults]).toEqual([`<p>${expected}</p>`, []])
      scene.server.version = 1000
      await scene.advance(100)
      expect(tree.text).toBe('light')
      await tree.unmount()
    },
  )

  it('A snapshot of another user is not current, and not of the context.', async () => {
    const scene = createScene()
    scene.server.state = 'blackhole'
    const { FlagsProvider, useFlagStatus } = scene.hooks
    const Status = () => {
      const { source, isOfContext, isCurrent } = useFlagStatus()
      return <p>{[source, isOfContext, isCurrent].join(' ')}</p>
    }
    const page = (context: typeof OTHER) => (
      <FlagsProvider options={scene.options} context={context} snapshot={snapshotOf('dark')}>
        <Status />
      </FlagsProvider>
    )
    expect((await hydrate(page(CONTEXT))).text).toBe('bootstrap true false')
    const tree = await hydrate(page(OTHER))
    expect([tree.html, tree.faults]).toEqual(['<p>bootstrap false false</p>', []])
  })

  it('A snapshot with a lower version, after a restore, is replaced by the values of the server.', async () => {
    const scene = createScene()
    const { page } = pageOf(scene)
    const snapshot = snapshotOf('dark', 900)
    const tree = await hydrate(page({ snapshot }))
    scene.server.restoredFrom = 900
    scene.server.version = 2
    await scene.advance(100)
    expect(tree.text).toBe('light')
    await tree.unmount()
  })

  it('Hostile keys and values, and 5,000 flags, are rendered as they are.', async () => {
    const hostile = '</script><script>throw 1</script>\u2028\u2029<!--'
    const many = Object.fromEntries(
      Array.from({ length: 5000 }, (_, n) => [`${hostile}${n}`, hostile]),
    )
    const types = Object.fromEntries(Object.keys(many).map((key) => [key, text('')]))
    const { FlagsProvider, useFlag } = createFlagHooks(defineFlags(types))
    const container = document.createElement('div')
    container.innerHTML = `<script type="application/json">${serializeSnapshot({ flags: many })}</script>`
    const script = container.querySelector('script')
    expect(container.children).toHaveLength(1)
    const snapshot = JSON.parse(script?.textContent ?? '') as FlagSnapshot
    const Shown = () => <p>{useFlag(`${hostile}4999`)}</p>
    const scene = createScene()
    const tree = await hydrate(
      <FlagsProvider options={scene.options} snapshot={snapshot}>
        <Shown />
      </FlagsProvider>,
    )
    expect([tree.faults, tree.text]).toEqual([[], hostile])
    await tree.unmount()
  })
})

it('In 200 loads with a bootstrap, an older cache and a slow server, no frame has another value than the HTML.', async () => {
  for (let load = 0; load < 200; load += 1) {
    const scene = createScene()
    const cache = memoryCache()
    const options = { ...scene.options, cache }
    const visit = createFlagClient({ ...options, flags, context: CONTEXT })
    await scene.time.advance(3000)
    expect(visit.value('theme')).toBe('light')
    visit.close()
    scene.server.state = 'blackhole'
    // The snapshot has the version of the cache, as in a gradual rollout, or none.
    const { theme, ...snapshot } = { theme: 'dark', ...visit.snapshot() }
    const { version, ...unversioned } = { ...snapshot, flags: { ...snapshot.flags, theme } }
    const given = load % 2 ? unversioned : { ...unversioned, version: version ?? 0 }
    const { page, seen } = pageOf(scene, load % 3 ? undefined : strict)
    const tree = await hydrate(page({ snapshot: given }), page({ options, snapshot: given }))
    const frames = new Set<string>()
    const observer = new MutationObserver(() => frames.add(tree.text))
    observer.observe(tree.container, { subtree: true, childList: true, characterData: true })
    await scene.advance(2500)
    expect([[...frames], [...new Set(seen)], tree.text]).toEqual([[], ['dark'], 'dark'])
    await tree.unmount()
  }
})

it('A page that is rendered without a server reads the client at once.', async () => {
  const client = createTestClient(flags, { theme: 'red' })
  const { FlagsProvider, useFlag } = createFlagHooks(flags)
  const seen: string[] = []
  const Theme = () => {
    seen.push(useFlag('theme'))
    return null
  }
  const tree = await render(
    <FlagsProvider client={client} snapshot={snapshotOf('dark')}>
      <Theme />
    </FlagsProvider>,
  )
  await act(async () => {})
  expect(seen).toEqual(['red'])
  await tree.unmount()
})
