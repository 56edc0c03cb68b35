import type { Role } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Json, type Tenant, World } from '../world/world.ts'

const DAY_MS = 86_400_000

let world: World
let tenant: Tenant
let at: string

beforeEach(async () => {
  world = await World.create()
  tenant = await world.addTenant('Acme')
  at = `/projects/${tenant.project.id}/envs/${tenant.live.id}/sdk-keys`
  world.hints.length = 0
})

const send = (method: string, address: string, body?: Json, role: Role = 'admin') =>
  world.call(method, address, { token: tenant.tokens[role], body })
const create = (body: Json = {}) => send('POST', at, { name: 'k', kind: 'client', ...body })
const created = async (body?: Json): Promise<Json> => (await create(body)).data
const listed = async (id: string): Promise<Json> =>
  (await send('GET', `${at}?limit=100`)).data.data.find((each: Json) => each.id === id)
const hints = () => [{ type: 'sdkKeys' }, { type: 'project', projectId: tenant.project.id }]
const inMs = (ms: number) => new Date(world.clock.now() + ms).toISOString()

describe('SDK keys', () => {
  it('An SDK key is contained only in the response that creates it', async () => {
    const body = { name: 'Web', kind: 'server', rate_limit: 50, expires_at: inMs(DAY_MS) }
    const answer = await send('POST', at, body)
    expect(answer.status).toBe(201)
    const { key, ...record } = answer.data
    expect(key).toMatch(/^ff_[0-9a-f]{64}$/)
    expect(record).toEqual({
      id: expect.any(String),
      environment_id: tenant.live.id,
      project_id: tenant.project.id,
      ...body,
      prefix: key.slice(0, 11),
      revoked_at: null,
      last_used_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      deleted_at: null,
      revision: 1,
    })
    const list = await send('GET', `${at}?search=web`, undefined, 'viewer')
    expect(list.data).toEqual({ data: [record], meta: { total: 1, page: 1, pageCount: 1 } })
    expect(list.text).not.toContain(key.slice(11))
    expect(world.hints).toEqual(hints())
    const elsewhere = at.replace(tenant.live.id, tenant.staging.id)
    expect((await send('GET', elsewhere)).data.meta.total).toBe(0)
  })

  it.each([
    ['kind', 'admin'],
    ['kind', null],
    ['name', ''],
    ['rate_limit', 0],
    ['rate_limit', 1.5],
    ['expires_at', '2029-12-31T23:59:59.999Z'],
    ['expires_at', '2030-01-01T00:00:00Z'],
    ['expires_at', 'soon'],
    ['environment_id', '00000000-0000-4000-8000-000000000001'],
    ['project_id', '00000000-0000-4000-8000-000000000001'],
    ['key', `ff_${'0'.repeat(64)}`],
    ['prefix', 'ff_00000000'],
    ['revoked_at', null],
    ['last_used_at', null],
    ['hash', 'x'],
  ])('An SDK key is not created with %s %j', async (field, value) => {
    const answer = await create({ [field]: value })
    expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
    expect((await send('GET', at)).data.meta.total).toBe(0)
  })

  it('A repeated creation of an SDK key does not return the secret again', async () => {
    const body = { name: 'Web', kind: 'client' }
    const headers = { 'idempotency-key': 'once' }
    const post = () => world.call('POST', at, { token: tenant.tokens.admin, headers, body })
    const { key, ...record } = (await post()).data
    expect(key).toMatch(/^ff_/)
    expect(await post()).toMatchObject({ status: 201, data: { ...record, key: null } })
    expect((await send('GET', at)).data.meta.total).toBe(1)
  })

  it('A revoked SDK key stays in lists and is revoked only once', async () => {
    const { id } = await created()
    world.hints.length = 0
    const revokedAt = inMs(0)
    expect(await send('DELETE', `${at}/${id}`)).toMatchObject({ status: 200, data: null })
    expect(world.hints).toEqual(hints())
    expect(await listed(id)).toMatchObject({ revoked_at: revokedAt, revision: 2 })
    await world.clock.advance(1000)
    expect((await send('DELETE', `${at}/${id}`)).status).toBe(200)
    expect(await listed(id)).toMatchObject({ revoked_at: revokedAt, revision: 2 })
    const events = (await world.audit()).filter(({ eventType }) => eventType === 'sdk_key.revoked')
    expect(events.length).toBe(1)
    expect(events[0]).toMatchObject({
      streamId: `sdk_key:${id}`,
      payload: { before: { revoked_at: null }, after: { revoked_at: revokedAt } },
    })
  })

  it('An SDK key is not found in another environment', async () => {
    const { id } = await created()
    const elsewhere = at.replace(tenant.live.id, tenant.staging.id)
    expect((await send('DELETE', `${elsewhere}/${id}`)).status).toBe(404)
    expect((await send('POST', `${elsewhere}/${id}/rotate`, {})).status).toBe(404)
    expect(await listed(id)).toMatchObject({ revoked_at: null })
  })
})

