import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../server/test/fake-clock.ts'
import { flagChange, textFlag } from '../../../server/test/seed.ts'
import type { FlagClient } from '../../src/index.ts'
import type { LocalClient } from '../../src/local.ts'
import { createLocalScene, type LocalScene, untilCurrent, type Values } from './local-scene.ts'

const pro = { kind: 'user', key: 'user-1', plan: 'pro' }
const free = { kind: 'user', key: 'user-2', plan: 'free' }
const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }

let scene: LocalScene
let local: LocalClient<Values>
let view: FlagClient<Values>

beforeEach(async () => {
  scene = await createLocalScene()
  await scene.publish(
    flagChange(textFlag('banner', 'hello', [proRule])),
    flagChange(textFlag('title', 'shop')),
  )
  local = scene.create()
  await untilCurrent(scene, local)
  view = local.for(free)
})

afterEach(() => scene.close())

const set = async (key: string, value: string) => {
  await scene.publish(flagChange(textFlag(key, value, [proRule])))
  await settle()
}

describe('a view of a context', () => {
  it('A view has the values, the details and the status of the local client.', async () => {
    expect([view.value('banner'), view.value('title'), view.value('count')]).toEqual([
      'hello',
      'shop',
      -1,
    ])
    expect(view.value('count', 7)).toBe(7)
    expect(view.detail('banner')).toEqual({ value: 'hello', source: 'server', version: 1 })
    expect(view.detail('count')).toEqual({
      ...{ value: -1, source: 'fallback', version: 1 },
      ...{ reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' },
    })
    expect(view.status).toMatchObject({ source: 'server', isCurrent: true, version: 1 })
    expect(await view.ready()).toBe('live')
    expect(view.snapshot()).toEqual(local.snapshot(free))
    expect(scene.network.requests).toHaveLength(2)
  })

  it('A listener is called only when the value of its flag changes for the context.', async () => {
    const values: unknown[] = []
    const stop = view.subscribe('banner', (value) => values.push(value))
    view.subscribe('banner', () => {
      throw new Error('a faulty listener')
    })
    await set('banner', 'changed')
    await set('title', 'changed')
    await scene.publish(flagChange({ ...textFlag('banner', 'changed', [proRule, proRule]) }))
    await settle()
    expect(values).toEqual(['changed'])
    expect(scene.errors).toHaveLength(1)
    stop()
    stop()
    await set('banner', 'again')
    expect(values).toEqual(['changed'])
  })

  it('setContext changes the values at once and calls the listeners.', async () => {
    const values: unknown[] = []
    view.subscribe('banner', (value) => values.push([value, view.value('title')]))
    await view.setContext(pro)
    expect([view.value('banner'), view.value('title')]).toEqual(['other', 'shop'])
    expect(values).toEqual([['other', 'shop']])
    await view.setContext({ plan: 'no kind' } as never)
    expect(view.value('banner')).toBe('other')
    expect(view.detail('banner')).toMatchObject({ value: 'other', errorCode: 'INVALID_CONTEXT' })
    await view.reset({ plan: 'no kind' } as never)
    expect(view.value('banner')).toBe('none')
    await view.reset(free)
    expect(view.value('banner')).toBe('hello')
    expect(values.map((each) => (each as unknown[])[0])).toEqual(['other', 'none', 'hello'])
  })

  it('A frozen view keeps its values until unfreeze or reset.', async () => {
    const values: unknown[] = []
    view.subscribe('banner', (value) => values.push(value))
    view.freeze()
    const snapshot = view.snapshot()
    await set('banner', 'changed')
    expect([view.value('banner'), view.status.isCurrent, view.status.version]).toEqual([
      'hello',
      false,
      1,
    ])
    expect(view.snapshot()).toEqual(snapshot)
    expect(local.snapshot(free).flags['banner']).toBe('changed')
    expect(values).toEqual([])
    view.unfreeze()
    expect([view.value('banner'), view.status.isCurrent, view.status.version]).toEqual([
      'changed',
      true,
      2,
    ])
    expect(values).toEqual(['changed'])
    view.freeze()
    await set('banner', 'third')
    await view.reset(free)
    expect(values).toEqual(['changed', 'third'])
  })

  it('A closed view keeps its values and calls no listener; the local client stays open.', async () => {
    const values: unknown[] = []
    view.subscribe('banner', (value) => values.push(value))
    view.close()
    await set('banner', 'changed')
    expect(values).toEqual([])
    expect(view.value('banner')).toBe('changed')
    expect(view.status).toMatchObject({ connection: 'closed', isCurrent: false })
    expect(local.status).toMatchObject({ connection: 'socket', isCurrent: true })
    view.subscribe('banner', (value) => values.push(value))()
    await view.setContext(pro)
    expect(view.value('banner')).toBe('changed')
  })
})

describe('a view with a context function', () => {
  /** Returns a view, and the number of times when its context was computed. */
  const lazyView = (contextOf: () => unknown) => {
    const calls = { count: 0 }
    const lazy = local.for(() => {
      calls.count += 1
      return contextOf() as typeof free
    })
    return { lazy, calls }
  }

  it('The context is computed when the first value is read, and only once.', () => {
    const { lazy, calls } = lazyView(() => pro)
    lazy.freeze()
    expect([lazy.status.version, calls.count]).toEqual([1, 0])
    expect([lazy.value('banner'), lazy.detail('banner').value]).toEqual(['other', 'other'])
    expect(lazy.snapshot()).toEqual(local.snapshot(pro))
    expect(calls.count).toBe(1)
    const reads: readonly ((of: FlagClient<Values>) => unknown)[] = [
      (of) => of.detail('banner'),
      (of) => of.subscribe('banner', () => {}),
      (of) => of.snapshot(),
    ]
    for (const read of reads) {
      const { lazy: other, calls: ofOther } = lazyView(() => pro)
      read(other)
      expect(ofOther.count, String(read)).toBe(1)
    }
  })

  it('A view that was closed before its context was needed computes it nevertheless.', () => {
    const { lazy } = lazyView(() => pro)
    lazy.close()
    expect(lazy.value('banner')).toBe('other')
  })

  it('setContext and reset replace a context that was not needed.', async () => {
    const { lazy, calls } = lazyView(() => free)
    await lazy.setContext(pro)
    const { lazy: other, calls: ofOther } = lazyView(() => free)
    await other.reset(pro)
    expect([lazy.value('banner'), other.value('banner')]).toEqual(['other', 'other'])
    expect([calls.count, ofOther.count]).toEqual([0, 0])
    const { lazy: third } = lazyView(() => free)
    await third.setContext(7 as never)
    expect(third.detail('banner')).toMatchObject({ value: 'hello', errorCode: 'INVALID_CONTEXT' })
  })

  it('If the function throws or returns no context, onError receives the error, and values are fallbacks.', async () => {
    const thrown = new Error('no session')
    const throwing = lazyView(() => {
      throw thrown
    })
    expect(throwing.lazy.value('banner')).toBe('none')
    expect(throwing.lazy.detail('banner').errorCode).toBe('INVALID_CONTEXT')
    expect(throwing.calls.count).toBe(1)
    const rejected = Promise.reject(new Error('no session, later'))
    for (const context of [undefined, null, 7, { plan: 'no kind' }, rejected]) {
      const { lazy } = lazyView(() => context)
      expect([lazy.value('banner'), lazy.value('banner', 'mine')]).toEqual(['none', 'mine'])
      expect(lazy.snapshot()).toEqual({ flags: {} })
    }
    await settle()
    const wrong = 'A context function must return a context, and no promise'
    const messages = scene.errors.map((error) => (error as Error).message)
    expect(messages).toEqual(['no session', ...Array(5).fill(wrong), 'no session, later'])
  })

  it('A function that reads the flags of its own view receives fallbacks.', () => {
    const lazy: FlagClient<Values> = local.for(() => ({ ...pro, plan: lazy.value('title') }))
    expect([lazy.value('banner'), lazy.value('title')]).toEqual(['hello', 'shop'])
  })
})
