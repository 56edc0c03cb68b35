import { type Endpoint, endpoints } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { DATE_TIME, Installation, type Json, NUMBER, TEXT, UUID } from './installation.ts'

let world: Installation

beforeEach(async () => {
  world = await Installation.open()
  return () => world.flags.close()
})

const statusOf = async (method: string, address: string, body?: Json) =>
  (await world.manage(method, address, body)).status

/** Asserts the status of the response to each query or body. */
async function expectStatus(status: number, addresses: readonly string[]): Promise<void> {
  for (const address of addresses)
    expect([address, await statusOf('GET', address)]).toEqual([address, status])
}

describe('management endpoints', () => {
  it('Management responses are envelopes, and lists are pages [ENV-1] [ENV-2] [ENV-3] [ENV-4] [ENV-5]', async () => {
    for (const key of ['a', 'b', 'c']) await world.addFlag(key)
    const flags = `/projects/${world.projectId}/flags`
    const listed = await world.manage('GET', `${flags}?limit=2&page=2`)
    expect(listed.body).toEqual({
      statusCode: 200,
      message: 'OK',
      data: { data: [expect.any(Object)], meta: { total: 3, page: 2, pageCount: 2 } },
    })
    const made = await world.manage('POST', flags, { key: 'd', type: 'boolean' })
    expect(made.body).toMatchObject({ statusCode: 201, message: 'OK', data: { key: 'd' } })
    const plans = await world.manage('GET', '/plan-limits/plans')
    expect(plans.body).toEqual({ statusCode: 200, message: 'OK', data: [] })
    const refused = await world.manage('POST', flags, { key: 'd', type: 'boolean' })
    expect(refused.body).toMatchObject({ statusCode: 409, message: TEXT })
    expect(refused.status).toBe(409)
    const nowhere = await world.manage('GET', '/nowhere')
    expect(nowhere.body).toMatchObject({ statusCode: 404, message: TEXT, data: null })
  })

  it('Every endpoint that requires authentication accepts a bearer token [AUTH-3]', async () => {
    const id = crypto.randomUUID()
    for (const endpoint of Object.values(endpoints) as readonly Endpoint[]) {
      if (endpoint.permission === 'anyone') continue
      const path = endpoint.path.replace(/\{\w+\}/g, id)
      const bare = await world.send(endpoint.method, path, {})
      const known = await world.manage(endpoint.method, path)
      expect([path, bare.status, known.status === 401]).toEqual([path, 401, false])
    }
  })

  it('A request body must be application/json [AUTH-11]', async () => {
    const flags = `/projects/${world.projectId}/flags`
    const authorization = `Bearer ${world.token}`
    const body = '{"key":"a","type":"boolean"}'
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const { status } = await world.send(
        'POST',
        flags,
        { authorization, 'content-type': type },
        body,
      )
      expect([type, status]).toEqual([type, 415])
    }
    const type = 'application/json; charset=utf-8'
    const sent = await world.send('POST', flags, { authorization, 'content-type': type }, body)
    expect(sent.status).toBe(201)
  })
})

