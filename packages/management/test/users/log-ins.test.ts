import { beforeEach, describe, expect, it } from 'vitest'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import type { PasswordHasher } from '../../src/ports/password-hasher.ts'
import { cookieIn, LogInWorld, PASSWORD } from '../world/log-in-world.ts'
import type { Answer, Json } from '../world/world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let logInWorld: LogInWorld

beforeEach(async () => {
  logInWorld = await LogInWorld.create()
})

describe('log-ins', () => {
  it('A log-in returns the user and sets an HttpOnly session cookie', async () => {
    const orgId = logInWorld.tenant.orgId
    const { id } = await logInWorld.add('ada@acme.test', 'editor')
    const answer = await logInWorld.logIn('Ada@ACME.test')
    expect(answer.data).toEqual({
      user: { id, email: 'ada@acme.test', name: 'ada@acme.test', role: 'editor', org_id: orgId },
      memberships: [{ org_id: orgId, name: 'Acme', role: 'editor' }],
      csrf_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      expires_at: '2030-01-01T12:00:00.000Z',
    })
    expect(answer.cookies[0]).toMatch(
      /^ff_session=ffs_[0-9a-f]{64}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/,
    )
    expect(answer.text).not.toContain('ffs_')
    const me = await logInWorld.as(answer).get('/auth/me')
    expect(me.data).toEqual(answer.data)
  })

  it('Each request of a session has the current role of the membership', async () => {
    const { id } = await logInWorld.add('ada@acme.test', 'viewer')
    const ada = logInWorld.as(await logInWorld.logIn('ada@acme.test'))
    const flags = `/projects/${logInWorld.tenant.project.id}/flags`
    const create = (key: string) => ada.send('POST', flags, { key, type: 'boolean' })
    expect((await create('a')).status).toBe(403)
    await logInWorld.manage('PUT', `/organizations/${logInWorld.tenant.orgId}/members/${id}`, {
      role: 'editor',
      name: 'Ada L.',
    })
    expect((await create('a')).status).toBe(201)
    const { data } = await logInWorld.manage('GET', '/audit/logs?event_type=flag.created')
    expect(data.data[0].actor).toEqual({
      id,
      email: 'ada@acme.test',
      name: 'Ada L.',
      role: 'editor',
    })
  })

  it('A session acts in the oldest membership or in the requested organization', async () => {
    const { world, tenant } = logInWorld
    const other = await world.addTenant('Globex')
    const unrelated = await world.addTenant('Hooli')
    await logInWorld.add('ada@acme.test', 'viewer')
    await world.clock.advance(1000)
    const there = `/organizations/${other.orgId}/members`
    const invited = await world.call('POST', there, {
      token: other.tokens.owner,
      body: { email: 'ada@acme.test', role: 'owner' },
    })
    const alone = await logInWorld.logIn('ada@acme.test')
    expect(alone.data.memberships).toHaveLength(1)
    await logInWorld.change({ token: invited.data.one_time_link, old_password: PASSWORD })
    const ada = logInWorld.as(await logInWorld.logIn('ada@acme.test'))
    const me = async (orgId?: string) =>
      ada.get('/auth/me', orgId === undefined ? {} : { 'x-ff-organization': orgId })
    expect((await me()).data).toMatchObject({ user: { role: 'viewer', org_id: tenant.orgId } })
    expect((await me(other.orgId.toUpperCase())).data).toMatchObject({
      user: { role: 'owner', org_id: other.orgId },
      memberships: [{ name: 'Acme' }, { name: 'Globex' }],
    })
    const unknown = await me(crypto.randomUUID())
    expect(unknown.status).toBe(404)
    for (const orgId of [unrelated.orgId, 'x', '', '__proto__']) {
      expect((await me(orgId)).text).toBe(unknown.text)
    }
  })

  it('Every refused log-in has the same response and is audited with its reason', async () => {
    await logInWorld.add('ada@acme.test', 'viewer')
    await logInWorld.invite('invited@acme.test', 'viewer')
    const refused: Answer[] = []
    for (const [email, password] of [
      ['nobody@acme.test', PASSWORD],
      ['ada@acme.test', 'not her password'],
      ['invited@acme.test', PASSWORD],
      ['no address', PASSWORD],
    ] as const) {
      refused.push(await logInWorld.logIn(email, password))
      await logInWorld.world.clock.advance(1)
    }
    for (const answer of refused) {
      expect([answer.status, answer.text]).toEqual([401, refused[0]?.text])
      expect(answer.cookies).toEqual([])
    }
    const failed = await logInWorld.audit('user.login_failed')
    expect(failed.map(({ payload }: Json) => payload.after)).toEqual([
      { email: 'nobody@acme.test', method: 'password', reason: 'unknown' },
      { email: 'ada@acme.test', method: 'password', reason: 'wrong password' },
      { email: 'invited@acme.test', method: 'password', reason: 'wrong password' },
      { email: '', method: 'password', reason: 'unknown' },
    ])
    expect(failed.map(({ org_id }: Json) => org_id)).toEqual(['', logInWorld.tenant.orgId, '', ''])
    expect(JSON.stringify(failed)).not.toContain('not her password')
  })

  it('A log-in with an unknown address does the same work as one with a wrong password', async () => {
    const real = new ScryptPasswordHasher({ log2N: 4, r: 8, p: 1 })
    const verified: (string | null)[] = []
    const passwordHasher: PasswordHasher = {
      hash: (password) => real.hash(password),
      verify: (password, hash) => {
        verified.push(hash)
        return real.verify(password, hash)
      },
    }
    logInWorld = await LogInWorld.create({ passwordHasher })
    await logInWorld.add('ada@acme.test', 'viewer')
    await logInWorld.invite('invited@acme.test', 'viewer')
    for (const email of ['ada@acme.test', 'invited@acme.test', 'nobody@acme.test', 'x']) {
      await logInWorld.logIn(email, 'wrong password')
    }
    expect(verified).toEqual([expect.stringMatching(/^\$scrypt\$/), null, null, null])
  })

  it('A log-in replaces a hash of another cost', async () => {
    const { id } = await logInWorld.add('ada@acme.test', 'viewer')
    const old = await new ScryptPasswordHasher({ log2N: 5, r: 8, p: 1 }).hash(PASSWORD)
    await logInWorld.world.storage.update('user', id, { passwordHash: old })
    expect((await logInWorld.logIn('ada@acme.test')).status).toBe(200)
    const kept = await logInWorld.world.storage.find('user', id)
    expect(kept?.passwordHash).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$/)
    expect((await logInWorld.logIn('ada@acme.test')).status).toBe(200)
  })

  it('A password is accepted in any Unicode normalisation form', async () => {
    await logInWorld.add('ada@acme.test', 'viewer', 'Ångström-Café-ﬁne')
    expect((await logInWorld.logIn('ada@acme.test', 'Ångström-Café-fine')).status).toBe(200)
  })

  it('The log-in endpoints do not exist if users is false', async () => {
    logInWorld = await LogInWorld.create({ users: false })
    for (const [method, path] of [
      ['POST', '/auth/login'],
      ['POST', '/auth/password'],
      ['POST', '/auth/logout'],
      ['GET', '/auth/me'],
    ] as const) {
      const body = { email: 'a@b.test', password: 'x', token: 'x', old_password: 'x' }
      const sent = method === 'GET' || path === '/auth/logout' ? undefined : bodyFor(path, body)
      const token = logInWorld.tenant.tokens.owner
      expect((await logInWorld.world.call(method, path, { token, body: sent })).status).toBe(404)
    }
  })
})

