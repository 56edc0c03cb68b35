import { beforeEach, describe, expect, it } from 'vitest'
import { DATE_TIME, Installation, type Json, NUMBER, TEXT, UUID } from './installation.ts'

let world: Installation

beforeEach(async () => {
  world = await Installation.open()
  return () => world.flags.close()
})

describe('targeting rules', () => {
  it('A targeting rule has its ids, name, order and times [RULE-1] [RULE-2] [RULE-8] [RULE-10]', async () => {
    const flag = await world.addFlag('a')
    const rule = await world.addRule(flag.id, { name: 'Everybody' })
    expect(rule).toMatchObject({
      id: UUID,
      flag_id: flag.id,
      environment_id: world.environmentId,
      project_id: world.projectId,
      name: 'Everybody',
      order_index: 0,
      created_at: DATE_TIME,
      updated_at: DATE_TIME,
    })
    for (const id of [flag.id, world.environmentId, world.projectId]) expect(id).toEqual(UUID)
  })

  it('A targeting rule has an optional variation, rollout and segment [RULE-5] [RULE-6] [RULE-7]', async () => {
    const flag = await world.addFlag('a')
    const none = await world.addRule(flag.id, {})
    expect(none).toMatchObject({ segment_id: null, variation_id: null, rollout_id: null })
    const on = flag.variations[1].id
    const rollouts = world.rules(flag.id).replace('targeting-rules', 'rollouts')
    const half = { name: 'half', strategy: 'percentage', percentage: 100, variation_id: on }
    const rollout = await world.done('POST', rollouts, half)
    const segment = await world.done('POST', `/projects/${world.projectId}/segments`, {
      key: 's',
      rules: [{ attribute: 'plan', value: 'pro' }],
    })
    const served = await world.addRule(flag.id, { variation_id: on, segment_id: segment.id })
    expect(served).toMatchObject({ segment_id: UUID, variation_id: UUID, rollout_id: null })
    const split = await world.addRule(flag.id, { rollout_id: rollout.id, order_index: 1 })
    expect(split).toMatchObject({ rollout_id: UUID, variation_id: null })
    const user = { kind: 'user', key: 'u' }
    expect((await world.evaluate({ ...user, plan: 'pro' })).body).toEqual({ a: 'on' })
    expect((await world.evaluate(user)).body).toEqual({ a: 'on' })
    await world.done('DELETE', `${world.rules(flag.id)}/${split.id}`)
    expect((await world.evaluate(user)).body).toEqual({ a: 'off' })
  })

  it('A targeting rule matches if all its conditions are true [RULE-3] [RULE-4] [COND-1] [COND-2]', async () => {
    const flag = await world.addFlag('a')
    const conditions = [
      { attribute: 'plan', operator: 'eq', value: 'pro' },
      { attribute: 'country', operator: 'eq', value: 'de' },
    ]
    const served = { conditions, variation_id: flag.variations[1].id }
    const rule = await world.addRule(flag.id, served)
    expect(rule.conditions).toEqual(conditions)
    for (const each of rule.conditions)
      expect(each).toEqual({ attribute: TEXT, operator: TEXT, value: TEXT })
    const valueFor = async (attributes: Json) =>
      (await world.evaluate({ kind: 'user', key: 'u', ...attributes })).body.a
    expect(await valueFor({ plan: 'pro', country: 'de' })).toBe('on')
    expect(await valueFor({ plan: 'pro', country: 'fr' })).toBe('off')
    expect(await valueFor({ plan: 'free', country: 'de' })).toBe('off')
    expect(await valueFor({ plan: 'pro' })).toBe('off')
  })

  it('The targeting rule with the lower order index is evaluated first [RULE-9] [PUTRULE-9]', async () => {
    const flag = await world.addFlag('a')
    const [off, on] = flag.variations
    const second = await world.addRule(flag.id, { variation_id: on.id, order_index: 5 })
    await world.addRule(flag.id, { variation_id: off.id, order_index: 3 })
    const value = async () => (await world.evaluate({ kind: 'user', key: 'u' })).body.a
    expect(await value()).toBe('off')
    await world.done('PUT', `${world.rules(flag.id)}/${second.id}`, { order_index: 1 })
    expect(await value()).toBe('on')
  })

  it('A targeting rule contains the fields of its segment [RULE-12] [RULE-13] [RULE-14]', async () => {
    const flag = await world.addFlag('a')
    const segment = await world.done('POST', `/projects/${world.projectId}/segments`, {
      key: 'partners',
      name: 'Partners',
      description: 'Who sells for us',
      rules: [{ attribute: 'plan', value: 'pro' }],
    })
    const rule = await world.addRule(flag.id, { segment_id: segment.id })
    expect(rule).toMatchObject({
      segment_name: 'Partners',
      segment_description: 'Who sells for us',
      segment_key: 'partners',
      segment_logical_op: 'AND',
      segment_rules: [{ attribute: 'plan', operator: 'eq', value: 'pro' }],
      segment: { ...segment, updated_at: DATE_TIME },
    })
  })

  it('A deleted targeting rule is no longer listed, but its record remains with deleted_at [RULE-11] [STATE-1]', async () => {
    const flag = await world.addFlag('a')
    const rule = await world.addRule(flag.id, { variation_id: flag.variations[1].id })
    expect(rule.deleted_at).toBe(null)
    const path = `${world.rules(flag.id)}/${rule.id}`
    await world.done('DELETE', path)
    expect((await world.manage('GET', path)).status).toBe(404)
    const query = `event_type=targeting_rule.deleted&org_id=${world.orgId}`
    const { data } = await world.done('GET', `/audit/logs?${query}`)
    expect(data[0].payload).toMatchObject({
      before: { id: rule.id, deleted_at: null },
      after: null,
    })
    const { version } = (
      await world.done('GET', `${world.rules(flag.id).split('/flags/')[0]}/versions`)
    ).data[1]
    const restored = `${world.rules(flag.id).split('/flags/')[0]}/versions/${version}/restore`
    expect((await world.manage('POST', restored)).status).toBe(200)
    expect(await world.done('GET', path)).toMatchObject({ id: rule.id, deleted_at: null })
  })
})

