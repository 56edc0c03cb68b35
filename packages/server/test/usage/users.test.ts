import type { DefinitionChange, Records } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer } from '../../src/flag-server.ts'
import { countUniqueUsers } from '../../src/usage/unique-users.ts'
import { evaluate } from '../call.ts'
import { settle } from '../fake-clock.ts'
import { flagChange, publish, textFlag } from '../seed.ts'
import {
  BANNER,
  FOREVER,
  free,
  lossesOf,
  openClient,
  openScene,
  pro,
  type Scene,
  shared,
  TITLE,
} from './usage-scene.ts'

let scene: Scene

beforeEach(async () => {
  scene = await openScene()
  return () => scene.flags.close()
})

const HOUR_MS = 3_600_000
const say = (context: unknown) => evaluate(scene.flags, scene.live.sdkKey, context)
const written = () => scene.clock.advance(11_000)

function usersOf(flagId: string, { from, to } = FOREVER): Promise<number> {
  const { environmentId } = scene.live
  return countUniqueUsers(scene.memory.storage, { environmentId, flagId, from, to })
}

/** Publishes changes and waits until the server evaluates with them. */
async function serve(...changes: readonly DefinitionChange[]): Promise<void> {
  const { memory, live } = scene
  const version = await publish(memory, live.environmentId, ...changes)
  // A context without a key adds no user.
  const servedVersion = async () => (await say({ kind: 'user' })).headers.get('x-ff-version')
  while ((await servedVersion()) !== String(version)) await settle()
}

async function sketches(): Promise<readonly Records['userSketch'][]> {
  return (await scene.memory.storage.list('userSketch', {})).data
}

describe('Unique users', () => {
  it('Unique users are counted by the distinct keys of their contexts', async () => {
    for (let index = 0; index < 300; index += 1) {
      await say({ ...pro, key: `user-${index % 250}`, visits: index })
    }
    await say({})
    await say({ kind: 'user' })
    await written()
    expect(await usersOf(BANNER)).toBeGreaterThan(245)
    expect(await usersOf(BANNER)).toBeLessThan(255)
    expect(await sketches()).toHaveLength(1)
  })

  it('The users of a flag include the contexts for which only that flag was evaluated', async () => {
    const { flags, live } = scene
    await flags.allOrThrow(live, pro)
    await flags.detailOrThrow(live, 'banner', free)
    await flags.detailOrThrow(live, 'banner', pro)
    await written()
    expect([await usersOf(BANNER), await usersOf(TITLE)]).toEqual([2, 1])
  })

  it('Users are counted even if their contexts exceed the limit of samples', async () => {
    for (let index = 0; index < 800; index += 1) await say({ ...pro, key: `user-${index}` })
    await written()
    expect(Math.abs((await usersOf(BANNER)) - 800)).toBeLessThan(24)
  })

  it('Users are counted for the hours of the query', async () => {
    const { clock } = scene
    await say(pro)
    await clock.advance(HOUR_MS)
    await say(free)
    await clock.advance(HOUR_MS)
    const [first, second, third] = [0, 1, 2].map((hour) => `2030-01-01T0${hour}:00:00.000Z`)
    if (first === undefined || second === undefined || third === undefined) throw new Error()
    expect(await usersOf(TITLE, { from: first, to: second })).toBe(1)
    expect(await usersOf(TITLE, { from: second, to: third })).toBe(1)
    expect(await usersOf(TITLE, { from: first, to: third })).toBe(2)
    expect(await usersOf(TITLE, { from: '2030-01-01T01:59:00.000Z', to: third })).toBe(1)
    expect(await usersOf(TITLE, { from: third, to: FOREVER.to })).toBe(0)
  })

  it('A live client counts as a user in each hour in which it receives a change', async () => {
    const { clock, memory, live } = scene
    await openClient(scene)
    await clock.advance(2 * HOUR_MS)
    const later = { ...FOREVER, from: '2030-01-01T02:00:00.000Z' }
    expect(await usersOf(TITLE, later)).toBe(0)
    for (const value of ['market', 'bazaar']) {
      await publish(memory, live.environmentId, flagChange(textFlag('title', value)))
    }
    await written()
    expect(await usersOf(TITLE, later)).toBe(1)
  })

  it('Users are counted over all instances, and each instance writes separate rows', async () => {
    const { memory, clock, live } = scene
    const other = createFlagServer({ ...memory, storage: shared(memory.storage), clock })
    await say(pro)
    await evaluate(other, live.sdkKey, pro)
    await evaluate(other, live.sdkKey, free)
    await other.close()
    await written()
    expect(await usersOf(TITLE)).toBe(2)
    const [one, two, ...more] = await sketches()
    expect(more).toEqual([])
    expect(one?.instanceId).not.toBe(two?.instanceId)
  })

  it('Users are written after a second, then at most every ten seconds, and completely after the hour', async () => {
    const { clock } = scene
    await say(pro)
    await clock.advance(1000)
    const [first] = await sketches()
    for (let second = 0; second < 8; second += 1) {
      await say({ ...pro, key: `user ${second}` })
      await clock.advance(1000)
    }
    expect(await sketches()).toEqual([first])
    await clock.advance(2000)
    expect(await usersOf(TITLE)).toBe(9)
    expect(await sketches()).toHaveLength(1)
    await clock.advance(HOUR_MS)
    await say(pro)
    await written()
    expect(await sketches()).toHaveLength(2)
  })

  it('Users are written again if their sketch was deleted', async () => {
    const { clock, memory } = scene
    await say(pro)
    await clock.advance(1000)
    await memory.storage.purge('userSketch', { range: { field: 'hour', to: FOREVER.to } })
    await say(free)
    await written()
    expect(await usersOf(TITLE)).toBe(2)
  })

  it('A change counts a live client as a user of the flags in the message only', async () => {
    const { clock, memory, live } = scene
    await openClient(scene)
    await clock.advance(2 * HOUR_MS)
    await publish(memory, live.environmentId, flagChange(textFlag('title', 'market')))
    await written()
    const later = { ...FOREVER, from: '2030-01-01T02:00:00.000Z' }
    expect([await usersOf(TITLE, later), await usersOf(BANNER, later)]).toEqual([1, 0])
  })

  it('A change adds no sketch for a live client that is already a user of all flags in this hour', async () => {
    const { memory, live } = scene
    await openClient(scene)
    await publish(memory, live.environmentId, flagChange(textFlag('title', 'market')))
    await written()
    expect(await sketches()).toMatchObject([{ flagId: null }])
    expect([await usersOf(TITLE), await usersOf(BANNER)]).toEqual([1, 1])
  })

  it('All evaluations of a context within a second are counted for their flags', async () => {
    const { flags, live } = scene
    await flags.detailOrThrow(live, 'banner', pro)
    await flags.detailOrThrow(live, 'title', pro)
    await written()
    expect([await usersOf(BANNER), await usersOf(TITLE)]).toEqual([1, 1])
  })
})

