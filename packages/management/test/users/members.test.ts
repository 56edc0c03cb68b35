import type { Role } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Json, type Tenant, World } from '../world/world.ts'

type MemberRole = Exclude<Role, 'platform'>

const UPWARD: readonly Role[] = ['viewer', 'editor', 'admin', 'owner', 'platform']
const MEMBER_ROLES: readonly MemberRole[] = ['viewer', 'editor', 'admin', 'owner']

let world: World
let tenant: Tenant
let at: string

beforeEach(async () => {
  world = await World.create()
  tenant = await world.addTenant('Acme')
  at = `/organizations/${tenant.orgId}/members`
})

const send = (method: string, address: string, body?: Json, role: Role = 'owner') =>
  world.call(method, address, { token: tenant.tokens[role], body })
const add = (email: string, role: MemberRole, by?: Role): Promise<Answer> =>
  send('POST', at, { email, role }, by)
const added = async (email: string, role: MemberRole): Promise<Json> =>
  (await add(email, role)).data
const rolesOf = async (): Promise<Json> =>
  Object.fromEntries(
    (await send('GET', at)).data.data.map(({ email, role }: Json) => [email, role]),
  )

describe('members', () => {
  it('A member can be added, changed and removed', async () => {
    const answer = await send('POST', at, { email: 'Ada@Acme.Test', name: 'Ada', role: 'editor' })
    expect(answer).toMatchObject({ status: 201, headers: { ETag: '"1"' } })
    expect(answer.data).toEqual({
      id: expect.any(String),
      user_id: expect.any(String),
      org_id: tenant.orgId,
      email: 'ada@acme.test',
      name: 'Ada',
      role: 'editor',
      one_time_link: expect.stringMatching(/^ffl_[0-9a-f]{64}$/),
      created_at: expect.any(String),
      updated_at: expect.any(String),
      deleted_at: null,
      revision: 1,
    })
    expect((await added('bob@acme.test', 'viewer')).name).toBe('bob@acme.test')
    const address = `${at}/${answer.data.user_id}`
    const changed = await send('PUT', address, { name: 'Ada L.', role: 'admin' })
    expect(changed.data).toMatchObject({ name: 'Ada L.', role: 'admin', revision: 2 })
    const headers = { 'if-match': '"1"' }
    const token = tenant.tokens.owner
    for (const method of ['PUT', 'DELETE']) {
      const body = method === 'PUT' ? { name: 'Late' } : undefined
      const late = await world.call(method, address, { token, headers, body })
      expect(late).toMatchObject({ status: 409, data: { name: 'Ada L.', revision: 2 } })
    }
    expect(await send('DELETE', address)).toMatchObject({ status: 200, data: null })
    expect((await send('DELETE', address)).status).toBe(404)
    expect(await rolesOf()).toEqual({ 'bob@acme.test': 'viewer' })
    const events = (await world.audit()).filter(({ streamId }) => streamId.startsWith('member:'))
    expect(events.map(({ eventType }) => eventType).sort()).toEqual([
      'member.added',
      'member.added',
      'member.removed',
      'member.updated',
    ])
  })

  it('An e-mail address can be a member only once, without regard to case', async () => {
    const addresses = ['a@acme.test', 'A@ACME.test', 'a@Acme.Test']
    const answers = await Promise.all(addresses.map((email) => add(email, 'viewer')))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.data).toEqual({ issues: [{ path: 'email', message: 'is already a member' }] })
    expect((await world.storage.list('user', {})).total).toBe(1)
  })

  it('A user can be a member of several organizations, which do not see each other’s data', async () => {
    const other = await world.addTenant('Other')
    const there = `/organizations/${other.orgId}/members`
    const token = other.tokens.owner
    const mine = await send('POST', at, { email: 'a@b.test', name: 'Secret', role: 'owner' })
    const body = { email: 'a@b.test', role: 'viewer' }
    const theirs = await world.call('POST', there, { token, body })
    expect(theirs).toMatchObject({ status: 201, data: { name: 'a@b.test', role: 'viewer' } })
    expect(theirs.data.user_id).toBe(mine.data.user_id)
    expect(theirs.text).not.toContain('Secret')
    await world.call('PUT', `${there}/${theirs.data.user_id}`, { token, body: { role: 'admin' } })
    await world.call('DELETE', `${there}/${theirs.data.user_id}`, { token })
    const { one_time_link: _, ...listed } = mine.data
    expect((await send('GET', at)).data.data).toEqual([listed])
    expect(
      (await world.call('PUT', `${there}/${mine.data.user_id}`, { token, body: {} })).status,
    ).toBe(404)
  })

  it.each([
    ['email', 'a@acme.test\nBcc: x@y.test'],
    ['email', 'a@acme.test\r\n'],
    ['email', '"a\r\nBcc: x@y.test"@acme.test'],
    ['email', 'a@acme.test,b@acme.test'],
    ['email', 'Ada <a@acme.test>'],
    ['email', ' a@acme.test'],
    ['email', 'a@acme.test\u0000'],
    ['email', `${'a'.repeat(255)}@acme.test`],
    ['email', ''],
    ['email', 5],
    ['name', 'Ada\r\nBcc: x@y.test'],
    ['name', ''],
    ['name', 'x'.repeat(257)],
    ['role', 'platform'],
    ['role', 'Owner'],
    ['role', ['owner']],
    ['role', null],
    ['user_id', '00000000-0000-4000-8000-000000000001'],
    ['org_id', '00000000-0000-4000-8000-000000000001'],
    ['id', '00000000-0000-4000-8000-000000000001'],
    ['revision', 7],
    ['deleted_at', null],
  ])('A member is not added with %s %j', async (field, value) => {
    const body = { email: 'a@acme.test', name: 'Ada', role: 'viewer', [field]: value }
    const answer = await send('POST', at, body)
    expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
    expect(await rolesOf()).toEqual({})
    expect((await world.storage.list('user', {})).total).toBe(0)
  })

  it('The address and the user of a member cannot be changed', async () => {
    const { user_id } = await added('a@acme.test', 'viewer')
    for (const field of ['email', 'user_id', 'org_id', 'id', 'created_at']) {
      const answer = await send('PUT', `${at}/${user_id}`, { [field]: 'x@acme.test' })
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
    }
  })

  it('Members are sorted by address and can be searched by parts of name and address', async () => {
    for (const email of ['c@acme.test', 'a@acme.test', 'b@other.test']) await added(email, 'viewer')
    const emails = async (query: string) =>
      (await send('GET', `${at}?${query}`)).data.data.map(({ email }: Json) => email)
    expect(await emails('')).toEqual(['a@acme.test', 'b@other.test', 'c@acme.test'])
    expect(await emails('search=ACME')).toEqual(['a@acme.test', 'c@acme.test'])
    expect(await emails('limit=1&page=2')).toEqual(['b@other.test'])
    expect((await send('GET', `${at}?limit=0`)).status).toBe(400)
  })
})