describe('segments', () => {
  it('A segment has its fields and defaults [SEG-1] [SEG-2] [SEG-3] [SEG-4] [SEG-5]', async () => {
    const segments = `/projects/${world.projectId}/segments`
    const rules = [{ attribute: 'plan', value: 'pro' }]
    const segment = await world.done('POST', segments, { key: 'partners', rules })
    expect(segment).toMatchObject({
      id: UUID,
      project_id: UUID,
      key: 'partners',
      name: TEXT,
      description: TEXT,
      rules: [{ attribute: 'plan', value: 'pro' }],
      created_at: DATE_TIME,
      updated_at: DATE_TIME,
      force: false,
    })
    const forced = await world.done('PUT', `${segments}/${segment.id}`, { force: true })
    expect(forced.force).toBe(true)
  })
})

describe('variations', () => {
  it('A variation has its fields [VAR-1] [VAR-2] [VAR-3] [VAR-4] [VAR-5]', async () => {
    const flag = await world.addFlag('a')
    const variations = `/projects/${world.projectId}/flags/${flag.id}/variations`
    const body = { key: 'third', name: 'Third', description: 'The third', value: '3' }
    const variation = await world.done('POST', variations, body)
    expect(variation).toMatchObject({
      id: UUID,
      flag_id: flag.id,
      project_id: world.projectId,
      ...body,
      is_default: false,
      order_index: 2,
      created_at: DATE_TIME,
      updated_at: DATE_TIME,
      deleted_at: null,
    })
    expect(flag.variations.map((each: Json) => each.is_default)).toEqual([true, false])
    await world.done('DELETE', `${variations}/${variation.id}`)
    const query = 'event_type=variation.deleted'
    const { data } = await world.done('GET', `/audit/logs?${query}`)
    expect(data[0].payload.before).toMatchObject({ id: variation.id })
  })
})

