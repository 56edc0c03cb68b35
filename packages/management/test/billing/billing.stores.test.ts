import { FlagError } from '@ff/core'
import type { Role } from '@ff/protocol/management'
import { memory } from '@ff/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../server/test/fake-clock.ts'
import type { OverageCharge, Payments } from '../../src/ports/payments.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { stores } from '../world/stores.ts'
import { type Json, type Tenant, World } from '../world/world.ts'

const PLAN = {
  name: 'Team',
  max_api_calls: 1000,
  grace_buffer_pct: 10,
  overage_block_size: 100,
  overage_rate_eur_cents: 250,
  trial_days: 14,
}

let world: World
let tenant: Tenant
let planId: string
let at: string

async function open(storage = memory().storage, more = {}): Promise<void> {
  world = await World.create(storage, more)
  tenant = await world.addTenant('Acme')
  at = `/organizations/${tenant.orgId}`
  planId = (await done('POST', '/plan-limits/plans', PLAN, 'platform')).id
}

const send = (method: string, address: string, body?: Json, role: Role = 'owner') =>
  world.call(method, address, { token: tenant.tokens[role], body })

async function done(method: string, address: string, body?: Json, role?: Role): Promise<Json> {
  const answer = await send(method, address, body, role)
  if (answer.status >= 300) throw new Error(answer.text)
  return answer.data
}

const givePlan = (body: Json = { plan_id: planId }) => done('PUT', `${at}/plan`, body, 'platform')
const use = (apiUsage: number) => world.storage.update('organization', tenant.orgId, { apiUsage })
/** Adds pending API calls: each number is that of another instance. */
const addCalls = (...calls: readonly number[]) =>
  world.storage.addApiCalls(
    calls.map((each, instance) => {
      return { organizationId: tenant.orgId, instanceId: `instance ${instance}`, calls: each }
    }),
  )
const bill = () => world.runJob('close billing periods')
const goTo = (date: string) => world.clock.set(Date.parse(`${date}T00:00:00.000Z`))
const organization = () => done('GET', at)
const usage = () => done('GET', `${at}/usage`)
const invoices = async (): Promise<Json[]> =>
  (await done('GET', `/billing/organizations/${tenant.orgId}/invoices`)).invoices
const events = async (type: string) =>
  (await world.audit()).filter(({ eventType }) => eventType === type)

describe('Usage', () => {
  beforeEach(() => open())

  it('The usage is returned with the limits of the plan and the costs so far', async () => {
    await givePlan()
    await use(1100)
    const free = {
      plan_id: planId,
      project_count: 1,
      max_projects: null,
      environment_count: 2,
      max_environments: null,
      flag_count: 0,
      max_flags: null,
      api_usage: 1100,
      max_api_calls: 1000,
      max_observed_contexts: null,
      max_observed_context_bytes: null,
      grace_buffer_pct: 10,
      free_api_calls: 1100,
      overage_blocks: 0,
      overage_eur_cents: 0,
      period_start: '2030-01-01T00:00:00.000Z',
      period_end: '2030-02-01T00:00:00.000Z',
      trial: 'none',
    }
    expect(await usage()).toEqual(free)
    await use(1101)
    expect(await usage()).toMatchObject({ overage_blocks: 1, overage_eur_cents: 250 })
    await use(1201)
    expect(await usage()).toMatchObject({ overage_blocks: 2, overage_eur_cents: 500 })
  })

  it('The usage of a trial is free', async () => {
    await givePlan({ plan_id: planId, trial: true })
    await use(5000)
    expect(await usage()).toMatchObject({
      trial: 'running',
      overage_eur_cents: 0,
      period_start: '2030-01-01T00:00:00.000Z',
      period_end: '2030-01-15T00:00:00.000Z',
    })
    goTo('2031-01-01')
    await bill()
    expect(await invoices()).toEqual([])
  })
})

