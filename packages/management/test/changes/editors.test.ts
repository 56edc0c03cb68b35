import { beforeEach, describe, expect, it } from 'vitest'
import { table } from '../world/refusals.ts'
import { ask, createScene, NAMES, type Scene, tracesOf } from '../world/scene.ts'

/** The endpoints with the method PUT, except reorders, which ignore the revision. */
const PUTS = NAMES.filter((name) => {
  const { method, path } = table[name]
  return method === 'PUT' && !path.endsWith('/reorder')
})
const UNHEARD_OF = '"999999"'

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
    expect(stale.data.revision).toBeGreaterThan(0)
    expect(await tracesOf(scene)).toEqual(before)

    const seen = `"${stale.data.revision}"`
    const first = await put(seen)
    expect(first.status).toBe(200)
    const after = await tracesOf(scene)
    const second = await put(seen)
    expect(second).toMatchObject({ status: 409, data: { revision: stale.data.revision + 1 } })
    expect(first.headers['ETag']).toBe(`"${second.data.revision}"`)
    expect(await tracesOf(scene)).toEqual(after)
    expect((await put(first.headers['ETag'] ?? '')).status).toBe(200)
  })

  it('Of several concurrent editors of a record, exactly one is accepted', async () => {
    const { data } = await put(UNHEARD_OF)
    const events = (await scene.world.audit()).length
    const answers = await Promise.all(Array.from({ length: 6 }, () => put(`"${data.revision}"`)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 409, 409, 409, 409, 409])
    expect(await scene.world.audit()).toHaveLength(events + 1)
  })
})