describe('organizations', () => {
  it('An organization has its fields, and its counts start at 0 [ORG-1] [ORG-3] [ORG-4] [ORG-6] [ORG-8] [ORG-9]', async () => {
    const founded = await world.done('POST', '/organizations', { name: 'New' })
    expect(founded).toMatchObject({
      id: UUID,
      name: 'New',
      created_at: DATE_TIME,
      deleted_at: null,
      metadata: {},
      flag_count: 0,
      project_count: 0,
      environment_count: 0,
      api_usage: 0,
      has_used_paid_trial: false,
    })
    await world.addFlag('a')
    const counts = { flag_count: 1, project_count: 1, environment_count: 2 }
    expect(await world.done('GET', `/organizations/${world.orgId}`)).toMatchObject(counts)
  })

  it('An organization has a plan, a trial and a billing period [ORG-2] [ORG-5] [ORG-7] [LIM-13]', async () => {
    const path = `/organizations/${world.orgId}`
    await world.done('PUT', path, { billing_email: 'billing@acme.test' })
    const plan = await world.done('POST', '/plan-limits/plans', { name: 'Team', trial_days: 14 })
    await world.done('PUT', `${path}/plan`, { plan_id: plan.id, trial: true })
    const trying = await world.done('GET', path)
    expect(trying).toMatchObject({
      billing_email: 'billing@acme.test',
      plan_id: plan.id,
      trial_starts_at: DATE_TIME,
      trial_ends_at: DATE_TIME,
      has_used_paid_trial: true,
    })
    const days =
      (Date.parse(trying.trial_ends_at) - Date.parse(trying.trial_starts_at)) / 86_400_000
    expect(days).toBe(14)
    await world.done('PUT', `${path}/plan`, { plan_id: plan.id })
    expect((await world.done('GET', path)).current_period_end).toEqual(DATE_TIME)
  })
})

describe('plans', () => {
  const LIMITS = ['max_projects', 'max_flags', 'max_environments', 'max_api_calls', 'trial_days']
  const NAMES = ['product', 'price', 'monthly_price', 'annual_price'].map(
    (name) => `stripe_${name}_id`,
  )

  it('A plan has its fields and defaults [PLAN-1] [PLAN-4] [PLAN-5] [PLAN-6] [PLAN-7] [PLAN-8]', async () => {
    const bare = await world.done('POST', '/plan-limits/plans', { name: 'Bare' })
    expect(bare).toMatchObject({
      id: UUID,
      name: 'Bare',
      most_popular: false,
      product_link: null,
      deleted_at: null,
      overage_rate_eur_cents: NUMBER,
      overage_block_size: NUMBER,
      grace_buffer_pct: NUMBER,
    })
    for (const name of NAMES) expect(bare[name], name).toBe(null)
    const names = Object.fromEntries(NAMES.map((name) => [name, `id_${name}`]))
    const rest = { most_popular: true, product_link: 'https://pay.test/team' }
    const overage = { overage_rate_eur_cents: 5, overage_block_size: 100, grace_buffer_pct: 10 }
    const full = { name: 'Full', ...names, ...rest, ...overage }
    expect(await world.done('POST', '/plan-limits/plans', full)).toMatchObject(full)
  })

  it('The limits of a plan are numbers or null [PLAN-2] [PLAN-3]', async () => {
    const numbers = Object.fromEntries(LIMITS.map((name, index) => [name, index + 1]))
    const nulls = Object.fromEntries(LIMITS.map((name) => [name, null]))
    for (const limits of [numbers, nulls]) {
      const plan = await world.done('POST', '/plan-limits/plans', { name: 'P', ...limits })
      expect(plan).toMatchObject(limits)
    }
  })
})

