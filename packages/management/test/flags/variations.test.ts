import { beforeEach, describe, expect, it } from 'vitest'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const UNKNOWN = '99999999-9999-4999-8999-999999999999'

describe('Variations', () => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let token: string
  let flag: Json

  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
    token = tenant.tokens.editor
    const variations = ['a', 'b', 'c'].map((key) => ({ key, value: `value ${key}` }))
    const body = { key: 'theme', type: 'string', variations }
    flag = (await world.call('POST', at.flags, { token, body })).data
  })

  const variation = (index: number) => `${at.variations(flag.id)}/${flag.variations[index].id}`
  const list = async () => (await world.call('GET', at.variations(flag.id), { token })).data.data
  const keys = async () => (await list()).map(({ key }: Json) => key).join('')
  const defaults = async () =>
    (await list()).filter((each: Json) => each.is_default).map(({ key }: Json) => key)

  it('A new variation is the last one, and its value is parsed by the type of the flag', async () => {
    const body = { key: 'd', value: 'value d' }
    const added = await world.call('POST', at.variations(flag.id), { token, body })
    expect(added).toMatchObject({
      status: 201,
      data: { name: 'd', is_default: false, order_index: 3 },
    })
    expect(await keys()).toBe('abcd')
    const taken = await world.call('POST', at.variations(flag.id), { token, body })
    expect([taken.status, taken.data.issues[0].path]).toEqual([409, 'key'])
    const number = await world.call('POST', at.flags, {
      token,
      body: { key: 'n', type: 'number', variations: [{ key: 'one', value: '1' }] },
    })
    const path = at.variations(number.data.id)
    const refused = await world.call('POST', path, { token, body: { key: 'two', value: 'two' } })
    expect([refused.status, refused.data.issues[0].path]).toEqual([400, 'value'])
    const one = `${path}/${number.data.variations[0].id}`
    const changed = await world.call('PUT', one, { token, body: { value: 'x' } })
    expect([changed.status, changed.data.issues[0].path]).toEqual([400, 'value'])
    expect(await world.evaluate(tenant.live)).toEqual({ n: 1, theme: 'value a' })
  })

  it('A change of a variation affects every environment', async () => {
    const changed = await world.call('PUT', variation(0), { token, body: { value: 'new' } })
    expect(changed).toMatchObject({ status: 200, data: { value: 'new', revision: 2 } })
    expect(await world.evaluate(tenant.live)).toEqual({ theme: 'new' })
    expect(await world.evaluate(tenant.staging)).toEqual({ theme: 'new' })
  })

  it('A flag always has exactly one default variation, which can change', async () => {
    await world.call('PUT', variation(1), { token, body: { is_default: true } })
    expect(await defaults()).toEqual(['b'])
    expect(await world.evaluate(tenant.live)).toEqual({ theme: 'value b' })
    const body = { key: 'd', value: 'value d', is_default: true }
    await world.call('POST', at.variations(flag.id), { token, body })
    expect(await defaults()).toEqual(['d'])
    const refused = await world.call('PUT', variation(0), { token, body: { is_default: false } })
    expect(refused.status).toBe(200)
    const d = (await list()).find(({ key }: Json) => key === 'd')
    const path = `${at.variations(flag.id)}/${d.id}`
    const none = await world.call('PUT', path, { token, body: { is_default: false } })
    expect([none.status, none.data.issues[0].path]).toEqual([400, 'is_default'])
    expect(await defaults()).toEqual(['d'])
  })

  it('A variation can be deleted unless it is the default or in use', async () => {
    expect((await world.call('DELETE', variation(0), { token })).status).toBe(409)
    expect((await world.call('DELETE', variation(2), { token })).data).toBe(null)
    expect(await keys()).toBe('ab')
    expect((await world.call('DELETE', variation(2), { token })).status).toBe(404)
    const again = { key: 'c', value: 'again' }
    expect((await world.call('POST', at.variations(flag.id), { token, body: again })).status).toBe(
      201,
    )
  })

  it('A variation in use cannot be deleted, and its dependents are named', async () => {
    const id = flag.variations[1].id
    const params = { projectId: tenant.project.id, environmentId: tenant.live.id, flagId: flag.id }
    const rollout = await world.management.createRollout({
      params,
      body: { name: 'Split', strategy: 'variant', variants: [{ variationId: id, weight: 10 }] },
    })
    const body = { name: 'Serves b', conditions: [], variation_id: id }
    const rule = await world.call('POST', at.rules(flag.id), { token, body })
    const targets = [{ variation_id: id, kind: 'user', keys: ['u1'] }]
    const state = await world.call('PUT', at.staging(flag.id), { token, body: { targets } })
    const refused = await world.call('DELETE', variation(1), { token })
    expect(refused.status).toBe(409)
    expect(refused.data.used_by).toEqual([
      { resource: 'flag_state', id: state.data.id, name: 'theme (staging)' },
      { resource: 'targeting_rule', id: rule.data.id, name: 'Serves b (live)' },
      { resource: 'rollout', id: rollout.id, name: 'Split (live)' },
    ])
    expect(refused.message).toContain('rollout "Split (live)"')
  })

  describe('Reordering variations', () => {
    const reorder = (orders: Json) =>
      world.call('PUT', `${at.variations(flag.id)}/reorder`, { token, body: { orders } })
    const place = (index: number, order_index: number) => ({
      id: flag.variations[index].id,
      order_index,
    })

    it('A reorder returns all variations and keeps the index of those that are not listed', async () => {
      const answer = await reorder([place(0, 7)])
      expect(answer.status).toBe(200)
      expect(answer.data.map(({ key, order_index }: Json) => [key, order_index])).toEqual([
        ['b', 1],
        ['c', 2],
        ['a', 7],
      ])
      expect(await keys()).toBe('bca')
      expect(await world.evaluate(tenant.live)).toEqual({ theme: 'value a' })
    })

    it.each([
      ['a repeated id', () => [place(0, 5), place(0, 6)], 'orders.1.id'],
      ['an unknown id', () => [place(0, 5), { id: UNKNOWN, order_index: 1 }], 'orders.1.id'],
      ['a malformed id', () => [{ id: 'x', order_index: 1 }], 'orders.0.id'],
      ['a negative place', () => [place(0, -1)], 'orders.0.order_index'],
      ['a broken place', () => [place(0, 0.5)], 'orders.0.order_index'],
      ['no place', () => [{ id: flag.variations[0].id }], 'orders.0.order_index'],
      ['an unknown field', () => [{ ...place(0, 1), key: 'x' }], 'orders.0.key'],
      ['nothing', () => [], 'orders'],
      ['no list', () => null, 'orders'],
    ])('A reorder is refused and changes nothing: %s', async (_what, orders, path) => {
      const answer = await reorder(orders())
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, path])
      expect(await keys()).toBe('abc')
    })
  })
})