describe('rotation', () => {
  const rotate = (id: string, body: Json = {}) => send('POST', `${at}/${id}/rotate`, body)

  it('A rotation creates a key with the same name, kind and rate limit, and the old key expires in a day', async () => {
    const old = await created({ name: 'Web', kind: 'server', rate_limit: 70 })
    world.hints.length = 0
    const answer = await rotate(old.id)
    expect(answer).toMatchObject({
      status: 201,
      data: { name: 'Web', kind: 'server', rate_limit: 70, expires_at: null, revision: 1 },
    })
    expect(answer.data.key).toMatch(/^ff_[0-9a-f]{64}$/)
    expect(answer.data.key).not.toBe(old.key)
    expect(answer.data.id).not.toBe(old.id)
    expect(await listed(old.id)).toMatchObject({ expires_at: inMs(DAY_MS), revoked_at: null })
    expect(world.hints).toEqual(hints())
    const event = (await world.audit()).find(({ eventType }) => eventType === 'sdk_key.rotated')
    expect(event).toMatchObject({
      streamId: `sdk_key:${old.id}`,
      payload: {
        before: { key: { id: old.id, expires_at: null }, successor: null },
        after: { key: { id: old.id }, successor: { id: answer.data.id } },
      },
    })
    for (const secret of [old.key, answer.data.key]) {
      expect(JSON.stringify(await world.audit())).not.toContain(secret)
    }
  })

  it('After a rotation, the old key is valid for the grace period, but not beyond its own expiry', async () => {
    const expires_at = inMs(60_000)
    const cases: [Json, Json, Json][] = [
      [{}, { grace_seconds: 0 }, { expires_at: null, revoked_at: inMs(0) }],
      [{}, { grace_seconds: 1 }, { expires_at: inMs(1000), revoked_at: null }],
      [{}, { grace_seconds: 2_592_000 }, { expires_at: inMs(30 * DAY_MS), revoked_at: null }],
      [{ expires_at }, { grace_seconds: 30 }, { expires_at: inMs(30_000) }],
      [{ expires_at }, { grace_seconds: 3600 }, { expires_at }],
    ]
    for (const [key, body, left] of cases) {
      const { id } = await created(key)
      expect((await rotate(id, body)).status).toBe(201)
      expect(await listed(id)).toMatchObject(left)
    }
  })

  it('By default, the new key of a rotation expires at the same time as the old key', async () => {
    const expires_at = inMs(60_000)
    const successorOf = async (body: Json) =>
      (await rotate((await created({ expires_at })).id, body)).data.expires_at
    expect(await successorOf({})).toBe(expires_at)
    expect(await successorOf({ expires_at: null })).toBe(null)
    expect(await successorOf({ expires_at: inMs(DAY_MS) })).toBe(inMs(DAY_MS))
  })

  it.each([
    ['grace_seconds', -1],
    ['grace_seconds', 2_592_001],
    ['grace_seconds', 0.5],
    ['grace_seconds', '60'],
    ['grace_seconds', null],
    ['expires_at', '2029-01-01T00:00:00Z'],
    ['kind', 'server'],
    ['name', 'x'],
    ['key', 'ff_x'],
  ])('A rotation with %s %j is refused', async (field, value) => {
    const { id } = await created()
    const answer = await rotate(id, { [field]: value })
    expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
    expect((await send('GET', at)).data.meta.total).toBe(1)
  })

  it('A rotation of a revoked or expired key is refused', async () => {
    const revoked = await created()
    await send('DELETE', `${at}/${revoked.id}`)
    const expired = await created({ expires_at: inMs(1000) })
    await world.clock.advance(1000)
    for (const { id } of [revoked, expired]) expect((await rotate(id)).status).toBe(409)
    expect((await send('GET', at)).data.meta.total).toBe(2)
  })

  it('A rotation request that is repeated with the same Idempotency-Key creates only one key and hides the secret', async () => {
    const { id } = await created()
    const headers = { 'idempotency-key': 'once' }
    const token = tenant.tokens.admin
    const post = () => world.call('POST', `${at}/${id}/rotate`, { token, headers, body: {} })
    const { key, ...record } = (await post()).data
    expect(key).toMatch(/^ff_/)
    expect(await post()).toMatchObject({ status: 201, data: { ...record, key: null } })
    expect((await send('GET', at)).data.meta.total).toBe(2)
  })
})
