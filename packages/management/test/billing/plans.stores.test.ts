import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { type Json, type Tenant, World } from '../world/world.ts'

const PLANS = '/plan-limits/plans'
const TEAM = {
  name: 'Team',
  max_projects: 3,
  max_flags: 100,
  max_environments: null,
  max_api_calls: 1_000_000,
  max_observed_contexts: 50_000,
  max_observed_context_bytes: 64 * 1024 * 1024,
  trial_days: 14,
  most_popular: true,
  product_link: 'https://acme.test/buy?plan=team',
  stripe_product_id: 'prod_team',
  stripe_price_id: 'price_team',
  stripe_monthly_price_id: 'price_team_month',
  stripe_annual_price_id: 'price_team_year',
  overage_rate_eur_cents: 500,
  overage_block_size: 10_000,
  grace_buffer_pct: 10,
}

let world: World
let tenant: Tenant

const send = (method: string, address: string, body?: Json, token = tenant.tokens.platform) =>
  world.call(method, address, { token, body })

async function done(method: string, address: string, body?: Json, token?: string): Promise<Json> {
  const answer = await send(method, address, body, token)
  if (answer.status >= 300) throw new Error(answer.text)
  return answer.data
}

describe.each(stores)('Plans in %s', (_name, openStore) => {
  let clean: () => void

  beforeEach(async () => {
    const opened = openStore()
    clean = opened.clean
    world = await World.create(opened.storage)
    tenant = await world.addTenant('Acme')
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  it('A new plan has the fields of the request and no others', async () => {
    const created = await send('POST', PLANS, TEAM)
    expect(created).toMatchObject({ status: 201, headers: { ETag: '"1"' } })
    expect(created.data).toEqual({
      id: expect.any(String),
      ...TEAM,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      deleted_at: null,
      revision: 1,
    })
    expect(await done('GET', `${PLANS}/${created.data.id}`)).toEqual(created.data)
  })

  it('A new plan has no limits and no costs by default', async () => {
    expect(await done('POST', PLANS, { name: 'Free' })).toMatchObject({
      max_projects: null,
      max_flags: null,
      max_environments: null,
      max_api_calls: null,
      trial_days: null,
      most_popular: false,
      product_link: null,
      stripe_product_id: null,
      overage_rate_eur_cents: 0,
      overage_block_size: 1000,
      grace_buffer_pct: 0,
    })
  })

  it('All actors can read all plans, sorted by name', async () => {
    for (const name of ['Team', 'Business', 'Free']) await done('POST', PLANS, { name })
    for (const token of Object.values(tenant.tokens)) {
      const { data } = await send('GET', PLANS, undefined, token)
      expect(data.map(({ name }: Json) => name)).toEqual(['Business', 'Free', 'Team'])
      expect((await send('GET', `${PLANS}/${data[0].id}`, undefined, token)).status).toBe(200)
    }
    expect((await world.call('GET', PLANS)).status).toBe(401)
  })

  it('Only the platform can create, change and delete plans', async () => {
    const { id } = await done('POST', PLANS, { name: 'Team' })
    for (const role of ['owner', 'admin', 'editor', 'viewer'] as const) {
      const token = tenant.tokens[role]
      expect((await send('POST', PLANS, TEAM, token)).status).toBe(403)
      expect((await send('PUT', `${PLANS}/${id}`, { max_flags: null }, token)).status).toBe(403)
      expect((await send('DELETE', `${PLANS}/${id}`, undefined, token)).status).toBe(403)
      const own = `/organizations/${tenant.orgId}/plan`
      expect((await send('PUT', own, { plan_id: id }, token)).status).toBe(403)
    }
    expect(await done('GET', PLANS)).toMatchObject([{ name: 'Team', revision: 1 }])
  })

  it('A change of a plan sets the fields of the request, and null clears a field', async () => {
    const { id } = await done('POST', PLANS, TEAM)
    expect(await done('PUT', `${PLANS}/${id}`, { name: 'Crew' })).toMatchObject({
      ...TEAM,
      name: 'Crew',
      revision: 2,
    })
    const cleared = {
      max_flags: null,
      product_link: null,
      stripe_price_id: null,
      most_popular: null,
      overage_rate_eur_cents: null,
      overage_block_size: null,
      grace_buffer_pct: null,
    }
    expect(await done('PUT', `${PLANS}/${id}`, cleared)).toMatchObject({
      max_flags: null,
      product_link: null,
      stripe_price_id: null,
      most_popular: false,
      overage_rate_eur_cents: 0,
      overage_block_size: 1000,
      grace_buffer_pct: 0,
      max_projects: 3,
    })
    const types = (await world.audit()).map(({ eventType, orgId }) => [eventType, orgId])
    expect(types.filter(([type]) => type?.startsWith('plan.'))).toEqual([
      ['plan.created', ''],
      ['plan.updated', ''],
      ['plan.updated', ''],
    ])
  })

  it('A plan can be deleted if no organization has it; otherwise ten of the organizations are named', async () => {
    const { id } = await done('POST', PLANS, TEAM)
    for (let number = 10; number < 22; number += 1) {
      const { id: orgId } = await world.management.createOrganization({
        body: { name: `Org ${number}` },
      })
      await world.management.setOrganizationPlan({ params: { orgId }, body: { planId: id } })
    }
    const refused = await send('DELETE', `${PLANS}/${id}`)
    expect(refused.status).toBe(409)
    expect(refused.data.used_by).toHaveLength(10)
    expect(refused.data.used_by[0]).toMatchObject({ resource: 'organization', name: 'Org 10' })
    const { data: organizations } = await done('GET', '/organizations')
    for (const { id: orgId } of organizations) {
      await done('PUT', `/organizations/${orgId}/plan`, { plan_id: null })
    }
    expect(await send('DELETE', `${PLANS}/${id}`)).toMatchObject({ status: 200, data: null })
    expect((await send('GET', `${PLANS}/${id}`)).status).toBe(404)
    expect(await done('GET', PLANS)).toEqual([])
  })
})

describe('Invalid plans', () => {
  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
  })

  it.each([
    ['name', ''],
    ['name', null],
    ['max_projects', -1],
    ['max_flags', 1.5],
    ['max_api_calls', 1e13],
    ['max_environments', '3'],
    ['trial_days', 4000],
    ['most_popular', 'yes'],
    ['product_link', 'javascript:alert(1)'],
    ['product_link', '//acme.test'],
    ['product_link', ''],
    ['stripe_price_id', 'a b'],
    ['stripe_product_id', ''],
    ['overage_rate_eur_cents', -1],
    ['overage_block_size', 0],
    ['grace_buffer_pct', 1001],
    ['id', '00000000-0000-4000-8000-000000000001'],
    ['deleted_at', null],
    ['revision', 7],
  ])('A plan is refused if its field %s is %j', async (field, value) => {
    const created = await send('POST', PLANS, { ...TEAM, [field]: value })
    expect([created.status, created.data.issues[0].path]).toEqual([400, field])
    expect(await done('GET', PLANS)).toEqual([])
  })
})