describe('GET /audit/logs', () => {
  const logs = async (query = ''): Promise<Json> => world.done('GET', `/audit/logs?${query}`)
  const typesOf = async (query: string): Promise<string[]> =>
    (await logs(query)).data.map((each: Json) => each.eventType)

  /** Creates `count` flags, one minute apart. */
  async function addFlags(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      await world.addFlag(`flag-${n}`)
      await world.clock.advance(60_000)
    }
  }

  it('Audit log pages have 50 entries by default and at most 100 [LOGS-1] [LOGS-2] [LOGS-3] [LOGS-4] [LOGS-15] [LIM-6]', async () => {
    await addFlags(55)
    const { meta, data } = await logs()
    const total = data.length + (await logs('page=2')).data.length
    expect(data).toHaveLength(50)
    expect(meta).toEqual({ total, page: 1, pageCount: 2 })
    expect((await logs('page=1')).data).toEqual(data)
    expect((await logs('limit=100')).data).toHaveLength(total)
    expect((await logs('limit=1')).meta).toEqual({ total, page: 1, pageCount: total })
    const wrong = ['page=0', 'page=-1', 'page=1.5', 'page=x', 'limit=0', 'limit=101', 'limit=x']
    await expectStatus(
      400,
      wrong.map((query) => `/audit/logs?${query}`),
    )
  })

  it('The audit log can be filtered by type, actor, organization and project [LOGS-5] [LOGS-6] [LOGS-7] [LOGS-8]', async () => {
    const flag = await world.addFlag('a')
    await world.done('PUT', `/projects/${world.projectId}/flags/${flag.id}`, { name: 'b' })
    expect(await typesOf('event_type=flag.updated')).toEqual(['flag.updated'])
    const { actor_id } = (await logs('event_type=flag.updated')).data[0]
    const ofActor = await logs(`actor_id=${actor_id}`)
    expect(ofActor.data.every((each: Json) => each.actor_id === actor_id)).toBe(true)
    expect(ofActor.meta.total).toBeGreaterThan(2)
    expect((await logs('actor_id=nobody')).data).toEqual([])
    const other = await world.done('POST', '/organizations', { name: 'Other' })
    expect(await typesOf(`org_id=${other.id}`)).toEqual(['organization.created'])
    const ofProject = await logs(`project_id=${world.projectId}`)
    const projects = new Set(ofProject.data.map((each: Json) => each.project_id))
    expect([...projects]).toEqual([world.projectId])
  })

  it('The audit log can be filtered by time in ISO 8601 [LOGS-9] [LOGS-10]', async () => {
    await addFlags(3)
    const all = (await logs('event_type=flag.created&sort=created_at:asc')).data
    const [first, second, third] = all.map((each: Json) => each.created_at)
    const between = async (query: string) =>
      (await logs(`event_type=flag.created&sort=created_at:asc&${query}`)).data.map(
        (each: Json) => each.created_at,
      )
    expect(await between(`from_date=${second}`)).toEqual([second, third])
    expect(await between(`to_date=${second}`)).toEqual([first, second])
    expect(await between(`from_date=${second}&to_date=${second}`)).toEqual([second])
    await expectStatus(400, ['/audit/logs?from_date=yesterday', '/audit/logs?to_date=2030-13-01'])
  })

  it('The audit log source is redis, database or both, and both by default [LOGS-11] [LOGS-12]', async () => {
    await addFlags(2)
    const both = await logs()
    for (const source of ['redis', 'database', 'both']) {
      expect(await logs(`source=${source}`), source).toEqual(both)
    }
    await expectStatus(400, ['/audit/logs?source=disk'])
  })

  it('The audit log can be sorted by three fields, and is sorted newest first by default [LOGS-13] [LOGS-14]', async () => {
    await addFlags(3)
    for (const field of ['created_at', 'event_type', 'actor_id']) {
      const name = field === 'event_type' ? 'eventType' : field
      const ascending = (await logs(`sort=${field}:asc`)).data.map((each: Json) => each[name])
      expect(ascending).toEqual([...ascending].sort())
      const descending = (await logs(`sort=${field}:desc`)).data.map((each: Json) => each[name])
      expect(descending).toEqual([...ascending].reverse())
    }
    expect(await logs()).toEqual(await logs('sort=created_at:desc'))
    const wrong = ['created_at', 'id:asc', 'created_at:up', 'created_at:ASC']
    await expectStatus(
      400,
      wrong.map((sort) => `/audit/logs?sort=${sort}`),
    )
  })

  it('Log-ins and flag updates have the event types user.login_success and flag.updated [EVT-4]', async () => {
    const flag = await world.addFlag('a')
    await world.done('PUT', `/projects/${world.projectId}/flags/${flag.id}`, { name: 'b' })
    const email = 'ada@acme.test'
    const members = `/organizations/${world.orgId}/members`
    const member = await world.done('POST', members, { email, name: 'Ada', role: 'viewer' })
    const token = member.one_time_link.split('token=').at(-1).split('#').at(-1)
    const password = 'correct horse battery staple'
    const set = { token, new_password: password }
    expect((await world.send('POST', '/auth/password', {}, set)).status).toBe(200)
    expect((await world.send('POST', '/auth/login', {}, { email, password })).status).toBe(200)
    await world.clock.advance(5000)
    expect(await typesOf('event_type=flag.updated')).toHaveLength(1)
    expect(await typesOf('event_type=user.login_success')).not.toEqual([])
  })
})

