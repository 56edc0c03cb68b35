import type { Records } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer } from '../../src/flag-server.ts'
import { countUniqueUsers } from '../../src/usage/user-sketches.ts'
import { evaluate } from '../call.ts'
import { flagChange, publish, textFlag } from '../seed.ts'
import {
  BANNER,
  FOREVER,
  free,
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
})
