import { beforeEach, describe, expect, it } from 'vitest'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const UNKNOWN = '99999999-9999-4999-8999-999999999999'
const user = (key: string, attributes = {}) => ({ kind: 'user', key, ...attributes })
const isPro = { attribute: 'plan', operator: 'eq', value: 'pro' }

describe('Targeting rules', () => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let token: string
  let flag: Json
  let yes: string

  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
    token = tenant.tokens.editor
    const body = { key: 'a', type: 'boolean' }
    flag = (await world.call('POST', at.flags, { token, body })).data
    yes = flag.variations[0].id
  })

  const rule = (id: string) => `${at.rules(flag.id)}/${id}`
  const post = (body: Json) => world.call('POST', at.rules(flag.id), { token, body })
  const put = (id: string, body: Json) => world.call('PUT', rule(id), { token, body })
  const inProject = () => ({ params: { projectId: tenant.project.id } })
  const names = async () => {
    const { data } = await world.call('GET', at.rules(flag.id), { token })
    return data.data.map(({ name }: Json) => name)
  }

  it('A rule serves its variation to the contexts that it matches, in its environment', async () => {
    const created = await post({ name: 'Pro', conditions: [isPro], variation_id: yes })
    expect(created.status).toBe(201)
    expect(created.data).toMatchObject({
      flag_id: flag.id,
      environment_id: tenant.live.id,
      project_id: tenant.project.id,
      kind: 'custom',
      conditions: [isPro],
      segment_id: null,
      rollout_id: null,
      order_index: 0,
      revision: 1,
    })
    expect(await world.evaluate(tenant.live, user('u', { plan: 'pro' }))).toEqual({ a: true })
    expect(await world.evaluate(tenant.live, user('u', { plan: 'free' }))).toEqual({ a: false })
    expect(await world.evaluate(tenant.staging, user('u', { plan: 'pro' }))).toEqual({ a: false })
    const { data } = await world.call('GET', rule(created.data.id), { token })
    expect(data).toEqual(created.data)
  })

  it('A change of a rule returns the rule and a message', async () => {
    const { data } = await post({ name: 'Pro', conditions: [isPro], variation_id: yes })
    const answer = await put(data.id, { conditions: [{ ...isPro, value: 'team' }], order_index: 3 })
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.data)).toEqual(['rule', 'message'])
    expect(answer.data.rule).toMatchObject({
      name: 'Pro',
      variation_id: yes,
      order_index: 3,
      revision: 2,
    })
    expect(answer.headers['ETag']).toBe('"2"')
    expect(await world.evaluate(tenant.live, user('u', { plan: 'team' }))).toEqual({ a: true })
    await put(data.id, { variation_id: null })
    expect(await world.evaluate(tenant.live, user('u', { plan: 'team' }))).toEqual({ a: false })
    expect((await world.call('DELETE', rule(data.id), { token })).data).toBe(null)
    expect((await world.call('GET', rule(data.id), { token })).status).toBe(404)
  })

  it('A condition value can be any JSON and is returned as text', async () => {
    const values = [['de', 'at'], 5, true, { a: 1 }, 'text', undefined]
    const operators = ['in', 'gt', 'eq', 'eq', 'eq', 'exists']
    const conditions = values.map((value, index) => {
      return { attribute: 'x', operator: operators[index], value }
    })
    const { data } = await post({
      name: 'r',
      conditions: [...conditions, { attribute: 'y', value: 1 }],
    })
    expect(data.conditions.map(({ operator, value }: Json) => [operator, value])).toEqual([
      ['in', '["de","at"]'],
      ['gt', '5'],
      ['eq', 'true'],
      ['eq', '{"a":1}'],
      ['eq', 'text'],
      ['exists', ''],
      ['eq', '1'],
    ])
  })

  it('A rule is returned with its segment and follows the changes of it', async () => {
    const body = {
      key: 'team',
      name: 'Team',
      rules: [{ attribute: 'email', operator: 'ends_with', value: '@acme.test' }],
    }
    const segment = await world.management.createSegment({ ...inProject(), body })
    const { data } = await post({ name: 'r', segment_id: segment.id, variation_id: yes })
    expect(data).toMatchObject({
      kind: 'segment',
      segment_id: segment.id,
      segment_name: 'Team',
      segment_key: 'team',
      segment_description: '',
      segment_logical_op: 'AND',
      segment_rules: body.rules,
      segment: {
        id: segment.id,
        project_id: tenant.project.id,
        force: false,
        key_attribute: 'user.key',
      },
    })
    expect(await world.evaluate(tenant.live, user('u', { email: 'x@acme.test' }))).toEqual({
      a: true,
    })
    expect(await world.evaluate(tenant.live, user('u', { email: 'x@else.test' }))).toEqual({
      a: false,
    })
  })

  it('A rule serves the shares of its rollout', async () => {
    const params = { projectId: tenant.project.id, environmentId: tenant.live.id, flagId: flag.id }
    const body = { name: 'Half', strategy: 'percentage' as const, variationId: yes, percentage: 50 }
    const rollout = await world.management.createRollout({ params, body })
    expect(rollout.salt).toMatch(/^[0-9A-Za-z]{11}$/)
    expect(rollout.ranges).toEqual([{ variationId: yes, from: 0, to: 50_000 }])
    await post({ name: 'Half of all', conditions: [], rollout_id: rollout.id })
    let served = 0
    for (let index = 0; index < 2000; index += 1) {
      if ((await world.evaluate(tenant.live, user(`user-${index}`)))['a'] === true) served += 1
    }
    expect(served).toBeGreaterThan(900)
    expect(served).toBeLessThan(1100)
  })

  it('A change of a rule is validated together with its unchanged fields', async () => {
    const body = { key: 's', rules: [isPro] }
    const segment = await world.management.createSegment({ ...inProject(), body })
    const refusals: [Json, string][] = [
      [{ name: 'r', kind: 'custom' }, 'conditions'],
      [{ name: 'r', kind: 'segment' }, 'segment_id'],
      [{ name: 'r', kind: 'segment', segment_id: null }, 'segment_id'],
      [{ name: 'r', kind: 'other' }, 'kind'],
      [{ conditions: [] }, 'name'],
    ]
    for (const [given, path] of refusals) {
      const answer = await post(given)
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, path])
    }
    const bySegment = (await post({ name: 's', kind: 'segment', segment_id: segment.id })).data.id
    const custom = (await post({ name: 'c', kind: 'custom', conditions: [isPro] })).data.id
    const unconditional = await post({ name: 'all', kind: 'custom', conditions: [] })
    expect(unconditional.status).toBe(201)
    const changes: [string, Json, number][] = [
      [bySegment, { segment_id: null }, 400],
      [bySegment, { kind: 'custom' }, 400],
      [bySegment, { kind: 'custom', conditions: [isPro], segment_id: null }, 200],
      [bySegment, { kind: 'segment' }, 400],
      [bySegment, { kind: 'segment', segment_id: segment.id }, 200],
      [bySegment, { kind: 'custom' }, 200],
      [custom, { kind: 'segment' }, 400],
      [custom, { name: 'still custom' }, 200],
      [custom, { kind: 'custom', conditions: null }, 400],
      [custom, { conditions: null }, 400],
      [custom, { name: null }, 400],
      [unconditional.data.id, { kind: 'custom' }, 200],
    ]
    for (const [id, given, status] of changes) {
      expect([given, (await put(id, given)).status]).toEqual([given, status])
    }
  })

  it('A rule refuses ids of other flags and projects and names the field', async () => {
    const other = (
      await world.call('POST', at.flags, { token, body: { key: 'b', type: 'boolean' } })
    ).data
    const elsewhere = await world.management.createRollout({
      params: { projectId: tenant.project.id, environmentId: tenant.staging.id, flagId: flag.id },
      body: { name: 'r', strategy: 'percentage', variationId: yes, percentage: 1 },
    })
    const foreign = await world.addTenant('Other')
    const params = { projectId: foreign.project.id }
    const segment = await world.management.createSegment({ params, body: { key: 's' } })
    const condition = (operator: string, value: Json, attribute = 'x') => ({
      conditions: [isPro, { attribute, operator, value }],
    })
    const refusals: [Json, string][] = [
      [{ segment_id: segment.id }, 'segment_id'],
      [{ variation_id: other.variations[0].id }, 'variation_id'],
      [{ variation_id: UNKNOWN }, 'variation_id'],
      [{ rollout_id: elsewhere.id }, 'rollout_id'],
      [{ rollout_id: 'x' }, 'rollout_id'],
      [condition('in_segment', segment.id), 'conditions.1'],
      [condition('in_segment', [UNKNOWN]), 'conditions.1'],
      [condition('flag_is', 'true', 'nowhere'), 'conditions.1'],
      [condition('flag_is', ['true', 'maybe'], 'b'), 'conditions.1'],
      [condition('flag_is', 'true', 'a'), 'conditions'],
      [condition('resembles', 'x'), 'conditions.1'],
      [condition('gt', 'ten'), 'conditions.1'],
      [condition('matches', '(a+'), 'conditions.1'],
      [condition('matches', '(?=a)a'), 'conditions.1'],
      [condition('matches_ci', '((a{100}){100}){100}'), 'conditions.1'],
      [
        condition('elem_match', [{ attribute: '', operator: 'matches', value: '(' }]),
        'conditions.1',
      ],
      [condition('in_bucket', { salt: 's', ranges: [[0, 1]], scheme: 'none' }), 'conditions.1'],
      [condition('in_bucket', { salt: 's', ranges: [[2, 1]] }), 'conditions.1'],
      [condition('modulo', '0|1'), 'conditions.1'],
      [condition('', 'x'), 'conditions.1.operator'],
      [{ conditions: [{ operator: 'eq', value: 'x' }] }, 'conditions.0.attribute'],
      [{ conditions: [{ attribute: 'a', operator: 'eq' }] }, 'conditions.0.value'],
      [{ conditions: [{ ...isPro, negate: 'yes' }] }, 'conditions.0.negate'],
      [{ conditions: [{ ...isPro, extra: 1 }] }, 'conditions.0.extra'],
      [{ conditions: 'all' }, 'conditions'],
      [{ order_index: -1 }, 'order_index'],
      [{ order_index: '1' }, 'order_index'],
      [{ environment_id: tenant.staging.id }, 'environment_id'],
    ]
    for (const [given, path] of refusals) {
      const answer = await post({ name: 'r', conditions: [], ...given })
      expect([given, answer.status, answer.data.issues[0].path]).toEqual([given, 400, path])
    }
    expect(await names()).toEqual([])
    expect((await post({ name: 'r', ...condition('flag_is', 'true', 'b') })).status).toBe(201)
  })

  it('Conditions match patterns, networks, elements and shares', async () => {
    const conditions = [
      { attribute: 'email', operator: 'matches', value: '@acme\\.(org|test)$' },
      { attribute: 'ip', operator: 'in_cidr', value: ['10.0.0.0/8', '2001:db8::/32'] },
      {
        attribute: 'carts',
        operator: 'elem_match',
        value: [{ attribute: 'size', operator: 'gt', value: 1 }],
      },
      { attribute: 'key', operator: 'in_bucket', value: { salt: 's', ranges: [[0, 100_000]] } },
    ]
    const created = await post({ name: 'All of it', conditions, variation_id: yes })
    expect(created.status).toBe(201)
    expect(created.data.conditions[1].value).toBe('["10.0.0.0/8","2001:db8::/32"]')
    const context = { email: 'a@acme.org', ip: '10.1.2.3', carts: [{ size: 1 }, { size: 2 }] }
    expect(await world.evaluate(tenant.live, user('u', context))).toEqual({ a: true })
    for (const other of [{ email: 'a@acme.com' }, { ip: '11.1.2.3' }, { carts: [{ size: 1 }] }]) {
      const value = await world.evaluate(tenant.live, user('u', { ...context, ...other }))
      expect(value).toEqual({ a: false })
    }
  })

  it('Rules are evaluated by order index, and equal ones by age', async () => {
    const [, no] = flag.variations
    await post({ name: 'third', conditions: [], order_index: 5, variation_id: yes })
    await world.clock.advance(1)
    await post({ name: 'first', conditions: [], variation_id: yes })
    await world.clock.advance(1)
    await post({ name: 'second', conditions: [], variation_id: no.id })
    expect(await names()).toEqual(['first', 'second', 'third'])
    expect(await world.evaluate(tenant.live, user('u'))).toEqual({ a: true })
    const { data } = await world.call('GET', `${at.rules(flag.id)}?limit=2&page=2`, { token })
    expect(data.data.map(({ name }: Json) => name)).toEqual(['third'])
    expect(data.meta).toEqual({ total: 3, page: 2, pageCount: 2 })
  })

  it('Rules are reordered together or not at all', async () => {
    await post({ name: 'a', conditions: [], order_index: 1 })
    const b = (await post({ name: 'b', conditions: [], order_index: 2 })).data
    const reorder = (orders: Json) =>
      world.call('PUT', `${at.rules(flag.id)}/reorder`, { token, body: { orders } })
    const refused = await reorder([
      { id: b.id, order_index: 0 },
      { id: UNKNOWN, order_index: 1 },
    ])
    expect([refused.status, refused.data.issues[0].path]).toEqual([400, 'orders.1.id'])
    expect(await names()).toEqual(['a', 'b'])
    const answer = await reorder([{ id: b.id, order_index: 0 }])
    expect(answer.data.map(({ name, order_index }: Json) => [name, order_index])).toEqual([
      ['b', 0],
      ['a', 1],
    ])
    expect(await names()).toEqual(['b', 'a'])
  })

  it('A rule is not found through another flag or environment', async () => {
    const { data } = await post({ name: 'r', conditions: [] })
    const other = (
      await world.call('POST', at.flags, { token, body: { key: 'b', type: 'boolean' } })
    ).data
    for (const path of [at.staging(flag.id), at.live(other.id)]) {
      const address = `${path}/targeting-rules/${data.id}`
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await world.call(method, address, {
          token,
          body: method === 'PUT' ? {} : undefined,
        })
        expect(answer.status).toBe(404)
      }
    }
  })
})
