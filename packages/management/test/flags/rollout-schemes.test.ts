import { pickVariation } from '@ff/core/authoring'
import { schemes } from '@ff/core/schemes'
import { BUCKETING_SCHEMES } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const KEYS = Array.from({ length: 200 }, (_, index) => `user-${index}`)

describe('Rollouts with the scheme of another system', () => {
  let world: World
  let tenant: Tenant
  let token: string
  let flag: Json
  let addresses: { readonly rollouts: string; readonly rules: string }

  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    const at = addressesOf(tenant)
    token = tenant.tokens.editor
    const variations = ['a', 'b', 'c'].map((key) => ({ key, value: key }))
    const body = { key: 'theme', type: 'string', variations }
    flag = (await world.call('POST', at.flags, { token, body })).data
    addresses = { rollouts: at.rollouts(flag.id), rules: at.rules(flag.id) }
  })

  const post = (body: Json) => {
    const split = [50, 30, 20].map((weight, index) => {
      return { variation_id: flag.variations[index].id, weight }
    })
    const basis = { name: 'r', salt: 'a.flag.and.its.salt', strategy: 'variant', variants: split }
    return world.call('POST', addresses.rollouts, { token, body: { ...basis, ...body } })
  }
  const put = (id: string, body: Json) => {
    return world.call('PUT', `${addresses.rollouts}/${id}`, { token, body })
  }
  const served = async () => {
    const contexts = KEYS.map((key) => ({ kind: 'user', key }))
    return (await world.evaluateEach(tenant.live, contexts)).map(({ theme }) => theme)
  }

  it('The interface accepts ff and exactly the schemes of the engine', () => {
    expect(BUCKETING_SCHEMES).toEqual(['ff', ...schemes.keys()])
  })

  it.each([...schemes])(
    'A rollout with the scheme %s assigns variations as that system does',
    async (scheme, compile) => {
      const { status, data } = await post({ scheme })
      expect([status, data.scheme]).toEqual([201, scheme])
      await world.call('POST', addresses.rules, {
        token,
        body: { name: 'All', conditions: [], rollout_id: data.id },
      })
      const ranges = data.ranges.map(({ variation_id: variationId, from, to }: Json) => {
        return { variationId, from, to }
      })
      const bucketOf = compile({ salt: data.salt, strategy: 'variant', ranges })
      const names = new Map(flag.variations.map(({ id, key }: Json) => [id, key]))
      const expected = KEYS.map((key) => names.get(pickVariation(ranges, bucketOf(key))))
      expect(await served()).toEqual(expected)
    },
  )

  it('A change of the scheme reassigns all contexts, and reverting it restores them', async () => {
    const { id } = (await post({ scheme: 'unleash' })).data
    await world.call('POST', addresses.rules, {
      token,
      body: { name: 'All', conditions: [], rollout_id: id },
    })
    const before = await served()
    const changed = await put(id, { scheme: 'posthog' })
    // 1 - 0.5² - 0.3² - 0.2²
    expect(changed.data).toMatchObject({ scheme: 'posthog', moved_percentage: 62 })
    expect(await served()).not.toEqual(before)
    expect((await put(id, { scheme: 'unleash' })).data.moved_percentage).toBe(62)
    expect(await served()).toEqual(before)
  })

  it('With the scheme of another system, several variations instead of one reassign all contexts', async () => {
    const variationId = flag.variations[0].id
    const one = { strategy: 'percentage', variation_id: variationId, percentage: 50 }
    const several = { strategy: 'variant', variants: [{ variation_id: variationId, weight: 50 }] }
    const { id } = (await post({ scheme: 'unleash', variants: undefined, ...one })).data
    expect((await put(id, several)).data.moved_percentage).toBe(50)
    expect((await put(id, one)).data.moved_percentage).toBe(50)
    const ramp = { target_percentage: 50, increment: 50, interval_hours: 1 }
    expect((await put(id, { strategy: 'gradual', ...ramp })).data.moved_percentage).toBe(0)
  })

  it('A salt can contain dots with the scheme of another system only', async () => {
    const refused = await post({})
    expect([refused.status, refused.data.issues[0].path]).toEqual([400, 'salt'])
    const { id } = (await post({ scheme: 'launchdarkly' })).data
    const back = await put(id, { scheme: 'ff' })
    expect([back.status, back.data.issues[0].path]).toEqual([400, 'salt'])
    expect((await put(id, { scheme: 'ff', salt: 'dotless' })).status).toBe(200)
    expect((await put(id, { salt: 'a.b' })).data.issues[0].path).toBe('salt')
  })
})