describe('PUT …/targeting-rules/{ruleId}', () => {
  let flag: Json
  let rule: Json
  const change = (body: Json) => world.manage('PUT', `${world.rules(flag.id)}/${rule.id}`, body)
  const issuesOf = async (body: Json) => {
    const answer = await change(body)
    expect([body, answer.status]).toEqual([body, 400])
    return answer.body.data.issues.map((each: Json) => each.path)
  }

  beforeEach(async () => {
    flag = await world.addFlag('a')
    rule = await world.addRule(flag.id, { variation_id: flag.variations[1].id })
  })

  it('The path of a targeting rule requires four UUIDs, or keys instead of the first three [PUTRULE-1]', async () => {
    const path = `${world.rules(flag.id)}/${rule.id}`
    const ids = [world.projectId, world.environmentId, flag.id, rule.id]
    expect(await statusOf('PUT', path, {})).toBe(200)
    for (const id of ids) {
      expect(await statusOf('PUT', path.replace(id, '.x'), {})).toBe(400)
      expect(await statusOf('PUT', path.replace(id, 'x'), {})).toBe(id === rule.id ? 400 : 404)
      expect(await statusOf('PUT', path.replace(id, crypto.randomUUID()), {})).toBe(404)
      expect(await statusOf('PUT', path.replace(id, ''), {})).toBe(404)
    }
  })

  it('An update of a targeting rule changes only the fields that are sent and returns the rule [PUTRULE-2] [PUTRULE-3] [PUTRULE-10] [PUTRULE-11]', async () => {
    const empty = await change({})
    expect(empty.status).toBe(200)
    expect(empty.body.data.rule).toMatchObject({ id: rule.id, name: 'rule' })
    const { body } = await change({ name: 'Everybody' })
    expect(body).toEqual({
      statusCode: 200,
      message: 'OK',
      data: {
        rule: { ...rule, name: 'Everybody', revision: 2, updated_at: DATE_TIME },
        message: TEXT,
      },
    })
    expect(await issuesOf({ name: 1 })).toEqual(['name'])
  })

  it('A targeting rule is of the kind segment or custom, and a custom rule requires conditions [PUTRULE-4] [PUTRULE-5]', async () => {
    const segments = `/projects/${world.projectId}/segments`
    const segment = await world.done('POST', segments, { key: 's' })
    const bySegment = await change({ kind: 'segment', segment_id: segment.id })
    expect(bySegment.body.data.rule).toMatchObject({ kind: 'segment', segment_id: segment.id })
    expect(await issuesOf({ kind: 'other' })).toEqual(['kind'])
    expect(await issuesOf({ kind: 'custom' })).toContain('conditions')
    const conditions = [
      { attribute: 'plan', operator: 'eq', value: 'pro' },
      { attribute: 'country', operator: 'eq', value: 'de' },
    ]
    const custom = await change({ kind: 'custom', conditions, segment_id: null })
    expect(custom.body.data.rule).toMatchObject({ kind: 'custom', conditions })
    const valueFor = async (more: Json) =>
      (await world.evaluate({ kind: 'user', key: 'u', ...more })).body.a
    expect(await valueFor({ plan: 'pro', country: 'de' })).toBe('on')
    expect(await valueFor({ plan: 'pro' })).toBe('off')
  })

  it('The ids in a targeting rule are UUIDs or null [PUTRULE-6] [PUTRULE-7] [PUTRULE-8]', async () => {
    const segments = `/projects/${world.projectId}/segments`
    const segment = await world.done('POST', segments, { key: 's' })
    const rollouts = world.rules(flag.id).replace('targeting-rules', 'rollouts')
    const served = { variation_id: flag.variations[1].id, percentage: 50 }
    const half = { name: 'half', strategy: 'percentage', ...served }
    const rollout = await world.done('POST', rollouts, half)
    const given: readonly [string, string][] = [
      ['segment_id', segment.id],
      ['variation_id', flag.variations[0].id],
      ['rollout_id', rollout.id],
    ]
    for (const [name, id] of given) {
      const none = {
        variation_id: null,
        rollout_id: null,
        segment_id: null,
        kind: 'custom',
        conditions: [],
      }
      await change(none)
      const changed = await change({
        kind: name === 'segment_id' ? 'segment' : 'custom',
        [name]: id,
      })
      expect([name, changed.status, changed.body.data.rule?.[name]]).toEqual([name, 200, id])
      const cleared = await change({ kind: 'custom', conditions: [], [name]: null })
      expect([name, cleared.body.data.rule?.[name]]).toEqual([name, null])
      expect(await issuesOf({ [name]: 'x' })).toEqual([name])
    }
  })
})

