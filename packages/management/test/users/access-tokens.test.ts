import type { Role } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../server/test/fake-clock.ts'
import { type Json, type Tenant, World } from '../world/world.ts'

const ROLES = ['viewer', 'editor', 'admin', 'owner'] as const

let world: World
let tenant: Tenant
let at: string

beforeEach(async () => {
  world = await World.create()
  tenant = await world.addTenant('Acme')
  at = `/organizations/${tenant.orgId}/tokens`
})

const send = (method: string, address: string, body?: Json, role: Role = 'owner') =>
  world.call(method, address, { token: tenant.tokens[role], body })
const issue = (body: Json, by?: Role) =>
  send('POST', at, { name: 't', role: 'viewer', ...body }, by)
const statusWith = async (token: string) =>
  (await world.call('GET', `/organizations/${tenant.orgId}`, { token })).status

describe('access tokens', () => {
  it('An access token is contained only in the response that creates it', async () => {
    const answer = await issue({ name: 'CI', role: 'editor' })
    expect(answer.status).toBe(201)
    const { token, ...record } = answer.data
    expect(token).toMatch(/^ffat_[0-9a-f]{64}$/)
    expect(record).toEqual({
      id: expect.any(String),
      org_id: tenant.orgId,
      name: 'CI',
      role: 'editor',
      prefix: token.slice(0, 11),
      expires_at: null,
      last_used_at: null,
      created_by: expect.any(String),
      created_at: expect.any(String),
      updated_at: expect.any(String),
      deleted_at: null,
      revision: 1,
    })
    const list = await send('GET', `${at}?search=ci`, undefined, 'viewer')
    expect(list.data).toEqual({ data: [record], meta: { total: 1, page: 1, pageCount: 1 } })
    expect(list.text).not.toContain(token.slice(11))
    expect(list.text).not.toContain('hash')
    expect(await statusWith(token)).toBe(200)
  })

  it('A repeated creation of an access token does not return the secret again', async () => {
    const body = { name: 'CI', role: 'editor' }
    const headers = { 'idempotency-key': 'once' }
    const post = () => world.call('POST', at, { token: tenant.tokens.owner, headers, body })
    const { token, ...record } = (await post()).data
    expect(await post()).toMatchObject({ status: 201, data: { ...record, token: null } })
    expect((await send('GET', `${at}?search=CI`)).data.meta.total).toBe(1)
    expect(await statusWith(token)).toBe(200)
  })

  it('A deleted access token is refused immediately, other tokens are not', async () => {
    const [one, other] = [(await issue({})).data, (await issue({})).data]
    expect(await statusWith(one.token)).toBe(200)
    expect(await send('DELETE', `${at}/${one.id}`)).toMatchObject({ status: 200, data: null })
    expect([await statusWith(one.token), await statusWith(other.token)]).toEqual([401, 200])
    expect((await send('DELETE', `${at}/${one.id}`)).status).toBe(404)
    const event = (await world.audit()).find(({ eventType }) => eventType === 'token.deleted')
    expect(event).toMatchObject({ streamId: `token:${one.id}`, payload: { after: null } })
    expect(JSON.stringify(event?.payload)).not.toContain('hash')
  })

  it('An access token can delete itself', async () => {
    const { id, token } = (await issue({ role: 'admin' })).data
    expect((await world.call('DELETE', `${at}/${id}`, { token })).status).toBe(200)
    expect(await statusWith(token)).toBe(401)
    await world.clock.advance(1000)
  })

  it('An access token is refused from the time at which it expires', async () => {
    const expires_at = new Date(world.clock.now() + 60_000).toISOString()
    const { token } = (await issue({ expires_at })).data
    await world.clock.advance(59_999)
    expect(await statusWith(token)).toBe(200)
    await world.clock.advance(1)
    expect(await statusWith(token)).toBe(401)
  })

  it('A role cannot create or delete access tokens of a higher role', async () => {
    for (const by of ROLES) {
      for (const role of ROLES) {
        const isAllowed =
          (by === 'admin' && role !== 'owner') || by === 'owner' ? 'allowed' : 'refused'
        const statuses = { allowed: [201, 200], refused: [403, 403] }[isAllowed]
        const { id } = (await issue({ role })).data
        const issuing = await issue({ role }, by)
        const deleting = await send('DELETE', `${at}/${id}`, undefined, by)
        const outcome = [by, role, issuing.status, deleting.status]
        expect(outcome).toEqual([by, role, ...statuses])
      }
    }
  })

  it.each([
    ['role', 'platform'],
    ['role', 'root'],
    ['role', null],
    ['name', ''],
    ['name', 'a\r\nb'],
    ['expires_at', '2029-12-31T23:59:59Z'],
    ['expires_at', '2030-01-01T00:00:00.000Z'],
    ['expires_at', 'tomorrow'],
    ['token', 'ffat_chosen'],
    ['org_id', '00000000-0000-4000-8000-000000000001'],
    ['created_by', 'somebody'],
    ['last_used_at', null],
    ['hash', 'x'],
    ['prefix', 'ffat_'],
  ])('An access token is not created with %s %j', async (field, value) => {
    const answer = await issue({ [field]: value })
    expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
    expect((await send('GET', at)).data.meta.total).toBe(4)
  })

  it('Access tokens of another organization can be neither listed nor deleted', async () => {
    const other = await world.addTenant('Other')
    const theirs = (await world.storage.list('accessToken', { where: { orgId: other.orgId } })).data
    for (const { id } of theirs) {
      expect((await send('DELETE', `${at}/${id}`)).status).toBe(404)
      expect((await send('DELETE', `${at}/${id}`, undefined, 'platform')).status).toBe(404)
    }
    const listed = (await send('GET', `${at}?limit=100`)).data.data.map(({ id }: Json) => id)
    for (const { id } of theirs) expect(listed).not.toContain(id)
  })
})

describe('the last use of an access token', () => {
  const lastUse = async (id: string) =>
    (await world.storage.find('accessToken', id))?.lastUsedAt ?? null
  const now = () => new Date(world.clock.now()).toISOString()

  it('The last use of an access token is recorded to the minute', async () => {
    const { id, token } = (await issue({})).data
    const first = now()
    for (let use = 0; use < 20; use += 1) expect(await statusWith(token)).toBe(200)
    expect(await lastUse(id)).toBe(null)
    await world.clock.advance(1000)
    expect(await lastUse(id)).toBe(first)
    await world.clock.advance(58_000)
    await statusWith(token)
    await world.clock.advance(1000)
    expect(await lastUse(id)).toBe(first)
    const second = now()
    await statusWith(token)
    await world.clock.advance(1000)
    expect(await lastUse(id)).toBe(second)
  })

  it('Recording the last use changes no other field and is not audited', async () => {
    const { id, token } = (await issue({})).data
    const before = await world.storage.find('accessToken', id)
    const audited = await world.audit()
    await statusWith(token)
    await world.clock.advance(1000)
    const after = await world.storage.find('accessToken', id)
    expect(after).toEqual({ ...before, lastUsedAt: after?.lastUsedAt })
    expect(await world.audit()).toEqual(audited)
  })

  it('Recording the last use does not fail if the store is closed', async () => {
    const { token } = (await issue({})).data
    await statusWith(token)
    await world.storage.close()
    await world.clock.advance(1000)
    await settle()
  })
})
