import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Job } from '../../../server/src/runtime/jobs.ts'
import type { Actor } from '../../src/access/actors.ts'
import { dueChangesJob } from '../../src/scheduling/due-changes.ts'
import { stores } from '../world/stores.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const MINUTE_MS = 60_000
const UNKNOWN = '99999999-9999-4999-8999-999999999999'

describe.each(stores)('scheduled changes in %s', (_name, open) => {
  let world: World
  let tenant: Tenant
  let token: string
  let flag: Json
  let state: string
  let job: Job
  let clean: () => void

  beforeEach(async () => {
    const store = open()
    clean = store.clean
    world = await World.create(store.storage)
    tenant = await world.addTenant('Acme')
    token = tenant.tokens.editor
    const at = addressesOf(tenant)
    const body = { key: 'banner', type: 'boolean' }
    flag = (await world.call('POST', at.flags, { token, body })).data
    state = at.live(flag.id)
    job = dueChangesJob(world.services, undefined)
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  const inMs = (ms: number) => new Date(world.clock.now() + ms).toISOString()
  const schedule = (body: Json, headers = {}) =>
    world.call('POST', `${state}/scheduled-changes`, { token, body, headers })
  const switchOff = (ms = MINUTE_MS) =>
    schedule({ apply_at: inMs(ms), operation: 'updateFlagState', body: { is_active: false } })
  const list = async (query = '') =>
    (await world.call('GET', `${state}/scheduled-changes${query}`, { token })).data
  const isActive = async () => (await world.call('GET', state, { token })).data.is_active
  const eventTypes = async () => (await world.audit()).map(({ eventType }) => eventType)

  it('A scheduled change is applied at its time, with its author as actor', async () => {
    const { data: scheduled } = await switchOff()
    expect(scheduled).toMatchObject({ status: 'pending', applied_at: null, target_id: null })
    await world.clock.advance(MINUTE_MS - 1)
    await job.run()
    expect(await isActive()).toBe(true)
    await world.clock.advance(1)
    await job.run()
    expect(await isActive()).toBe(false)
    const [applied] = (await list()).data
    expect(applied).toMatchObject({ status: 'applied', applied_at: inMs(0), revision: 2 })
    const event = (await world.audit()).find((each) => each.eventType === 'flag_state.updated')
    const { source, ...author } = scheduled.created_by
    expect([source, event?.actor]).toEqual(['token', author])
    expect(event?.actor).toMatchObject({ name: 'Acme editor', role: 'editor' })
  })

  it('A scheduled change of a flag that was archived fails, and says why', async () => {
    await switchOff()
    const path = addressesOf(tenant).flags
    await world.call('PUT', `${path}/${flag.id}`, { token, body: { archived: true } })
    await world.clock.advance(MINUTE_MS)
    await job.run()
    expect((await list()).data).toMatchObject([
      { status: 'failed', failure: expect.stringContaining('which is archived') },
    ])
    expect(await isActive()).toBe(true)
  })

  it('A scheduled change is applied once when several instances run', async () => {
    await schedule({
      apply_at: inMs(MINUTE_MS),
      operation: 'createTargetingRule',
      body: { name: 'Everybody', conditions: [] },
    })
    await world.clock.advance(MINUTE_MS)
    const instances = Array.from({ length: 8 }, () => dueChangesJob(world.services, undefined))
    await Promise.all(instances.map((each) => each.run()))
    const rules = await world.call('GET', `${state}/targeting-rules`, { token })
    expect(rules.data.meta.total).toBe(1)
    const made = (await eventTypes()).filter((type) => type === 'targeting_rule.created')
    expect(made).toHaveLength(1)
  })

  it('Changes that became due during downtime are applied in order of their times', async () => {
    await schedule({
      apply_at: inMs(2 * MINUTE_MS),
      operation: 'updateFlagState',
      body: { is_active: true },
    })
    await switchOff(MINUTE_MS)
    await world.clock.advance(100 * MINUTE_MS)
    await job.run()
    expect(await isActive()).toBe(true)
    expect((await list()).data.map(({ status }: Json) => status)).toEqual(['applied', 'applied'])
    expect(await world.version(tenant.live)).toBe(3)
  })

  it.each([
    ['an unknown operation', { operation: 'deleteFlag' }, 'operation'],
    ['a time in the past', { apply_at: '2029-12-31T23:59:59Z' }, 'apply_at'],
    ['an unknown field', { body: { active: false } }, 'body.active'],
    ['an invalid value', { body: { is_active: 'no' } }, 'body.is_active'],
    ['an unknown variation', { body: { off_variation_id: UNKNOWN } }, 'body.off_variation_id'],
    ['a target for an operation without one', { target_id: UNKNOWN }, 'target_id'],
    ['no target for an operation with one', { operation: 'updateRollout' }, 'target_id'],
    ['no body for an operation with one', { body: null }, 'body'],
    ['a body for a deletion', { operation: 'deleteRollout', target_id: UNKNOWN, body: {} }, 'body'],
  ])('A scheduled change with %s is refused and not stored', async (_what, more, path) => {
    const before = await eventTypes()
    const answer = await schedule({
      apply_at: inMs(MINUTE_MS),
      operation: 'updateFlagState',
      body: { is_active: false },
      ...more,
    })
    expect([answer.status, answer.data.issues[0].path]).toEqual([400, path])
    expect((await list()).meta.total).toBe(0)
    expect(await eventTypes()).toEqual(before)
    expect(await world.version(tenant.live)).toBe(1)
  })

  it('A change is validated when it is scheduled, without an effect', async () => {
    const missing = await schedule({
      apply_at: inMs(MINUTE_MS),
      operation: 'deleteTargetingRule',
      target_id: UNKNOWN,
    })
    expect([missing.status, missing.message]).toEqual([404, 'There is no such targeting rule.'])
    await switchOff()
    expect(await isActive()).toBe(true)
    expect(await world.version(tenant.live)).toBe(1)
  })

  it('A change that has become impossible fails with a reason and is not retried', async () => {
    const rules = `${state}/targeting-rules`
    const rule = (await world.call('POST', rules, { token, body: { name: 'r', conditions: [] } }))
      .data
    const scheduled = await schedule({
      apply_at: inMs(MINUTE_MS),
      operation: 'updateTargetingRule',
      target_id: rule.id,
      body: { name: 'later' },
    })
    expect(scheduled.status).toBe(201)
    await world.call('DELETE', `${rules}/${rule.id}`, { token })
    await world.clock.advance(MINUTE_MS)
    await job.run()
    await job.run()
    const failed = { status: 'failed', failure: 'There is no such targeting rule.' }
    expect((await list()).data).toEqual([expect.objectContaining(failed)])
    const events = (await eventTypes()).filter((type) => type === 'scheduled_change.failed')
    expect(events).toHaveLength(1)
  })

  const failed = async () => {
    const [change] = (await list()).data
    const event = (await world.audit()).find((each) => each.eventType === 'scheduled_change.failed')
    return { change, event }
  }

  it('A change fails with an audit entry if the token of its author was deleted', async () => {
    const { data: created } = await switchOff()
    const tokens = `/organizations/${tenant.orgId}/tokens/${created.created_by.id}`
    token = tenant.tokens.owner
    expect((await world.call('DELETE', tokens, { token })).status).toBe(200)
    await world.clock.advance(MINUTE_MS)
    await job.run()
    const { change, event } = await failed()
    const failure = 'The author "Acme editor" no longer has a valid access token.'
    expect(change).toMatchObject({ status: 'failed', failure })
    expect(event).toMatchObject({ orgId: tenant.orgId, payload: { after: { failure } } })
    expect(await isActive()).toBe(true)
  })

  async function scheduleAs(actor: Actor): Promise<void> {
    const params = {
      projectId: tenant.project.id,
      environmentId: tenant.live.id,
      flagId: flag.id,
    }
    const body = {
      applyAt: inMs(MINUTE_MS),
      operation: 'updateFlagState' as const,
      body: { is_active: false },
    }
    await world.as(actor).createScheduledChange({ params, body })
  }

  it.each([
    ['was demoted', { role: 'viewer' }, 'Requires role editor or higher; this user is viewer.'],
    ['was removed', null, 'The author "Ann" no longer has a valid membership.'],
  ])('A change fails if its author %s', async (_case, change, failure) => {
    token = tenant.tokens.owner
    const members = `/organizations/${tenant.orgId}/members`
    const body = { email: 'ann@acme.test', name: 'Ann', role: 'editor' }
    const member = (await world.call('POST', members, { token, body })).data
    const { user_id: id, email, name } = member
    const { orgId } = tenant
    await scheduleAs({ id, email, name, role: 'editor', orgId, source: 'user' })
    const method = change === null ? 'DELETE' : 'PUT'
    const sent = { token, ...(change !== null && { body: change }) }
    expect((await world.call(method, `${members}/${id}`, sent)).status).toBe(200)
    await world.clock.advance(MINUTE_MS)
    await job.run()
    expect((await failed()).change).toMatchObject({ status: 'failed', failure })
    expect(await isActive()).toBe(true)
  })

  const guest = { id: 'g', email: '', name: 'Guest', role: 'editor', orgId: '' } as const

  it('Without findActor, a change is applied with the recorded role of its author', async () => {
    await scheduleAs({ ...guest, orgId: tenant.orgId })
    await world.clock.advance(MINUTE_MS)
    await job.run()
    expect(await isActive()).toBe(false)
  })

  it('With findActor, a change fails if its author is not found', async () => {
    await scheduleAs({ ...guest, orgId: tenant.orgId })
    await world.clock.advance(MINUTE_MS)
    await dueChangesJob(world.services, async () => undefined).run()
    const failure = 'The author "Guest" no longer has a valid host account.'
    expect((await failed()).change).toMatchObject({ status: 'failed', failure })
  })

  it('A change of a deleted flag fails', async () => {
    await switchOff()
    await world.call('DELETE', addressesOf(tenant).flag(flag.id), { token })
    await world.clock.advance(MINUTE_MS)
    await job.run()
    const left = await world.storage.list('scheduledChange', {})
    expect(left.data.map(({ status }) => status)).toEqual(['failed'])
  })

  it('Only a pending change can be cancelled', async () => {
    const { data: first } = await switchOff()
    const { data: second } = await switchOff(2 * MINUTE_MS)
    const address = (change: Json) => `${state}/scheduled-changes/${change.id}`
    expect((await world.call('DELETE', address(first), { token })).status).toBe(200)
    await world.clock.advance(MINUTE_MS)
    await job.run()
    expect(await isActive()).toBe(true)
    await world.clock.advance(MINUTE_MS)
    await job.run()
    expect(await isActive()).toBe(false)
    const late = await world.call('DELETE', address(second), { token })
    expect([late.status, late.message]).toEqual([409, 'The change has already been applied.'])
  })

  it('Scheduled changes are listed by status and in pages', async () => {
    await switchOff()
    await switchOff(2 * MINUTE_MS)
    await world.clock.advance(MINUTE_MS)
    await job.run()
    expect((await list('?status=pending')).meta).toEqual({ total: 1, page: 1, pageCount: 1 })
    expect((await list('?status=applied')).meta.total).toBe(1)
    expect((await list('?page=2&limit=1')).data[0].status).toBe('pending')
  })

  it('A change stays pending while the store is unavailable', async () => {
    await switchOff()
    await world.clock.advance(MINUTE_MS)
    const store = world.storage
    const away = new Proxy(store, {
      get: (_, name: keyof typeof store) =>
        name === 'transaction'
          ? async () => Promise.reject(new Error('The disk is full.'))
          : store[name].bind(store),
    })
    const broken = dueChangesJob({ ...world.services, storage: away }, undefined)
    await expect(broken.run()).rejects.toThrow('The disk is full.')
    expect((await list('?status=pending')).meta.total).toBe(1)
    await job.run()
    expect(await isActive()).toBe(false)
  })
})