describe('log-in sessions', () => {
  let session: Answer

  beforeEach(async () => {
    await logInWorld.add('ada@acme.test', 'admin')
    session = await logInWorld.logIn('ada@acme.test')
  })

  const status = async (answer = session) => (await logInWorld.as(answer).get('/auth/me')).status

  it('A session ends twelve hours after the log-in', async () => {
    for (let hour = 1; hour < 12; hour += 1) {
      await logInWorld.world.clock.advance(HOUR_MS)
      expect(await status()).toBe(200)
    }
    await logInWorld.world.clock.advance(HOUR_MS)
    expect(await status()).toBe(401)
  })

  it('A session ends when it has not been used for two hours', async () => {
    await logInWorld.world.clock.advance(2 * HOUR_MS - 1)
    expect(await status()).toBe(200)
    await logInWorld.world.clock.advance(2 * HOUR_MS - 1)
    expect(await status()).toBe(200)
    await logInWorld.world.clock.advance(2 * HOUR_MS + 1000)
    expect(await status()).toBe(401)
  })

  it('Ended sessions are deleted from the store', async () => {
    await logInWorld.world.clock.advance(HOUR_MS)
    await logInWorld.logIn('ada@acme.test')
    await logInWorld.world.clock.advance(HOUR_MS + 1000)
    await logInWorld.world.runJob('forget ended log-in sessions')
    expect((await logInWorld.world.storage.list('loginSession', {})).total).toBe(1)
    await logInWorld.world.clock.advance(12 * HOUR_MS)
    await logInWorld.world.runJob('forget ended log-in sessions')
    expect((await logInWorld.world.storage.list('loginSession', {})).total).toBe(0)
  })

  it('A log-out ends the session and deletes the cookie', async () => {
    const ada = logInWorld.as(session)
    const answer = await ada.send('POST', '/auth/logout')
    expect(answer).toMatchObject({ status: 200, data: null })
    expect(answer.cookies).toEqual([
      expect.stringMatching(/^ff_session=; Path=\/; Max-Age=0; HttpOnly/),
    ])
    expect(await status()).toBe(401)
  })

  it('A new log-in ends the previous session and ignores a planted session cookie', async () => {
    const again = await logInWorld.logIn('ada@acme.test', PASSWORD, { cookie: cookieIn(session) })
    expect(cookieIn(again)).not.toBe(cookieIn(session))
    expect([await status(), await status(again)]).toEqual([401, 200])
    const planted = `ff_session=ffs_${'0'.repeat(64)}`
    const fresh = await logInWorld.logIn('ada@acme.test', PASSWORD, { cookie: planted })
    expect(cookieIn(fresh)).not.toBe(planted)
    const withPlanted = await logInWorld.world.call('GET', '/auth/me', {
      headers: { cookie: planted },
    })
    expect(withPlanted.status).toBe(401)
  })

  it('A session ends permanently when its user loses the last membership', async () => {
    const me = await logInWorld.as(session).get('/auth/me')
    const member = `/organizations/${logInWorld.tenant.orgId}/members/${me.data.user.id}`
    expect((await logInWorld.manage('DELETE', member)).status).toBe(200)
    expect(await status()).toBe(401)
    await logInWorld.add('ada@acme.test', 'admin')
    expect(await status()).toBe(401)
  })

  it('A session ends when the only organization of its user is deleted', async () => {
    await logInWorld.manage('DELETE', `/organizations/${logInWorld.tenant.orgId}`)
    expect(await status()).toBe(401)
    expect((await logInWorld.world.storage.list('loginSession', {})).total).toBe(0)
  })

  it('A request with an access token has no session, and /auth/me returns the actor of the token', async () => {
    const token = logInWorld.tenant.tokens.editor
    const answer = await logInWorld.world.call('GET', '/auth/me', { token })
    expect(answer.data).toEqual({
      user: {
        id: expect.any(String),
        email: '',
        name: 'Acme editor',
        role: 'editor',
        org_id: logInWorld.tenant.orgId,
      },
      memberships: [],
      csrf_token: null,
      expires_at: null,
    })
    expect((await logInWorld.world.call('POST', '/auth/logout', { token })).status).toBe(200)
    expect((await logInWorld.world.call('GET', '/auth/me', { token })).status).toBe(200)
  })
})

