import { createTestClient } from '@ff/client/testing'
import { defineFlags, number, oneOf } from '@ff/core/flag-types'
import { act, useState } from 'react'
import { describe, expect, it, vi } from 'vitest'
import { createFlagHooks } from '../src/index.ts'
import { render, strict } from './render.tsx'
import { CONTEXT, createScene, flags } from './scene.ts'

describe('useFlag', () => {
  it('When one of 100 flags changes, one of 100 components renders, and once.', async () => {
    const keys = Array.from({ length: 100 }, (_, index) => `flag-${index}`)
    const many = defineFlags(Object.fromEntries(keys.map((key) => [key, number(0)])))
    const client = createTestClient(many)
    const { FlagsProvider, useFlag } = createFlagHooks(many)
    const renders = new Map<string, number>()
    const Shown = ({ flag }: { flag: string }) => {
      renders.set(flag, (renders.get(flag) ?? 0) + 1)
      return <p>{useFlag(flag)}</p>
    }
    const tree = await render(
      <FlagsProvider client={client}>
        {keys.map((key) => (
          <Shown key={key} flag={key} />
        ))}
      </FlagsProvider>,
    )
    expect(new Set(renders.values())).toEqual(new Set([1]))
    await act(async () => client.set({ 'flag-7': 7 }))
    expect(keys.filter((key) => renders.get(key) !== 1)).toEqual(['flag-7'])
    expect([renders.get('flag-7'), tree.container.children[7]?.textContent]).toEqual([2, '7'])
    await tree.unmount()
  })

  it('A component that another one removes during an update causes no error.', async () => {
    const client = createTestClient(flags, { theme: 'dark' })
    const { FlagsProvider, useFlag } = createFlagHooks(flags)
    const Child = () => <p>{useFlag('theme')}</p>
    const Parent = () => (useFlag('theme') === 'dark' ? <Child /> : <b>gone</b>)
    const Sibling = () => {
      const [isShown, show] = useState(true)
      client.subscribe('limit', () => show(false))
      return isShown ? <Child /> : null
    }
    const tree = await render(
      strict(
        <FlagsProvider client={client}>
          <Child />
          <Parent />
          <Sibling />
        </FlagsProvider>,
      ),
    )
    expect(tree.text).toBe('darkdarkdark')
    await act(async () => client.set({ theme: 'red', limit: 3 }))
    expect(tree.text).toBe('redgone')
    await tree.unmount()
    await act(async () => client.set({ theme: 'light' }))
  })

  it('A JSON value keeps its identity after an update with an equal value.', async () => {
    const client = createTestClient(flags, { layout: { columns: 2 } })
    const { FlagsProvider, useFlag } = createFlagHooks(flags)
    const seen = new Set<object>()
    let renders = 0
    const Layout = () => {
      renders += 1
      seen.add(useFlag('layout'))
      return null
    }
    const tree = await render(
      <FlagsProvider client={client}>
        <Layout />
      </FlagsProvider>,
    )
    await act(async () => client.set({ layout: { columns: 2 }, limit: 8 }))
    expect([seen.size, renders]).toEqual([1, 1])
    await act(async () => client.set({ layout: { columns: 3 } }))
    expect([seen.size, renders]).toEqual([2, 2])
    await tree.unmount()
  })

  it('A fallback that is created in each render, another key and an unknown key cause no loop.', async () => {
    const client = createTestClient(flags, { theme: 'dark' })
    const { FlagsProvider, useFlag, useFlagDetail } = createFlagHooks(flags)
    const Shown = ({ flag }: { flag: 'theme' | 'whoami' }) => (
      <p>
        {[
          useFlag('layout', { fallback: { columns: 5 } }).columns,
          useFlag(flag),
          String(useFlag('unknown' as never)),
          useFlagDetail('unknown' as never).errorCode,
        ].join(' ')}
      </p>
    )
    const page = (flag: 'theme' | 'whoami') =>
      strict(
        <FlagsProvider client={client}>
          <Shown flag={flag} />
        </FlagsProvider>,
      )
    const tree = await render(page('theme'))
    expect(tree.text).toBe('5 dark undefined FLAG_NOT_FOUND')
    await tree.render(page('whoami'))
    expect(tree.text).toBe('5 nobody undefined FLAG_NOT_FOUND')
    await act(async () => client.set({ whoami: 'me' }))
    expect(tree.text).toBe('5 me undefined FLAG_NOT_FOUND')
    await tree.unmount()
  })
})

describe('useFlagStatus and useFlagDetail', () => {
  it('They follow the connection and the version, and render nothing while these stay the same.', async () => {
    const scene = createScene()
    const { FlagsProvider, useFlagStatus, useFlagDetail } = scene.hooks
    let renders = 0
    const Status = () => {
      renders += 1
      const { connection, isCurrent } = useFlagStatus()
      const { value, source, version } = useFlagDetail('theme')
      return <p>{[connection, isCurrent, value, source, version].join(' ')}</p>
    }
    const tree = await render(
      strict(
        <FlagsProvider options={scene.options} context={CONTEXT}>
          <Status />
        </FlagsProvider>,
      ),
    )
    await scene.advance(100)
    expect(tree.text).toBe('socket true light server 1')
    const before = renders
    await scene.advance(20_000)
    expect(renders).toBe(before)
    await scene.publish({ theme: 'red' })
    expect(tree.text).toBe('socket true red server 2')
    scene.server.state = 'down'
    await act(async () => scene.server.drop())
    expect(tree.text).toBe('waiting false red server 2')
    await tree.unmount()
  })
})

it('Hooks of other flags do not share a provider.', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const other = createFlagHooks(defineFlags({ theme: oneOf('other', 'more') }))
  const { FlagsProvider, useFlag } = createFlagHooks(flags)
  const Both = () => <p>{`${useFlag('theme')} ${other.useFlag('theme')}`}</p>
  const tree = await render(
    <FlagsProvider client={createTestClient(flags, { theme: 'dark' })}>
      <Both />
    </FlagsProvider>,
  )
  expect(tree.text).toBe('dark other')
  warn.mockRestore()
  await tree.unmount()
})
