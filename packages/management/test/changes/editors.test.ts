import { beforeEach, describe, expect, it } from 'vitest'
import { table } from '../world/refusals.ts'
import { ask, createScene, NAMES, type Scene, tracesOf } from '../world/scene.ts'
import type { Answer, Json } from '../world/world.ts'

/** The endpoints with the method PUT, except reorders, which ignore the revision. */
const PUTS = NAMES.filter((name) => {
  const { method, path } = table[name]
  return method === 'PUT' && !path.endsWith('/reorder')
})
const UNHEARD_OF = '"999999"'

/** Returns the current record in the response to a stale request. */
const currentIn = ({ data }: Answer): Json => data.configuration ?? data

describe.each(PUTS)('Two editors of one record: %s', (name) => {
  let scene: Scene
  let put: (ifMatch: string) => ReturnType<typeof ask>

  beforeEach(async () => {
    scene = await createScene()
    put = (ifMatch) => ask(scene, name, scene.mine.tokens.platform, { 'if-match': ifMatch })
  })

  it('The second editor of a record is refused, receives the current record, and overwrites nothing', async () => {
    const before = await tracesOf(scene)
    const stale = await put(UNHEARD_OF)
    expect(stale.status).toBe(409)
    const { revision } = currentIn(stale)
    expect(revision).toBeGreaterThan(0)
    expect(await tracesOf(scene)).toEqual(before)

    const seen = `"${revision}"`
    const first = await put(seen)
    expect(first.status).toBe(200)
    const after = await tracesOf(scene)
    const second = await put(seen)
    const next = currentIn(second).revision
    // The revision of a configuration is a hash.
    const isHash = name === 'updateFlagConfiguration'
    expect([second.status, isHash ? next !== revision : next]).toEqual([
      409,
      isHash || revision + 1,
    ])
    expect(first.headers['ETag']).toBe(`"${next}"`)
    expect(await tracesOf(scene)).toEqual(after)
    expect((await put(first.headers['ETag'] ?? '')).status).toBe(200)
  })

  it('Of several concurrent editors of a record, exactly one is accepted', async () => {
    const { revision } = currentIn(await put(UNHEARD_OF))
    const events = (await scene.world.audit()).length
    const answers = await Promise.all(Array.from({ length: 6 }, () => put(`"${revision}"`)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 409, 409, 409, 409, 409])
    expect(await scene.world.audit()).toHaveLength(events + 1)
  })
})