describe('the administrator', () => {
  const administrator = { email: 'Root@Acme.Test', password: 'a password for the root' }

  it('The administrator logs in with the configured password and has the role platform', async () => {
    logInWorld = await LogInWorld.create({ administrator })
    const answer = await logInWorld.logIn('root@acme.test', administrator.password)
    expect(answer.data).toMatchObject({
      user: { role: 'platform', org_id: null },
      memberships: [],
    })
    const root = logInWorld.as(answer)
    const created = await root.send('POST', '/organizations', { name: 'Globex' })
    expect(created.status).toBe(201)
    expect((await root.get('/organizations', { 'x-ff-organization': 'x' })).status).toBe(200)
  })

  it('A new password of the administrator applies after a restart and ends open sessions', async () => {
    logInWorld = await LogInWorld.create({ administrator })
    const before = logInWorld.as(await logInWorld.logIn('root@acme.test', administrator.password))
    await logInWorld.restart({ administrator })
    expect((await before.get('/auth/me')).status).toBe(200)
    const password = 'another password for the root'
    await logInWorld.restart({ administrator: { ...administrator, password } })
    expect((await before.get('/auth/me')).status).toBe(401)
    expect((await logInWorld.logIn('root@acme.test', administrator.password)).status).toBe(401)
    expect((await logInWorld.logIn('root@acme.test', password)).status).toBe(200)
    const changes = await logInWorld.audit('user.password_changed')
    expect(changes.map(({ payload }: Json) => payload.after)).toEqual(
      Array(2).fill({ email: 'root@acme.test', by: 'operator' }),
    )
  })

  it('A new administrator replaces the previous one', async () => {
    logInWorld = await LogInWorld.create({ administrator })
    const before = logInWorld.as(await logInWorld.logIn('root@acme.test', administrator.password))
    await logInWorld.restart({ administrator: { ...administrator, email: 'next@acme.test' } })
    expect((await before.get('/auth/me')).status).toBe(401)
    expect((await logInWorld.logIn('root@acme.test', administrator.password)).status).toBe(401)
    expect((await logInWorld.logIn('next@acme.test', administrator.password)).status).toBe(200)
  })

  it('A member with the address of the administrator cannot act as the administrator', async () => {
    const link = await logInWorld.invite('root@acme.test', 'viewer')
    await logInWorld.change({ token: link, new_password: PASSWORD })
    const mallory = logInWorld.as(await logInWorld.logIn('root@acme.test'))
    await logInWorld.restart({ administrator })
    expect((await mallory.get('/auth/me')).status).toBe(401)
    expect((await logInWorld.logIn('root@acme.test')).status).toBe(401)
    const later = await logInWorld.invite('ceo@acme.test', 'viewer')
    await logInWorld.restart({ administrator: { ...administrator, email: 'ceo@acme.test' } })
    expect((await logInWorld.change({ token: later, new_password: PASSWORD })).status).toBe(409)
  })

  it.each([
    [{ email: 'nobody', password: 'a password for the root' }, 'administrator.email'],
    [{ email: 'root@acme.test', password: 'short' }, 'administrator.password'],
    [{ email: 'root@acme.test', password: 'ROOT@acme.test' }, 'administrator.password'],
  ])('An administrator %j is refused', async (wrong, field) => {
    await expect(LogInWorld.create({ administrator: wrong })).rejects.toThrow(field)
  })

  it('An administrator requires users', async () => {
    await expect(LogInWorld.create({ administrator, users: false })).rejects.toThrow('users')
  })
})

function bodyFor(path: string, body: Record<string, string>): Json {
  const { email, password, token, old_password } = body
  return path === '/auth/login' ? { email, password } : { token, old_password }
}
