import { beforeEach, describe, expect, it } from 'vitest'
import { cookieIn, LogInWorld, PASSWORD } from '../world/log-in-world.ts'
import type { Json, Tenant } from '../world/world.ts'

const OTHER = 'another good password'
const DAY_MS = 24 * 60 * 60_000

let logInWorld: LogInWorld

beforeEach(async () => {
  logInWorld = await LogInWorld.create()
})

describe('one-time links', () => {
  it('A new member can set a password once with a one-time link', async () => {
    const token = await logInWorld.invite('ada@acme.test', 'admin')
    expect(token).toMatch(/^ffl_[0-9a-f]{64}$/)
    expect((await logInWorld.logIn('ada@acme.test')).status).toBe(401)
    const body = { token, new_password: PASSWORD }
    expect(await logInWorld.change(body)).toMatchObject({ status: 200, data: null })
    expect((await logInWorld.logIn('ada@acme.test')).status).toBe(200)
    expect((await logInWorld.change({ ...body, new_password: OTHER })).status).toBe(401)
    expect((await logInWorld.logIn('ada@acme.test')).status).toBe(200)
    const { data } = await logInWorld.manage('GET', '/audit/logs?sort=created_at:asc')
    const events = data.data.filter(({ id }: Json) => id.startsWith('logins:'))
    expect(events.map(({ eventType }: Json) => eventType)).toEqual([
      'member.accepted',
      'user.password_changed',
      'user.login_success',
      'user.login_success',
      'user.login_success',
    ])
    expect(events[0].actor).toMatchObject({ email: 'ada@acme.test', role: 'admin' })
    expect((await logInWorld.manage('GET', '/audit/verify')).data.valid).toBe(true)
  })

  it('A link that sets a password opens a session, and ends the session that the browser had', async () => {
    await logInWorld.add('boss@acme.test', 'owner')
    const token = await logInWorld.invite('ada@acme.test', 'admin')
    const before = { cookie: cookieIn(await logInWorld.logIn('boss@acme.test')) }
    const body = { token, new_password: PASSWORD }
    const answer = await logInWorld.change(body, { headers: before })
    expect(answer).toMatchObject({ status: 200, data: null })
    expect(answer.text).not.toMatch(/ffs_|ffl_/)
    const me = (cookie: string) => logInWorld.world.call('GET', '/auth/me', { headers: { cookie } })
    expect(answer.cookies[0]).toMatch(
      /^ff_session=ffs_[0-9a-f]{64}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/,
    )
    const { data } = await me(cookieIn(answer))
    expect(data.user).toMatchObject({ email: 'ada@acme.test', role: 'admin' })
    expect(data.csrf_token).toMatch(/^[0-9a-f]{64}$/)
    expect((await me(before.cookie)).status).toBe(401)
    const again = await logInWorld.change(body)
    expect([again.status, again.cookies]).toEqual([401, []])
    const refused = await logInWorld.change(
      { ...body, token: await logInWorld.invite('x@acme.test', 'viewer') },
      {
        headers: { host: 'flags.acme.test', origin: 'https://evil.test' },
      },
    )
    expect([refused.status, refused.cookies]).toEqual([403, []])
  })

  it('A truncated link, a lengthened one and a link of another installation are refused and change nothing', async () => {
    const token = await logInWorld.invite('ada@acme.test', 'owner')
    const elsewhere = await (await LogInWorld.create()).invite('ada@acme.test', 'owner')
    const before = await logInWorld.world.storage.list('user', {})
    for (const wrong of [
      token.slice(0, -1),
      token.slice(0, 11),
      token.slice(4),
      `${token}0`,
      token.toUpperCase(),
      elsewhere,
      'ffl_',
    ]) {
      const answer = await logInWorld.change({ token: wrong, new_password: PASSWORD })
      expect([wrong, answer.status, answer.cookies]).toEqual([wrong, 401, []])
      expect(answer.message).toBe('The link was used, has expired, or was replaced by a newer one.')
    }
    expect(await logInWorld.world.storage.list('user', {})).toEqual(before)
    expect((await logInWorld.world.storage.list('loginSession', {})).total).toBe(0)
    expect((await logInWorld.change({ token, new_password: PASSWORD })).status).toBe(200)
  })

  it('Of several concurrent requests with the same link, exactly one succeeds', async () => {
    const token = await logInWorld.invite('ada@acme.test', 'viewer')
    const passwords = Array.from({ length: 8 }, (_, n) => `password number ${n}`)
    const answers = await Promise.all(
      passwords.map((password) => logInWorld.change({ token, new_password: password })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(401)])
    const accepted = passwords[statuses.indexOf(200)] ?? ''
    expect((await logInWorld.logIn('ada@acme.test', accepted)).status).toBe(200)
  })

  it('A link ends after seven days, with its membership, or when a newer one is created', async () => {
    const at = `/organizations/${logInWorld.tenant.orgId}/members`
    const expired = await logInWorld.invite('late@acme.test', 'viewer')
    const removed = await logInWorld.invite('gone@acme.test', 'viewer')
    const replaced = await logInWorld.invite('lost@acme.test', 'viewer')
    const idOf = async (email: string) =>
      (await logInWorld.manage('GET', `${at}?search=${email}`)).data.data[0].user_id
    await logInWorld.manage('DELETE', `${at}/${await idOf('gone@acme.test')}`)
    const answer = await logInWorld.manage('PUT', `${at}/${await idOf('lost@acme.test')}`, {
      new_link: true,
    })
    expect(answer.data.one_time_link).toMatch(/^ffl_/)
    const use = async (token: string) =>
      (await logInWorld.change({ token, new_password: PASSWORD })).status
    expect([await use(removed), await use(replaced)]).toEqual([401, 401])
    await logInWorld.world.clock.advance(7 * DAY_MS - 1)
    expect(await use(answer.data.one_time_link)).toBe(200)
    await logInWorld.world.clock.advance(1)
    expect(await use(expired)).toBe(401)
    const [invited] = await logInWorld.audit('member.invited')
    expect(JSON.stringify(invited)).not.toMatch(/ffl_|link/)
  })

  it('A change of another field of a member keeps the link', async () => {
    const at = `/organizations/${logInWorld.tenant.orgId}/members`
    const token = await logInWorld.invite('ada@acme.test', 'viewer')
    const { data } = await logInWorld.manage('GET', at)
    const changed = await logInWorld.manage('PUT', `${at}/${data.data[0].user_id}`, { name: 'Ada' })
    expect(changed.data.one_time_link).toBe(null)
    expect((await logInWorld.change({ token, new_password: PASSWORD })).status).toBe(200)
  })

  it('A link for a forgotten password sets a new password and ends all sessions', async () => {
    const { id } = await logInWorld.add('ada@acme.test', 'viewer')
    const before = logInWorld.as(await logInWorld.logIn('ada@acme.test'))
    const at = `/organizations/${logInWorld.tenant.orgId}/members/${id}`
    const token = (await logInWorld.manage('PUT', at, { new_link: true })).data.one_time_link
    expect((await before.get('/auth/me')).status).toBe(200)
    expect((await logInWorld.change({ token, new_password: OTHER })).status).toBe(200)
    expect((await before.get('/auth/me')).status).toBe(401)
    expect((await logInWorld.logIn('ada@acme.test')).status).toBe(401)
    expect((await logInWorld.logIn('ada@acme.test', OTHER)).status).toBe(200)
  })

  it.each(['viewer', 'editor', 'admin', 'owner'] as const)(
    'Only an owner can create a link for an owner (role %s)',
    async (role) => {
      const { id } = await logInWorld.add('boss@acme.test', 'owner')
      const at = `/organizations/${logInWorld.tenant.orgId}/members/${id}`
      const token = logInWorld.tenant.tokens[role]
      const answer = await logInWorld.world.call('PUT', at, { token, body: { new_link: true } })
      expect(answer.status).toBe(role === 'owner' ? 200 : 403)
    },
  )

  it.each([
    [{ new_password: 'elevenchars' }, 'new_password'],
    [{ new_password: 'x'.repeat(257) }, 'new_password'],
    [{ new_password: 'Ada.Lovelace@acme.test' }, 'new_password'],
    [{ new_password: 'nul\0 in the password' }, 'new_password'],
    [{ new_password: 123456789012 }, 'new_password'],
    [{}, 'token'],
    [{ new_password: OTHER, old_password: PASSWORD }, 'token'],
    [{ new_password: OTHER, email: 'x@acme.test' }, 'email'],
  ])('A link with %j is refused and stays valid', async (body, field) => {
    const token = await logInWorld.invite('ada.lovelace@acme.test', 'viewer')
    const refused = await logInWorld.change({ token, ...body })
    expect([refused.status, refused.data.issues[0].path]).toEqual([400, field])
    expect((await logInWorld.change({ token, new_password: '👩‍🚀 of twelve' })).status).toBe(200)
  })
})