describe('invoices', () => {
  it('An invoice has its fields [INV-1] [INV-3] [INV-4] [INV-6] [INV-7] [INV-8] [BILL-2]', async () => {
    const overage = { overage_rate_eur_cents: 5, overage_block_size: 1, grace_buffer_pct: 0 }
    const limits = { name: 'Team', max_api_calls: 1, ...overage }
    const plan = await world.done('POST', '/plan-limits/plans', limits)
    await world.done('PUT', `/organizations/${world.orgId}/plan`, { plan_id: plan.id })
    for (let n = 0; n < 3; n += 1) await world.evaluate({})
    await world.clock.advance(5000)
    await world.done('PUT', `/organizations/${world.orgId}/plan`, { plan_id: null })
    const path = `/billing/organizations/${world.orgId}/invoices`
    const { invoices } = await world.done('GET', path)
    expect(invoices).toMatchObject([
      {
        id: UUID,
        org_id: world.orgId,
        amount_due: 10,
        amount_paid: 0,
        currency: 'eur',
        status: 'draft',
        period_start: DATE_TIME,
        period_end: DATE_TIME,
        due_date: null,
        paid_at: null,
        created_at: DATE_TIME,
        updated_at: DATE_TIME,
        metadata: expect.any(Object),
      },
    ])
  })
})

describe('audit log entries', () => {
  it('An audit log entry has its fields [AUD-1] [AUD-2] [AUD-3] [AUD-4] [EVT-3]', async () => {
    const flag = await world.addFlag('a')
    const { data } = await world.done('GET', `/audit/logs?event_type=flag.created`)
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({
      id: TEXT,
      eventType: 'flag.created',
      payload: { before: null, after: { id: flag.id } },
      created_at: DATE_TIME,
      stream_id: `flag:${flag.id}`,
      org_id: world.orgId,
      project_id: world.projectId,
      actor_id: TEXT,
      actor: { id: TEXT, email: TEXT, name: 'test', role: 'platform' },
    })
  })
})

describe('observed contexts', () => {
  it('An observed context has its fields [OBS-1] [OBS-2] [OBS-3] [OBS-4] [OBS-5] [OBS-6] [OBS-7] [OBS-8]', async () => {
    await world.addFlag('a')
    await world.evaluate({ kind: 'user', key: 'u' })
    await world.clock.advance(5000)
    const { data } = await world.done('GET', '/contexts/observed-contexts')
    expect(data).toEqual([
      {
        id: UUID,
        env_id: world.environmentId,
        org_id: world.orgId,
        hash: TEXT,
        context_json: { kind: 'user', key: 'u' },
        first_seen: DATE_TIME,
        last_seen: DATE_TIME,
        seen_count: 1,
        evaluation_success: true,
        variation_results: TEXT,
        source: 'rest',
        deleted_at: null,
      },
    ])
    expect(JSON.parse(data[0].variation_results)).toEqual({ a: 'off' })
  })
})

describe('flag metrics', () => {
  it('The metrics of a flag have their fields [MET-1] [MET-2] [MET-3] [MET-4] [METRICS-4]', async () => {
    const flag = await world.addFlag('a')
    await world.evaluate({ kind: 'user', key: 'u' })
    await world.clock.advance(5000)
    const query = `environmentId=${world.environmentId}&period=24h`
    const metrics = await world.done('GET', `/flags/${flag.id}/metrics?${query}`)
    const counted = { value: 1, change: NUMBER }
    const metric = { value: TEXT, change: NUMBER }
    expect(metrics).toEqual({
      totalEvaluations: counted,
      uniqueUsers: counted,
      successRate: metric,
      errorRate: metric,
      avgResponseTime: metric,
      variationPerformance: [
        { key: 'off', name: TEXT, evaluations: 1, percentage: 100 },
        { key: 'on', name: TEXT, evaluations: 0, percentage: 0 },
      ],
      client_reported: { value: 0, change: 0 },
    })
  })
})