describe('The users of all flags', () => {
  const change = (...changes: Parameters<typeof flagChange>) => serve(flagChange(...changes))
  const remove = (id: string) => serve({ kind: 'flag', id, definition: null })
  const user = (index: number) => ({ ...pro, key: `user-${index}` })

  it('Users before a flag is published and after it is removed are no users of the flag', async () => {
    await say(user(1))
    await change(textFlag('new', 'x'))
    await say(user(2))
    await remove('flag-new')
    await say(user(3))
    await change({ ...textFlag('new', 'x'), id: 'flag-newer' })
    await say(user(4))
    await written()
    const counts = await Promise.all(
      [TITLE, 'flag-new', 'flag-newer', 'flag-none'].map((id) => usersOf(id)),
    )
    expect(counts).toEqual([4, 1, 1, 0])
  })

  it('Users of client keys are no users of a flag that is not visible to clients', async () => {
    await change({ ...textFlag('new', 'x'), clientVisible: false })
    await say(user(1))
    await scene.flags.allOrThrow(scene.live, user(2))
    await written()
    expect([await usersOf(TITLE), await usersOf('flag-new')]).toEqual([2, 1])
  })

  it('Versions with the same flags share a sketch, and so do both kinds of keys', async () => {
    for (const value of ['market', 'bazaar']) {
      await change(textFlag('title', value))
      await say(user(1))
      await scene.flags.allOrThrow(scene.live, user(2))
    }
    await written()
    expect(await sketches()).toMatchObject([{ flagId: null, firstVersion: 2, lastVersion: 2 }])
    expect(await usersOf(TITLE)).toBe(2)
  })

  it('A list of flags that changes often starts 20 sketches at once and a further one every three minutes', async () => {
    const { clock } = scene
    for (let index = 0; index < 30; index += 1) {
      await change(textFlag(`new-${index}`, 'x'))
      await say(user(index))
    }
    await written()
    expect(await sketches()).toHaveLength(20)
    const usersOfNew = (index: number) => usersOf(`flag-new-${index}`)
    expect(await usersOf(TITLE)).toBe(30)
    expect([await usersOfNew(0), await usersOfNew(18), await usersOfNew(19)]).toEqual([30, 12, 11])
    expect([await usersOfNew(20), await usersOfNew(29)]).toEqual([0, 0])
    await remove('flag-new-19')
    await say(user(30))
    await written()
    expect([await usersOf(TITLE), await usersOfNew(18), await usersOfNew(19)]).toEqual([31, 13, 0])
    await clock.advance(3 * 60_000)
    await say(user(31))
    await written()
    expect(await sketches()).toHaveLength(21)
    expect([await usersOf(TITLE), await usersOfNew(29)]).toEqual([32, 1])
  })

  it('A sketch of earlier flags is written and then removed from memory', async () => {
    await say(user(1))
    await written()
    await change(textFlag('new', 'x'))
    await say(user(2))
    await written()
    await remove('flag-new')
    await say(user(3))
    await written()
    expect(await sketches()).toHaveLength(3)
    expect([await usersOf(TITLE), await usersOf('flag-new')]).toEqual([3, 1])
  })

  it('Users of all flags have room beside the users of a thousand single flags', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => textFlag(`new-${index}`, 'x'))
    await serve(...many.map((flag) => flagChange(flag)))
    for (const { key } of many) await scene.flags.detailOrThrow(scene.live, key, pro)
    await say(free)
    await written()
    expect([await usersOf('flag-new-0'), await usersOf('flag-new-999')]).toEqual([2, 1])
    expect(await lossesOf(scene)).toMatchObject({ users: 100 })
  })

  it('Users in the sketches of earlier releases are users of all flags', async () => {
    await say(user(1))
    await written()
    const [sketch] = await sketches()
    if (sketch === undefined) throw new Error('one sketch')
    await change(textFlag('new', 'x'))
    expect([await usersOf(TITLE), await usersOf('flag-new')]).toEqual([1, 0])
    const earlier = { keyKind: null, firstVersion: null, lastVersion: null }
    await scene.memory.storage.insert('userSketch', { ...sketch, id: 'earlier', ...earlier })
    expect([await usersOf(TITLE), await usersOf('flag-new')]).toEqual([1, 1])
  })
})