describe('The plan of an organization', () => {
  let planId: string
  let at: string

  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    planId = (await done('POST', PLANS, TEAM)).id
    at = `/organizations/${tenant.orgId}/plan`
  })

  it('The plan of an organization is set by its id, or by an id of the payment provider', async () => {
    const names = ['prod_team', 'price_team', 'price_team_month', 'price_team_year']
    for (const name of [planId, planId.toUpperCase(), ...names]) {
      expect(await done('PUT', at, { plan_id: name })).toMatchObject({ plan_id: planId })
      expect(await done('PUT', at, { plan_id: null })).toMatchObject({ plan_id: null })
    }
  })

  it('A plan that is unknown, deleted or ambiguous is refused', async () => {
    const { id: gone } = await done('POST', PLANS, { name: 'Gone' })
    await done('DELETE', `${PLANS}/${gone}`)
    await done('POST', PLANS, { name: 'Other', stripe_product_id: 'prod_team' })
    for (const name of [gone, tenant.orgId, 'Team', 'prod_team', '', '__proto__']) {
      const answer = await send('PUT', at, { plan_id: name })
      expect([name, answer.status, answer.data.issues[0].path]).toEqual([name, 400, 'plan_id'])
    }
    const fields = ['trial_ends_at', 'api_usage', 'has_used_paid_trial', 'current_period_end']
    for (const field of fields) {
      const answer = await send('PUT', at, { plan_id: planId, [field]: null })
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
    }
    expect((await send('PUT', at, {})).status).toBe(400)
  })

  it('Taking a plan begins a period, which continues if the plan changes', async () => {
    const taken = await done('PUT', at, { plan_id: planId })
    expect(taken).toMatchObject({
      plan_id: planId,
      current_period_end: '2030-02-01T00:00:00.000Z',
      trial_ends_at: null,
      has_used_paid_trial: false,
    })
    await world.storage.update('organization', tenant.orgId, { apiUsage: 7 })
    await world.clock.advance(86_400_000)
    const { id: other } = await done('POST', PLANS, { name: 'Other' })
    expect(await done('PUT', at, { plan_id: other })).toMatchObject({
      plan_id: other,
      current_period_end: '2030-02-01T00:00:00.000Z',
      api_usage: 7,
    })
    const events = (await world.audit()).filter(
      ({ eventType }) => eventType === 'organization.plan_changed',
    )
    expect(events).toMatchObject([
      { streamId: `organization:${tenant.orgId}`, orgId: tenant.orgId },
      { payload: { before: { plan_id: planId }, after: { plan_id: other } } },
    ])
  })

  it('Setting the same plan again changes nothing', async () => {
    const taken = await done('PUT', at, { plan_id: planId })
    expect(await done('PUT', at, { plan_id: planId })).toEqual(taken)
    const tried = await done('PUT', at, { plan_id: planId, trial: true })
    await world.storage.update('organization', tenant.orgId, { apiUsage: 7 })
    const again = await done('PUT', at, { plan_id: planId, trial: true })
    expect(again).toEqual({ ...tried, api_usage: 7 })
  })

  it('A plan can be tried once, for its number of trial days', async () => {
    const tried = await done('PUT', at, { plan_id: planId, trial: true })
    expect(tried).toMatchObject({
      plan_id: planId,
      trial_starts_at: '2030-01-01T00:00:00.000Z',
      trial_ends_at: '2030-01-15T00:00:00.000Z',
      has_used_paid_trial: true,
      current_period_end: null,
    })
    expect(await done('PUT', at, { plan_id: planId })).toMatchObject({
      trial_starts_at: null,
      trial_ends_at: null,
      has_used_paid_trial: true,
      current_period_end: '2030-02-01T00:00:00.000Z',
    })
    const { id: other } = await done('POST', PLANS, { name: 'Other', trial_days: 5 })
    expect(await send('PUT', at, { plan_id: other, trial: true })).toMatchObject({
      status: 409,
      message: 'The organization has used its trial.',
    })
  })

  it('A plan without trial days cannot be tried', async () => {
    for (const trial_days of [null, 0]) {
      const { id } = await done('POST', PLANS, { name: 'Firm', trial_days })
      const answer = await send('PUT', at, { plan_id: id, trial: true })
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, 'trial'])
    }
    const answer = await send('PUT', at, { plan_id: null, trial: true })
    expect([answer.status, answer.data.issues[0].path]).toEqual([400, 'trial'])
  })
})