describe('roles', () => {
  it('A role cannot add, change or remove members of a higher role', async () => {
    for (const by of UPWARD) {
      for (const role of MEMBER_ROLES) {
        const mayManage = UPWARD.indexOf(by) >= UPWARD.indexOf('admin')
        const reaches = UPWARD.indexOf(role) <= UPWARD.indexOf(by)
        const isAllowed = mayManage && reaches
        const what = `${by} and ${role}`
        const giving = await add(`given-${by}-${role}@acme.test`, role, by)
        expect([what, giving.status]).toEqual([what, isAllowed ? 201 : 403])
        const low = `${at}/${(await added(`low-${by}-${role}@acme.test`, 'viewer')).user_id}`
        const raising = await send('PUT', low, { role }, by)
        expect([what, raising.status]).toEqual([what, isAllowed ? 200 : 403])
        const high = `${at}/${(await added(`high-${by}-${role}@acme.test`, role)).user_id}`
        await added(`spare-${by}-${role}@acme.test`, 'owner')
        const renaming = await send('PUT', high, { name: 'X' }, by)
        expect([what, renaming.status]).toEqual([what, isAllowed ? 200 : 403])
        const lowering = await send('PUT', high, { role: 'viewer' }, by)
        expect([what, lowering.status]).toEqual([what, isAllowed ? 200 : 403])
        await send('PUT', high, { role }, 'owner')
        const removing = await send('DELETE', high, undefined, by)
        expect([what, removing.status]).toEqual([what, isAllowed ? 200 : 403])
      }
    }
  })

  it('A refused change of a role has no effect', async () => {
    const owner = await added('owner@acme.test', 'owner')
    const before = [await rolesOf(), await world.audit()]
    await add('new@acme.test', 'owner', 'admin')
    await send('PUT', `${at}/${owner.user_id}`, { role: 'viewer' }, 'admin')
    await send('DELETE', `${at}/${owner.user_id}`, undefined, 'admin')
    expect([await rolesOf(), await world.audit()]).toEqual(before)
    expect((await world.storage.list('user', {})).total).toBe(1)
  })

  it('The last owner cannot be removed or demoted', async () => {
    const last = `${at}/${(await added('last@acme.test', 'owner')).user_id}`
    for (const by of ['owner', 'platform'] as const) {
      for (const role of ['admin', 'viewer']) {
        expect((await send('PUT', last, { role }, by)).status).toBe(409)
      }
      expect((await send('DELETE', last, undefined, by)).status).toBe(409)
    }
    expect((await send('PUT', last, { role: 'owner', name: 'Last' })).status).toBe(200)
    await added('next@acme.test', 'owner')
    expect((await send('DELETE', last)).status).toBe(200)
    expect(await rolesOf()).toEqual({ 'next@acme.test': 'owner' })
  })

  it('One owner remains when all owners are removed or demoted concurrently', async () => {
    const emails = Array.from({ length: 6 }, (_, n) => `owner${n}@acme.test`)
    const owners = await Promise.all(emails.map((email) => added(email, 'owner')))
    const answers = await Promise.all(
      owners.map(({ user_id }, n) =>
        n % 2 === 0
          ? send('DELETE', `${at}/${user_id}`)
          : send('PUT', `${at}/${user_id}`, { role: 'viewer' }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(200), 409])
    expect(Object.values(await rolesOf()).filter((role) => role === 'owner').length).toBe(1)
  })
})