describe.each(stores)('Billing periods in %s', (_name, openStore) => {
  let clean: () => void

  beforeEach(async () => {
    const opened = openStore()
    clean = opened.clean
    await open(opened.storage)
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  it('A period ends with an invoice for its overage, and a new period begins', async () => {
    await givePlan()
    await use(1350)
    goTo('2030-01-31')
    await bill()
    expect(await invoices()).toEqual([])
    goTo('2030-02-01')
    await bill()
    expect(await invoices()).toEqual([
      {
        id: expect.any(String),
        org_id: tenant.orgId,
        stripe_invoice_id: null,
        stripe_subscription_id: null,
        amount_due: 750,
        amount_paid: 0,
        currency: 'eur',
        status: 'draft',
        invoice_pdf: null,
        hosted_invoice_url: null,
        period_start: '2030-01-01T00:00:00.000Z',
        period_end: '2030-02-01T00:00:00.000Z',
        due_date: null,
        paid_at: null,
        metadata: {
          plan_id: planId,
          api_usage: 1350,
          free_api_calls: 1100,
          overage_blocks: 3,
          overage_block_size: 100,
          overage_rate_eur_cents: 250,
        },
        created_at: '2030-02-01T00:00:00.000Z',
        updated_at: '2030-02-01T00:00:00.000Z',
        deleted_at: null,
        revision: 1,
      },
    ])
    expect(await organization()).toMatchObject({
      api_usage: 0,
      current_period_end: '2030-03-01T00:00:00.000Z',
    })
    const [invoice] = await invoices()
    expect(await events('invoice.created')).toMatchObject([
      {
        streamId: `invoice:${invoice.id}`,
        orgId: tenant.orgId,
        actorId: 'system',
        payload: { before: null, after: { amount_due: 750 } },
      },
    ])
  })

  it('Each period is closed once, even by concurrent instances', async () => {
    await givePlan()
    await use(1350)
    goTo('2030-03-15')
    await Promise.all(Array.from({ length: 8 }, bill))
    expect(
      (await invoices()).map(({ amount_due, period_end }) => [period_end, amount_due]),
    ).toEqual([
      ['2030-03-01T00:00:00.000Z', 0],
      ['2030-02-01T00:00:00.000Z', 750],
    ])
    expect(await events('invoice.created')).toHaveLength(2)
    await bill()
    expect(await invoices()).toHaveLength(2)
  })

  it('After a long downtime, every period ends on its usual day, and the first period contains the usage', async () => {
    goTo('2030-01-31')
    await givePlan()
    await use(1101)
    goTo('2030-06-01')
    await bill()
    const seen = (await invoices()).map(({ period_start, period_end, amount_due }) => [
      period_start.slice(0, 10),
      period_end.slice(0, 10),
      amount_due,
    ])
    expect(seen.reverse()).toEqual([
      ['2030-01-31', '2030-02-28', 250],
      ['2030-02-28', '2030-03-31', 0],
      ['2030-03-31', '2030-04-30', 0],
      ['2030-04-30', '2030-05-31', 0],
    ])
    expect((await organization()).current_period_end).toBe('2030-06-30T00:00:00.000Z')
  })

  it('The pending API calls of all instances are part of the usage, and are billed exactly once', async () => {
    await givePlan()
    await use(350)
    await addCalls(400, 600)
    const lists = async () => (await done('GET', '/organizations', undefined, 'platform')).data
    expect(await organization()).toMatchObject({ api_usage: 1350 })
    expect(await lists()).toMatchObject([{ id: tenant.orgId, api_usage: 1350 }])
    expect(await usage()).toMatchObject({ api_usage: 1350, overage_blocks: 3 })
    goTo('2030-02-01')
    await bill()
    await bill()
    expect(await invoices()).toMatchObject([{ amount_due: 750, metadata: { api_usage: 1350 } }])
    expect(await organization()).toMatchObject({ api_usage: 0 })
    await addCalls(1)
    expect(await usage()).toMatchObject({ api_usage: 1, overage_blocks: 0 })
  })

  it('Every response and audit entry with an organization contains its pending API calls', async () => {
    await addCalls(3, 4)
    expect(await done('PUT', at, { name: 'A' })).toMatchObject({ name: 'A', api_usage: 7 })
    await addCalls(1)
    const taken = await givePlan()
    expect(taken).toMatchObject({ api_usage: 0 })
    await addCalls(5)
    expect(await done('PUT', at, { ...taken, api_usage: 5, name: 'B' })).toMatchObject({
      api_usage: 5,
      revision: taken.revision + 1,
    })
    await addCalls(2)
    expect(await givePlan({ plan_id: null })).toMatchObject({ api_usage: 0 })
    expect(await invoices()).toMatchObject([{ metadata: { api_usage: 7 } }])
    await addCalls(9)
    await done('DELETE', at)
    const usages = (await world.audit()).flatMap(({ eventType, payload }) =>
      eventType.startsWith('organization.')
        ? [[eventType, ...[payload.before, payload.after].map((each: Json) => each?.api_usage)]]
        : [],
    )
    expect(usages.slice(1)).toEqual([
      ['organization.updated', 7, 7],
      ['organization.plan_changed', 8, 0],
      ['organization.updated', 5, 5],
      ['organization.plan_changed', 7, 0],
      ['organization.deleted', 9, undefined],
    ])
  })

  it('Removing the plan ends the period with an invoice for its usage', async () => {
    await givePlan()
    await use(1350)
    goTo('2030-01-10')
    expect(await givePlan({ plan_id: null })).toMatchObject({
      plan_id: null,
      current_period_end: null,
    })
    expect(await invoices()).toMatchObject([
      {
        amount_due: 750,
        period_start: '2030-01-01T00:00:00.000Z',
        period_end: '2030-01-10T00:00:00.000Z',
      },
    ])
    goTo('2031-01-01')
    await bill()
    expect(await invoices()).toHaveLength(1)
    const again = await givePlan()
    expect(again).toMatchObject({ api_usage: 0, current_period_end: '2031-02-01T00:00:00.000Z' })
  })

  it('A period that has ended is charged by its own plan, even if the plan changes before the period is closed', async () => {
    await givePlan()
    await use(1350)
    goTo('2030-02-03')
    const { id } = await done('POST', '/plan-limits/plans', { name: 'Free' }, 'platform')
    expect(await givePlan({ plan_id: id })).toMatchObject({
      plan_id: id,
      api_usage: 0,
      current_period_end: '2030-03-01T00:00:00.000Z',
    })
    await bill()
    expect(await invoices()).toMatchObject([{ amount_due: 750, metadata: { plan_id: planId } }])
  })
})

describe('Invoices', () => {
  beforeEach(() => open())

  it('Owners and the platform can read invoices, but other organizations cannot', async () => {
    const other = await world.addTenant('Other')
    const address = `/billing/organizations/${tenant.orgId}/invoices`
    for (const role of ['owner', 'platform'] as const) {
      expect(await done('GET', address, undefined, role)).toEqual({ invoices: [] })
    }
    for (const role of ['admin', 'editor', 'viewer'] as const) {
      expect((await send('GET', address, undefined, role)).status).toBe(403)
    }
    expect((await world.call('GET', address, { token: other.tokens.owner })).status).toBe(404)
  })

  it('An invoice that cannot be drawn up does not delay the invoices of other organizations', async () => {
    const other = await world.addTenant('Other')
    const theirs = `/organizations/${other.orgId}/plan`
    await givePlan()
    await done('PUT', theirs, { plan_id: planId }, 'platform')
    // An invoice cannot contain a negative usage.
    await world.storage.update('organization', tenant.orgId, { apiUsage: -1 })
    goTo('2030-02-01')
    await bill()
    expect(await invoices()).toEqual([])
    const address = `/billing/organizations/${other.orgId}/invoices`
    expect((await done('GET', address, undefined, 'platform')).invoices).toHaveLength(1)
  })

  it('A running server draws up invoices automatically', async () => {
    await givePlan()
    const { storage, clock } = world
    clock.set(Date.parse('2030-01-31T23:59:30.000Z'))
    const server = createManagedServer({ storage, clock })
    await server.start()
    await clock.advance(29_999)
    expect(await invoices()).toEqual([])
    await clock.advance(60_001)
    await settle()
    expect(await invoices()).toHaveLength(1)
    await server.close()
  })
})

/** Creates a payment provider that records charges and fails on demand. */
function recordingPayments() {
  const charges: OverageCharge[] = []
  const failures: unknown[] = []
  const unused = () => Promise.reject(new Error('not used here'))
  const payments: Payments = {
    createCustomer: unused,
    createCheckout: unused,
    parseEvent: unused,
    chargeOverage: async (charge) => {
      charges.push(charge)
      const failure = failures.shift()
      if (failure !== undefined) throw failure
    },
  }
  return { payments, charges, failures }
}

describe('Billing with a payment provider', () => {
  let provider: ReturnType<typeof recordingPayments>

  beforeEach(async () => {
    provider = recordingPayments()
    await open(undefined, { payments: provider.payments })
    await world.storage.update('organization', tenant.orgId, { paymentCustomerId: 'cus_1' })
    await givePlan()
    await use(1350)
    goTo('2030-02-01')
  })

  it('The overage of a customer is charged by the provider, and no draft is stored', async () => {
    await bill()
    expect(provider.charges).toEqual([
      {
        customerId: 'cus_1',
        amountCents: 750,
        description: 'API calls beyond the plan, 2030-01-01 – 2030-02-01',
        idempotencyKey: expect.stringMatching(/^overage-[0-9a-f-]{36}$/),
      },
    ])
    expect(await invoices()).toEqual([])
    expect(await events('invoice.charged')).toHaveLength(1)
    await bill()
    expect(provider.charges).toHaveLength(1)
  })

  it('The provider charges nothing if the amount is zero', async () => {
    await use(1100)
    await bill()
    expect(provider.charges).toEqual([])
    expect(await invoices()).toEqual([])
    expect((await organization()).current_period_end).toBe('2030-03-01T00:00:00.000Z')
  })

  it('A failed charge is retried with the same key and the same amount', async () => {
    provider.failures.push(new FlagError('UNAVAILABLE', 'away'))
    await bill()
    expect(await invoices()).toMatchObject([{ status: 'pending', amount_due: 750 }])
    await use(999_999)
    await bill()
    expect(await invoices()).toEqual([])
    expect(provider.charges).toHaveLength(2)
    expect(provider.charges[1]).toEqual(provider.charges[0])
  })

  it.each([
    ['charged', undefined, 0],
    ['written off', new FlagError('INVALID_REQUEST', 'no such customer'), 1],
  ] as const)(
    'The pending invoice of an organization that is deleted meanwhile is %s, once',
    async (_, refusal, drafts) => {
      provider.failures.push(new FlagError('UNAVAILABLE', 'away'))
      await bill()
      expect(await invoices()).toMatchObject([{ status: 'pending' }])
      const { platform } = tenant.tokens
      const path = `/organizations/${tenant.orgId}`
      expect((await world.call('DELETE', path, { token: platform })).status).toBe(200)
      if (refusal !== undefined) provider.failures.push(refusal)
      for (let round = 0; round < 3; round += 1) await bill()
      expect(provider.charges).toHaveLength(2)
      expect(provider.charges[1]).toEqual(provider.charges[0])
      const { data } = await world.storage.list('invoice', {})
      expect(data.map(({ status }) => status)).toEqual(
        Array.from({ length: drafts }, () => 'draft'),
      )
    },
  )

  it('Concurrent instances charge with the same key', async () => {
    await Promise.all(Array.from({ length: 4 }, bill))
    expect(new Set(provider.charges.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    expect(await events('invoice.charged')).toHaveLength(1)
  })

  it('An invoice is stored as a draft if the provider refuses its charge', async () => {
    provider.failures.push(new FlagError('INVALID_REQUEST', 'no such customer'))
    await bill()
    await bill()
    expect(provider.charges).toHaveLength(1)
    expect(await invoices()).toMatchObject([{ status: 'draft', amount_due: 750 }])
  })

  it('An organization that is not a customer of the provider gets a draft', async () => {
    await world.storage.update('organization', tenant.orgId, { paymentCustomerId: null })
    await bill()
    expect(provider.charges).toEqual([])
    expect(await invoices()).toMatchObject([{ status: 'draft', amount_due: 750 }])
  })
})