describe('members of several organizations', () => {
  let other: Tenant
  let theirs: string

  beforeEach(async () => {
    other = await logInWorld.world.addTenant('Globex')
  })

  const inviteThere = async (email: string) => {
    await logInWorld.world.clock.advance(1)
    const { data } = await logInWorld.world.call('POST', `/organizations/${other.orgId}/members`, {
      token: other.tokens.owner,
      body: { email, role: 'owner' },
    })
    theirs = data.one_time_link
    return theirs
  }
  const organizationsOf = async (email: string, password = PASSWORD) => {
    const { data } = await logInWorld.logIn(email, password)
    return data?.memberships?.map(({ name }: Json) => name)
  }

  it('A link of a second organization requires the current password of the user', async () => {
    await logInWorld.add('ada@acme.test', 'admin')
    const token = await inviteThere('ada@acme.test')
    expect((await logInWorld.change({ token, new_password: OTHER })).status).toBe(409)
    expect((await logInWorld.change({ token, old_password: OTHER })).status).toBe(401)
    expect(await organizationsOf('ada@acme.test')).toEqual(['Acme'])
    expect((await logInWorld.change({ token, old_password: PASSWORD })).status).toBe(200)
    expect(await organizationsOf('ada@acme.test')).toEqual(['Acme', 'Globex'])
    expect((await logInWorld.change({ token, old_password: PASSWORD })).status).toBe(401)
  })

  it('A link does not accept the membership in another organization', async () => {
    const mine = await logInWorld.invite('ada@acme.test', 'admin')
    await inviteThere('ada@acme.test')
    await logInWorld.change({ token: mine, new_password: PASSWORD })
    expect(await organizationsOf('ada@acme.test')).toEqual(['Acme'])
    expect((await logInWorld.change({ token: theirs, new_password: OTHER })).status).toBe(409)
    const me = logInWorld.as(await logInWorld.logIn('ada@acme.test'))
    const there = await me.get('/auth/me', { 'x-ff-organization': other.orgId })
    expect(there.status).toBe(404)
    expect((await me.get(`/organizations/${other.orgId}`)).status).toBe(404)
  })

  it('Of two links that are used concurrently, only one sets the password', async () => {
    const mine = await logInWorld.invite('ada@acme.test', 'admin')
    await inviteThere('ada@acme.test')
    const answers = await Promise.all([
      logInWorld.change({ token: mine, new_password: PASSWORD }),
      logInWorld.change({ token: theirs, new_password: OTHER }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })

  it('Adding a member does not reveal that the address already exists', async () => {
    await logInWorld.add('ada@acme.test', 'admin')
    const at = `/organizations/${other.orgId}/members`
    const add = async (email: string) => {
      const body = { email, role: 'viewer' }
      const { data } = await logInWorld.world.call('POST', at, { token: other.tokens.owner, body })
      return Object.keys(data)
    }
    expect(await add('ada@acme.test')).toEqual(await add('new@acme.test'))
  })
})

describe('password changes', () => {
  it('A password change requires the old password and ends all other sessions', async () => {
    await logInWorld.add('ada@acme.test', 'viewer')
    const here = logInWorld.as(await logInWorld.logIn('ada@acme.test'))
    const there = logInWorld.as(await logInWorld.logIn('ada@acme.test'))
    const change = (old_password: string, new_password: string) =>
      here.send('POST', '/auth/password', { old_password, new_password })
    expect((await change('not the old password', OTHER)).status).toBe(403)
    expect((await change(PASSWORD, 'short')).data.issues[0].path).toBe('new_password')
    expect((await change(PASSWORD, OTHER)).status).toBe(200)
    expect((await here.get('/auth/me')).status).toBe(200)
    expect((await there.get('/auth/me')).status).toBe(401)
    expect((await logInWorld.logIn('ada@acme.test')).status).toBe(401)
    expect((await logInWorld.logIn('ada@acme.test', OTHER)).status).toBe(200)
    const [, changed] = await logInWorld.audit('user.password_changed')
    expect(changed).toMatchObject({
      payload: { after: { email: 'ada@acme.test', by: 'password' } },
      org_id: logInWorld.tenant.orgId,
      actor: { email: 'ada@acme.test' },
    })
  })

  it('A password change requires a session and its X-CSRF-Token', async () => {
    await logInWorld.add('ada@acme.test', 'viewer')
    const body = { old_password: PASSWORD, new_password: OTHER }
    expect((await logInWorld.change(body)).status).toBe(401)
    const token = logInWorld.tenant.tokens.owner
    expect((await logInWorld.change(body, { token })).status).toBe(401)
    const ada = logInWorld.as(await logInWorld.logIn('ada@acme.test'))
    const forged = { 'x-csrf-token': 'x' }
    expect((await ada.send('POST', '/auth/password', body, forged)).status).toBe(403)
    const half = await ada.send('POST', '/auth/password', { new_password: OTHER })
    expect([half.status, half.data.issues[0].path]).toEqual([400, 'old_password'])
    expect((await logInWorld.logIn('ada@acme.test')).status).toBe(200)
  })
})
