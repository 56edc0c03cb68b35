import type { Role } from '@ff/protocol/management'
import { memory } from '@ff/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { evaluate } from '../../../server/test/call.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { stores } from '../world/stores.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const AT_ONCE = 16
const DAY_MS = 86_400_000

let world: World
let tenant: Tenant
let at: string
let flags: string
let environments: string

async function open(storage = memory().storage): Promise<void> {
  world = await World.create(storage)
  tenant = await world.addTenant('Acme')
  at = `/organizations/${tenant.orgId}`
  flags = addressesOf(tenant).flags
  environments = `/projects/${tenant.project.id}/envs`
}

const send = (method: string, address: string, body?: Json, role: Role = 'owner') =>
  world.call(method, address, { token: tenant.tokens[role], body })

async function done(method: string, address: string, body?: Json, role?: Role): Promise<Json> {
  const answer = await send(method, address, body, role)
  if (answer.status >= 300) throw new Error(answer.text)
  return answer.data
}

const usage = () => done('GET', `${at}/usage`, undefined, 'viewer')
const addFlag = (key: string) => send('POST', flags, { key, type: 'boolean' })
const addEnvironment = (key: string) => send('POST', environments, { key })
const addProject = (key: string) => send('POST', `${at}/projects`, { key })

async function givePlan(fields: Json, trial = false): Promise<string> {
  const { id } = await done('POST', '/plan-limits/plans', { name: 'Team', ...fields }, 'platform')
  await done('PUT', `${at}/plan`, { plan_id: id, trial }, 'platform')
  return id
}

describe.each(stores)('Hard limits in %s', (_name, openStore) => {
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

  it(`Of ${AT_ONCE} concurrent requests for the last flag of a plan, exactly one succeeds`, async () => {
    await givePlan({ max_flags: 3 })
    for (const key of ['a', 'b']) expect((await addFlag(key)).status).toBe(201)
    const events = (await world.audit()).length
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => addFlag(`f${n}`)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject({
        status: 403,
        message: 'The plan "Team" allows 3 flags (max_flags); the result would be 4.',
        data: { code: 'QUOTA_EXCEEDED', limit: 'max_flags', maximum: 3, count: 3 },
      })
    }
    expect(await usage()).toMatchObject({ flag_count: 3, max_flags: 3 })
    expect((await done('GET', flags)).meta.total).toBe(3)
    expect(await world.audit()).toHaveLength(events + 1)
  })

  it('With room for one project, exactly one is created, and its two environments count as well', async () => {
    await givePlan({ max_projects: 2, max_environments: 4 })
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => addProject(`p${n}`)),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const refused = answers.find(({ status }) => status !== 201)
    expect(refused).toMatchObject({ status: 403, data: { limit: 'max_projects' } })
    expect(await usage()).toMatchObject({ project_count: 2, environment_count: 4 })
  })

  it('Deleted flags do not count for the limit', async () => {
    await givePlan({ max_flags: 1 })
    const { data: flag } = await addFlag('a')
    expect((await addFlag('b')).status).toBe(403)
    await done('DELETE', `${flags}/${flag.id}`)
    expect((await addFlag('b')).status).toBe(201)
  })
})

describe('Limits of plans', () => {
  beforeEach(() => open())

  it('A project cannot be created without room for its environments', async () => {
    await givePlan({ max_environments: 3 })
    const before = await world.audit()
    expect(await addProject('new')).toMatchObject({
      status: 403,
      message: 'The plan "Team" allows 3 environments (max_environments); the result would be 4.',
    })
    expect(await world.audit()).toEqual(before)
    expect((await done('GET', `${at}/projects`)).meta.total).toBe(1)
    const copy = { key: 'qa', copy_from: tenant.live.id }
    expect((await send('POST', environments, copy)).status).toBe(201)
    expect(await addEnvironment('more')).toMatchObject({
      status: 403,
      data: { limit: 'max_environments', maximum: 3, count: 3 },
    })
  })

  it('Records beyond a lowered limit can be kept, changed and deleted, but none can be added', async () => {
    const flag = (await addFlag('a')).data
    for (const key of ['b', 'c']) await addFlag(key)
    const none = { max_flags: 1, max_projects: 0, max_environments: 0 }
    await givePlan(none)
    expect(await usage()).toMatchObject({ ...none, flag_count: 3, project_count: 1 })
    expect((await send('PUT', `${flags}/${flag.id}`, { name: 'changed' })).status).toBe(200)
    expect((await send('PUT', `${flags}/${flag.id}`, { archived: true })).status).toBe(200)
    expect((await addFlag('d')).status).toBe(403)
    expect((await send('DELETE', `${flags}/${flag.id}`)).status).toBe(200)
    expect((await addFlag('d')).status).toBe(403)
  })

  it('Limits follow the changes of a plan, and apply to the platform as well', async () => {
    const planId = await givePlan({ max_flags: 0 })
    expect((await addFlag('a')).status).toBe(403)
    const body = { key: 'a', type: 'boolean' }
    expect((await send('POST', flags, body, 'platform')).status).toBe(403)
    await done('PUT', `/plan-limits/plans/${planId}`, { max_flags: 1 }, 'platform')
    expect((await addFlag('a')).status).toBe(201)
    await done('PUT', `/plan-limits/plans/${planId}`, { max_flags: null }, 'platform')
    expect((await addFlag('b')).status).toBe(201)
  })

  it('Without a plan, nothing is limited', async () => {
    for (const key of ['a', 'b', 'c']) expect((await addFlag(key)).status).toBe(201)
    expect(await usage()).toMatchObject({
      plan_id: null,
      max_flags: null,
      max_projects: null,
      max_environments: null,
      max_api_calls: null,
      free_api_calls: null,
      overage_eur_cents: 0,
      period_start: null,
      period_end: null,
      trial: 'none',
    })
  })

  it('The limits of one organization do not affect another one', async () => {
    const other = await world.addTenant('Other')
    await givePlan({ max_flags: 0 })
    const { flags: theirs } = addressesOf(other)
    const body = { key: 'a', type: 'boolean' }
    const answer = await world.call('POST', theirs, { token: other.tokens.owner, body })
    expect(answer.status).toBe(201)
  })
})

