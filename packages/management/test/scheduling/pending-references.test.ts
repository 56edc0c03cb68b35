import { beforeEach, describe, expect, it } from 'vitest'
import { createScene, type Scene } from '../world/scene.ts'
import type { Json } from '../world/world.ts'

const FLAGS = '/projects/shop/flags'
const STATE = '/projects/shop/envs/live/flags'

describe('Resources that a pending scheduled change names', () => {
  let scene: Scene

  beforeEach(async () => {
    scene = await createScene()
    await done('POST', FLAGS, { key: 'other', type: 'boolean' })
    await done('POST', FLAGS, {
      key: 'three',
      type: 'string',
      variations: ['a', 'b', 'c', 'd'].map((key) => ({ key, value: key })),
    })
  })

  const send = (method: string, address: string, body?: Json) =>
    scene.world.call(method, address, { token: scene.mine.tokens.admin, body })

  async function done(method: string, address: string, body?: Json): Promise<Json> {
    const answer = await send(method, address, body)
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.data
  }

  /** Returns the address of a variation of the flag `three`. */
  async function addressOf(key: string): Promise<string> {
    const { variations } = await done('GET', `${FLAGS}/three`)
    const variation = variations.find((each: Json) => each.key === key)
    return `${FLAGS}/three/variations/${variation.id}`
  }

  const schedule = (flag: string, change: Json) =>
    done('POST', `${STATE}/${flag}/scheduled-changes`, {
      apply_at: '2031-01-01T00:00:00.000Z',
      ...change,
    })

  /** Expects that a deletion is refused while the change is pending, and succeeds afterwards. */
  async function expectKept(address: string, flag: string, change: Json): Promise<void> {
    const scheduled = await schedule(flag, change)
    const refused = await send('DELETE', address)
    expect([refused.status, refused.message]).toEqual([
      409,
      expect.stringMatching(
        /in use by scheduled change "\w+ at 2031-01-01T00:00:00.000Z \(live\)"/,
      ),
    ])
    expect(refused.data.used_by).toMatchObject([{ resource: 'scheduled_change', id: scheduled.id }])
    await done('DELETE', `${STATE}/${flag}/scheduled-changes/${scheduled.id}`)
    expect((await send('DELETE', address)).status).toBe(200)
  }

  const variants = [
    { variation_id: 'b', weight: 50 },
    { variation_id: 'c', weight: 50 },
  ]
  const targets = [{ variation_id: 'c', kind: 'user', keys: ['u'] }]
  const changes: readonly Json[] = [
    { operation: 'updateFlagState', body: { default_variation_id: 'c' } },
    { operation: 'updateFlagState', body: { off_variation_id: 'c' } },
    { operation: 'updateFlagState', body: { targets } },
    {
      operation: 'createTargetingRule',
      body: { name: 'x', conditions: [], variation_id: 'c' },
    },
    { operation: 'createRollout', body: { name: 'x', strategy: 'variant', variants } },
  ]

  it.each(changes)(
    'A variation is not deleted while %j names it by key or by id',
    async (change) => {
      const address = await addressOf('c')
      const id = address.split('/').at(-1)
      const byId = JSON.parse(JSON.stringify(change).replaceAll('"c"', `"${id}"`))
      await expectKept(address, 'three', byId)
      await done('POST', `${FLAGS}/three/variations`, { key: 'c', value: 'c' })
      const pending = await schedule('three', change)
      expect((await send('DELETE', await addressOf('d'))).status).toBe(200)
      await done('DELETE', `${STATE}/three/scheduled-changes/${pending.id}`)
      await expectKept(await addressOf('c'), 'three', change)
    },
  )

  it('A variation, and the flag itself, are not deleted while a prerequisite or a condition of another flag names them', async () => {
    const prerequisites = [{ flag_id: 'three', variation_ids: ['c'] }]
    const state = { operation: 'updateFlagState', body: { prerequisites } }
    await expectKept(await addressOf('c'), 'other', state)
    await done('POST', `${FLAGS}/three/variations`, { key: 'c', value: 'c' })
    const conditions = [{ attribute: 'three', operator: 'flag_is', value: ['c'] }]
    const rule = { operation: 'createTargetingRule', body: { name: 'x', conditions } }
    await expectKept(await addressOf('c'), 'other', rule)
    await done('POST', `${FLAGS}/three/variations`, { key: 'c', value: 'c' })
    await expectKept(`${FLAGS}/three`, 'other', rule)
  })

  it('A segment and a rollout are not deleted while a rule that is scheduled names them', async () => {
    const { rolloutId = '', segmentId = '' } = scene.params
    const served = { name: 'x', segment_id: 's', variation_id: 'true' }
    const ofSegment = { operation: 'createTargetingRule', body: { ...served, conditions: [] } }
    await expectKept(`/projects/shop/segments/${segmentId}`, 'other', ofSegment)
    const body = { name: 'x', conditions: [], rollout_id: rolloutId }
    const ofRollout = { operation: 'createTargetingRule', body }
    await expectKept(`${STATE}/secret-flag/rollouts/${rolloutId}`, 'secret-flag', ofRollout)
  })
})
