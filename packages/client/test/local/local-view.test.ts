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
    await set('banner', 'changed')
    expect([view.value('banner'), view.status.isCurrent, view.status.version]).toEqual([
      'hello',
      false,
      1,
    ])
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