describe('PUT /organizations/{orgId}', () => {
  const change = (body: Json) => world.manage('PUT', `/organizations/${world.orgId}`, body)

  it('The path of an organization requires a UUID [PUTORG-1]', async () => {
    expect(await statusOf('PUT', '/organizations/x', {})).toBe(400)
    expect(await statusOf('PUT', `/organizations/${crypto.randomUUID()}`, {})).toBe(404)
    expect((await change({})).status).toBe(200)
  })

  it('An update of an organization changes only the fields that are sent and returns it [PUTORG-2] [PUTORG-3] [PUTORG-4] [PUTORG-7]', async () => {
    const renamed = await change({ name: 'Acme Ltd' })
    expect(renamed.body.data).toMatchObject({
      id: world.orgId,
      name: 'Acme Ltd',
      billing_email: null,
    })
    const mailed = await change({ billing_email: 'b@acme.test' })
    expect(mailed.body.data).toMatchObject({ name: 'Acme Ltd', billing_email: 'b@acme.test' })
    for (const wrong of [{ name: 1 }, { billing_email: 'nobody' }]) {
      expect((await change(wrong)).status).toBe(400)
    }
  })

  it('An update of an organization sets and deletes metadata entries [PUTORG-5] [PUTORG-6]', async () => {
    await change({ metadata_updates: { a: 1, b: { c: [2] } } })
    const changed = await change({ metadata_updates: { d: 'e' }, metadata_deletes: ['a'] })
    expect(changed.body.data.metadata).toEqual({ b: { c: [2] }, d: 'e' })
    for (const wrong of [{ metadata_updates: [] }, { metadata_deletes: 'a' }]) {
      expect((await change(wrong)).status).toBe(400)
    }
  })
})

describe('/plan-limits/plans', () => {
  const make = (body: Json) => world.manage('POST', '/plan-limits/plans', body)

  it('A plan requires only a name and accepts all other fields [PLANS-1] [PLANS-2] [PLANS-3] [PLANS-4] [PLANS-5] [PLANS-6]', async () => {
    expect((await make({})).status).toBe(400)
    const bare = await make({ name: 'Bare' })
    expect(bare.body.data).toMatchObject({ id: UUID, name: 'Bare' })
    const limits = ['max_projects', 'max_flags', 'max_environments', 'max_api_calls', 'trial_days']
    const ids = ['product', 'price', 'monthly_price', 'annual_price'].map(
      (name) => `stripe_${name}_id`,
    )
    const fields: readonly (readonly [string, Json, Json])[] = [
      ['most_popular', true, 'yes'],
      ['product_link', 'https://pay.test/x', 1],
      ...limits.map((name) => [name, 3, '3'] as const),
      ...ids.map((name) => [name, `id_${name}`, 3] as const),
    ]
    for (const [name, right, wrong] of fields) {
      const made = await make({ name: 'P', [name]: right })
      expect([name, made.status, made.body.data[name]]).toEqual([name, 201, right])
      expect([name, (await make({ name: 'P', [name]: wrong })).status]).toEqual([name, 400])
      if (name === 'most_popular') continue
      const none = await make({ name: 'P', [name]: null })
      expect([name, none.status, none.body.data[name]]).toEqual([name, 201, null])
    }
  })

  it('Plans are listed without parameters [PLANS-7]', async () => {
    const made = (await make({ name: 'Team' })).body.data
    expect(await world.done('GET', '/plan-limits/plans')).toEqual([made])
    await expectStatus(400, ['/plan-limits/plans?page=1'])
  })
})

describe('PUT …/variations/reorder', () => {
  it('A reorder requires at least one entry and returns the variations [ORDER-1] [ORDER-2] [ORDER-3] [ORDER-4] [LIM-8]', async () => {
    const flag = await world.addFlag('a')
    const path = `/projects/${world.projectId}/flags/${flag.id}/variations/reorder`
    const [first, second] = flag.variations.map((each: Json) => each.id)
    const orders = [{ id: first, order_index: 7 }]
    const { status, body } = await world.manage('PUT', path, { orders })
    expect(status).toBe(200)
    expect(body.data.map((each: Json) => [each.id, each.order_index])).toEqual([
      [second, 1],
      [first, 7],
    ])
    expect(body.data[0]).toMatchObject({ flag_id: flag.id, order_index: NUMBER })
    const wrong = [
      {},
      { orders: [] },
      { orders: [{ id: first }] },
      { orders: [{ order_index: 1 }] },
      { orders: [{ id: 'x', order_index: 1 }] },
      { orders: [{ id: first, order_index: '1' }] },
    ]
    for (const each of wrong) expect(await statusOf('PUT', path, each)).toBe(400)
    for (const id of [world.projectId, flag.id]) {
      expect(await statusOf('PUT', path.replace(id, '.x'), { orders })).toBe(400)
      expect(await statusOf('PUT', path.replace(id, 'x'), { orders })).toBe(404)
      expect(await statusOf('PUT', path.replace(id, crypto.randomUUID()), { orders })).toBe(404)
    }
  })
})