describe('The end of a trial without a plan', () => {
  let flag: Json

  beforeEach(async () => {
    await open()
    flag = (await addFlag('a')).data
    await givePlan({ trial_days: 14 }, true)
    await world.clock.advance(14 * DAY_MS - 1)
  })

  it('After the end of a trial, changes are refused', async () => {
    expect(await usage()).toMatchObject({
      trial: 'running',
      period_end: '2030-01-15T00:00:00.000Z',
    })
    expect((await addFlag('b')).status).toBe(201)
    await world.clock.advance(1)
    expect(await usage()).toMatchObject({ trial: 'over' })
    const before = await world.audit()
    const attempts = [
      addFlag('c'),
      addProject('new'),
      addEnvironment('new'),
      send('PUT', `${flags}/${flag.id}`, { name: 'changed' }),
      send('PUT', `${environments}/${tenant.live.id}/flags/${flag.id}`, { is_active: false }),
      send('POST', `${environments}/${tenant.live.id}/sdk-keys`, { name: 'k', kind: 'client' }),
      send('POST', `${at}/tokens`, { name: 't', role: 'viewer' }),
      send('POST', `${at}/members`, { email: 'a@acme.test', role: 'viewer' }),
      addFlag('c'),
    ]
    for (const answer of await Promise.all(attempts)) {
      expect(answer).toMatchObject({
        status: 403,
        message: 'The trial ended at 2030-01-15T00:00:00.000Z. Choose a plan to make changes.',
        data: { code: 'QUOTA_EXCEEDED', limit: 'trial_days' },
      })
    }
    expect(await world.audit()).toEqual(before)
  })

  it('After the end of a trial, records can be read and deleted, and plans can be paid for', async () => {
    const tokens = `${at}/tokens`
    const issued = await done('POST', tokens, { name: 't', role: 'viewer' })
    const keys = `${environments}/${tenant.live.id}/sdk-keys`
    const key = await done('POST', keys, { name: 'k', kind: 'client' })
    await world.clock.advance(1)
    for (const address of [at, flags, `${flags}/${flag.id}`, tokens, keys]) {
      expect((await send('GET', address)).status).toBe(200)
    }
    expect((await send('DELETE', `${tokens}/${issued.id}`)).status).toBe(200)
    expect((await send('DELETE', `${keys}/${key.id}`)).status).toBe(200)
    expect((await send('PUT', at, { billing_email: 'b@acme.test' })).status).toBe(200)
    expect((await send('DELETE', `${flags}/${flag.id}`)).status).toBe(200)
    const { plan_id } = await done('GET', at)
    await done('PUT', `${at}/plan`, { plan_id }, 'platform')
    expect((await addFlag('b')).status).toBe(201)
  })

  it('After the end of a trial, the organization can be deleted', async () => {
    await world.clock.advance(1)
    expect((await send('DELETE', at)).status).toBe(200)
  })
})

describe('Evaluation and billing', () => {
  it('Evaluation is never stopped by a limit, an overage or the end of a trial', async () => {
    await open()
    await addFlag('a')
    const place = { projectId: tenant.project.id, environmentId: tenant.live.id }
    const body = { name: 'Web', kind: 'client' as const }
    const { key } = await world.management.createSdkKey({ params: place, body })
    await givePlan({
      max_api_calls: 0,
      max_flags: 0,
      max_projects: 0,
      max_environments: 0,
      trial_days: 1,
      overage_rate_eur_cents: 1_000_000,
    })
    await world.storage.update('organization', tenant.orgId, { apiUsage: 1e12 })
    const { storage, clock } = world
    const server = createManagedServer({ storage, clock })
    const answer = () => evaluate(server, key ?? '', { kind: 'user', key: 'u' })
    expect(await answer()).toMatchObject({ status: 200, body: { a: false } })
    const { plan_id } = await done('GET', at)
    await done('PUT', `${at}/plan`, { plan_id, trial: true }, 'platform')
    clock.set(clock.now() + DAY_MS)
    expect(await usage()).toMatchObject({ trial: 'over' })
    expect(await answer()).toMatchObject({ status: 200, body: { a: false } })
    await done('PUT', `${at}/plan`, { plan_id }, 'platform')
    await done('PUT', `${at}/plan`, { plan_id: null }, 'platform')
    expect(await answer()).toMatchObject({ status: 200, body: { a: false } })
    await server.close()
  })
})