describe('GET /flags/{flagId}/metrics', () => {
  it('Flag metrics require a flag and an environment, and the only period is 24h [METRICS-1] [METRICS-2] [METRICS-3]', async () => {
    const flag = await world.addFlag('a')
    const path = `/flags/${flag.id}/metrics`
    const query = `environmentId=${world.environmentId}`
    await expectStatus(200, [`${path}?${query}`, `${path}?${query}&period=24h`])
    const wrong = ['', '?period=24h', '?environmentId=x', `?${query}&period=7d`, `?${query}&x=1`]
    await expectStatus(
      400,
      wrong.map((each) => `${path}${each}`),
    )
    await expectStatus(400, [`/flags/x/metrics?${query}`])
    await expectStatus(404, [`/flags/${crypto.randomUUID()}/metrics?${query}`])
  })
})

describe('GET /contexts/observed-contexts', () => {
  const seen = async (query = ''): Promise<Json> =>
    world.done('GET', `/contexts/observed-contexts?${query}`)
  const keysOf = async (query: string): Promise<string[]> =>
    (await seen(query)).data.map((each: Json) => each.context_json.key).sort()

  it('Pages of observed contexts have 20 entries by default and at most 100 [SEEN-1] [SEEN-2] [SEEN-3] [SEEN-4] [SEEN-10] [LIM-7]', async () => {
    await world.addFlag('a')
    for (let n = 0; n < 25; n += 1) await world.evaluate({ kind: 'user', key: `u${n}` })
    await world.clock.advance(5000)
    const { data, meta } = await seen()
    expect(data).toHaveLength(20)
    expect(meta).toEqual({ total: 25, page: 1, pageCount: 2 })
    expect((await seen('page=1')).data).toEqual(data)
    expect((await seen('perPage=100')).data).toHaveLength(25)
    expect((await seen('perPage=1&page=25')).data).toHaveLength(1)
    const wrong = ['page=0', 'page=1.5', 'perPage=0', 'perPage=101', 'perPage=x', 'page=x']
    await expectStatus(
      400,
      wrong.map((query) => `/contexts/observed-contexts?${query}`),
    )
  })

  it('Observed contexts can be filtered by kind, success, time and environment [SEEN-5] [SEEN-6] [SEEN-7] [SEEN-8] [SEEN-9]', async () => {
    await world.addFlag('a')
    await world.evaluate({ kind: 'user', key: 'u' })
    await world.clock.advance(60_000)
    const later = new Date(world.clock.now()).toISOString()
    await world.evaluate({ kind: 'device', key: 'd' })
    await world.clock.advance(5000)
    expect(await keysOf('kind=user')).toEqual(['u'])
    expect(await keysOf('success=true')).toEqual(['d', 'u'])
    expect(await keysOf('success=false')).toEqual([])
    expect(await keysOf(`from=${later}`)).toEqual(['d'])
    expect(await keysOf(`to=${later}`)).toEqual(expect.arrayContaining(['u']))
    expect(await keysOf('to=2029-01-01T00:00:00Z')).toEqual([])
    expect(await keysOf(`env_id=${world.environmentId}`)).toEqual(['d', 'u'])
    expect(await keysOf(`kind=${'k'.repeat(64)}`)).toEqual([])
    const wrong = [`kind=${'k'.repeat(65)}`, 'success=yes', 'from=x', 'to=x', 'env_id=x']
    await expectStatus(
      400,
      wrong.map((query) => `/contexts/observed-contexts?${query}`),
    )
  })
})

describe('GET /billing/organizations/{orgId}/invoices', () => {
  it('The invoices of an organization require a UUID and are a list [BILL-1] [BILL-2]', async () => {
    const path = `/billing/organizations/${world.orgId}/invoices`
    expect(await world.done('GET', path)).toEqual({ invoices: [] })
    await expectStatus(400, ['/billing/organizations/x/invoices'])
    await expectStatus(404, [`/billing/organizations/${crypto.randomUUID()}/invoices`])
  })
})
