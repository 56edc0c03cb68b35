import { FlagError } from '@ff/core'
import type { Role } from '@ff/protocol/management'
import type { Exchange, LogFields } from '@ff/server/plane'
import { describe, expect, it, vi } from 'vitest'
import type { Actor, IdentifyUser } from '../../src/index.ts'
import { cookieIn, LogInWorld, PASSWORD } from '../world/log-in-world.ts'
import type { ManagedOptions } from '../world/managed-server.ts'
import { type Answer, addressesOf, type Call } from '../world/world.ts'

const UNKNOWN = '99999999-9999-4999-8999-999999999999'
const FLAG = { key: 'theme', type: 'boolean' }

/** A host whose sessions are the roles in the header `x-host-user`. */
class Host {
  readonly seen: Exchange[] = []
  world!: LogInWorld

  static async create(
    options: ManagedOptions = {},
    answer?: (exchange: Exchange, host: Host) => unknown,
  ): Promise<Host> {
    const host = new Host()
    const identifyUser = ((exchange) => {
      host.seen.push(exchange)
      return answer === undefined ? host.#userOf(exchange) : answer(exchange, host)
    }) as IdentifyUser
    host.world = await LogInWorld.create({ users: false, identifyUser, ...options })
    return host
  }

  actor(role: Role, more: object = {}): Actor {
    const orgId = role === 'platform' ? null : this.world.tenant.orgId
    return {
      id: `host-${role}`,
      email: `${role}@host.test`,
      name: `A ${role}`,
      role,
      orgId,
      ...more,
    }
  }

  /** Sends a request with a session of the host. */
  as(role: Role, method: string, address: string, sent: Call = {}): Promise<Answer> {
    const headers = { ...sent.headers, 'x-host-user': role }
    return this.world.world.call(method, address, { ...sent, headers })
  }

  call(method: string, address: string, sent: Call = {}): Promise<Answer> {
    return this.world.world.call(method, address, sent)
  }

  get flags(): string {
    return addressesOf(this.world.tenant).flags
  }

  async #userOf(exchange: Exchange): Promise<Actor | undefined> {
    const role = exchange.header('x-host-user') as Role | undefined
    return role && this.actor(role)
  }
}

describe('A user of the host', () => {
  it('A user of the host has the role that the host returns, and is the actor of the audit entry', async () => {
    const host = await Host.create()
    for (const role of ['viewer', 'editor'] as const) {
      const answer = await host.as(role, 'POST', host.flags, { body: FLAG })
      expect([role, answer.status]).toEqual([role, role === 'editor' ? 201 : 403])
    }
    const { data } = await host.as('viewer', 'GET', '/audit/logs?event_type=flag.created')
    expect(data.data[0].actor).toEqual({
      id: 'host-editor',
      email: 'editor@host.test',
      name: 'A editor',
      role: 'editor',
    })
  })

  it('GET /auth/me returns a user of the host without a CSRF token, also if users is false', async () => {
    const expected = {
      user: {
        id: 'host-admin',
        email: 'admin@host.test',
        name: 'A admin',
        role: 'admin',
        org_id: expect.any(String),
      },
      memberships: [],
      csrf_token: null,
      expires_at: null,
    }
    for (const users of [{ users: false }, { users: undefined }] as const) {
      const host = await Host.create(users as ManagedOptions)
      const answer = await host.as('admin', 'GET', '/auth/me')
      expect(answer).toMatchObject({ status: 200, cookies: [] })
      expect(answer.data).toEqual(expected)
    }
  })

  it('If users is false, the other paths below /auth do not exist for users of the host', async () => {
    const host = await Host.create()
    const bodies = {
      '/auth/login': { email: 'a@b.test', password: 'x' },
      '/auth/password': { old_password: 'x', new_password: PASSWORD },
      '/auth/logout': undefined,
    }
    for (const [path, body] of Object.entries(bodies)) {
      expect([path, (await host.as('owner', 'POST', path, { body })).status]).toEqual([path, 404])
    }
    const token = host.world.tenant.tokens.viewer
    const me = await host.call('GET', '/auth/me', { token })
    expect(me.data).toMatchObject({ user: { role: 'viewer', email: '' }, csrf_token: null })
  })

  it('A request without a session of the host is refused with 401', async () => {
    for (const nobody of [undefined, null]) {
      const host = await Host.create({}, () => nobody)
      for (const [method, path] of [
        ['GET', '/auth/me'],
        ['GET', host.flags],
        ['POST', host.flags],
      ] as const) {
        const answer = await host.call(method, path, method === 'POST' ? { body: FLAG } : {})
        expect([path, answer.status]).toEqual([path, 401])
        expect(answer.message).toMatch(/^Log in to the application first, or send "Authorization/)
      }
    }
  })

  it('A user of the host has access to its own organization only', async () => {
    const host = await Host.create()
    const other = await host.world.world.addTenant('Globex')
    const theirs = addressesOf(other).flags
    expect((await host.as('owner', 'GET', theirs)).status).toBe(404)
    expect((await host.as('platform', 'GET', theirs)).status).toBe(200)
    const me = async (role: Role, orgId: string) =>
      host.as(role, 'GET', '/auth/me', { headers: { 'x-ff-organization': orgId } })
    expect((await me('editor', host.world.tenant.orgId.toUpperCase())).status).toBe(200)
    for (const orgId of [other.orgId, UNKNOWN, 'x', '', '__proto__']) {
      expect([orgId, (await me('editor', orgId)).status]).toEqual([orgId, 404])
    }
    const byKey = (headers: Call['headers'] = {}) =>
      host.as('platform', 'GET', '/projects/shop/flags', { headers })
    expect((await byKey()).status).toBe(400)
    expect((await byKey({ 'x-ff-organization': other.orgId })).status).toBe(200)
  })

  it('A user of the host whose organization does not exist or was deleted has no access', async () => {
    let orgId = UNKNOWN
    const host = await Host.create({}, (_, { actor }) => actor.call(host, 'owner', { orgId }))
    const statuses = async () => {
      const paths = ['/auth/me', '/audit/logs', '/plan-limits/plans', '/organizations']
      return Promise.all(paths.map(async (path) => (await host.call('GET', path)).status))
    }
    expect(await statuses()).toEqual([404, 404, 404, 404])
    orgId = host.world.tenant.orgId
    expect(await statuses()).toEqual([200, 200, 200, 200])
    expect((await host.call('DELETE', `/organizations/${orgId}`)).status).toBe(200)
    expect(await statuses()).toEqual([404, 404, 404, 404])
  })

  it('The rate limit counts each user of the host separately', async () => {
    const host = await Host.create({ managementRateLimit: 2 })
    const status = async (role: Role) => (await host.as(role, 'GET', host.flags)).status
    expect([await status('viewer'), await status('viewer')]).toEqual([200, 200])
    expect(await status('viewer')).toBe(429)
    expect(await status('editor')).toBe(200)
  })
})

describe('The order of credentials', () => {
  it('A request with a bearer token is identified by the token, also if the token is wrong', async () => {
    const host = await Host.create()
    const { viewer } = host.world.tenant.tokens
    const me = await host.as('owner', 'GET', '/auth/me', { token: viewer })
    expect(me.data.user).toMatchObject({ role: 'viewer', email: '' })
    const created = await host.as('owner', 'POST', host.flags, { token: viewer, body: FLAG })
    expect(created.status).toBe(403)
    for (const authorization of ['Bearer ffat_none', 'bearer', 'BEARER  x y']) {
      const headers = { authorization }
      expect((await host.as('owner', 'GET', host.flags, { headers })).status).toBe(401)
    }
    expect(host.seen).toEqual([])
  })

  it('A request with an Authorization header of another scheme is identified by the host', async () => {
    const host = await Host.create()
    const headers = { authorization: 'Basic YTpi' }
    expect((await host.as('viewer', 'GET', host.flags, { headers })).status).toBe(200)
    expect((await host.call('GET', host.flags, { headers })).status).toBe(401)
  })

  it('A log-in session of the server takes precedence over a session of the host, and keeps all its checks', async () => {
    const host = await Host.create({ users: undefined } as never)
    await host.world.add('ada@acme.test', 'editor')
    const session = await host.world.logIn('ada@acme.test')
    const csrf = { 'x-csrf-token': session.data.csrf_token }
    const own = { cookie: cookieIn(session), host: 'flags.acme.test' }
    const me = await host.as('owner', 'GET', '/auth/me', { headers: own })
    expect(me.data).toMatchObject({ user: { email: 'ada@acme.test' }, ...session.data })
    const change = async (headers: Call['headers'] = {}) =>
      (await host.as('owner', 'POST', host.flags, { headers: { ...own, ...headers }, body: FLAG }))
        .status
    expect(await change()).toBe(403)
    expect(await change({ 'x-csrf-token': 'x' })).toBe(403)
    expect(await change({ ...csrf, origin: 'https://evil.test' })).toBe(403)
    expect(host.seen).toEqual([])
    expect(await change({ ...csrf, origin: 'https://flags.acme.test' })).toBe(201)
  })
})

describe('Forged requests', () => {
  it('The server checks neither the origin nor a CSRF token of a request that the host identifies', async () => {
    const host = await Host.create()
    const headers = { host: '10.0.0.7:3000', origin: 'https://app.host.test' }
    expect((await host.as('editor', 'POST', host.flags, { headers, body: FLAG })).status).toBe(201)
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    const sent = { headers: form, body: JSON.stringify({ ...FLAG, key: 'other' }) }
    expect((await host.as('editor', 'POST', host.flags, sent)).status).toBe(415)
  })

  it('The server checks the origin of requests that need no credentials, also with identifyUser', async () => {
    const host = await Host.create({ users: undefined } as never)
    await host.world.add('ada@acme.test', 'editor')
    const headers = { host: 'flags.acme.test', origin: 'https://evil.test' }
    expect((await host.world.logIn('ada@acme.test', PASSWORD, headers)).status).toBe(403)
  })
})

describe('A failing identifyUser', () => {
  const logged = () => {
    const lines: [string, LogFields | undefined][] = []
    const error = (message: string, fields?: LogFields) => void lines.push([message, fields])
    const ignore = () => undefined
    return { lines, logger: { debug: ignore, info: ignore, warn: ignore, error } }
  }

  const causeOf = (lines: ReturnType<typeof logged>['lines']) => lines[0]?.[1]?.['cause']

  const valid = { id: 'u-1', email: '', name: 'U', role: 'owner', orgId: UNKNOWN }

  it.each([
    ['id: ', { ...valid, id: undefined }],
    ['id: ', { ...valid, id: '' }],
    ['id: ', { ...valid, id: 7 }],
    ['id: ', { ...valid, id: 'x'.repeat(257) }],
    ['id: ', { ...valid, id: 'two\nlines' }],
    ['email: ', { ...valid, email: undefined }],
    ['name: ', { ...valid, name: 'nul\0' }],
    ['name: ', { ...valid, name: '\ud800' }],
    ['role: ', { ...valid, role: 'root' }],
    ['role: ', { ...valid, role: undefined }],
    ['role: ', { ...valid, role: ['owner'] }],
    ['role: ', { ...valid, role: '__proto__' }],
    ['orgId: ', { ...valid, orgId: undefined }],
    ['orgId: ', { ...valid, orgId: 'acme' }],
    ['orgId: ', { ...valid, orgId: null }],
    ['orgId: ', { ...valid, role: 'platform' }],
    ['the result: ', true],
    ['the result: ', 'owner'],
    ['the result: ', []],
  ])(
    'An actor with a wrong %s%j is refused with 500, and the log names the field',
    async (field, wrong) => {
      const { lines, logger } = logged()
      const host = await Host.create({ logger }, () => wrong)
      const answer = await host.call('POST', host.flags, { body: FLAG })
      expect(answer).toMatchObject({
        status: 500,
        message: 'The host application failed to identify the user.',
        data: null,
      })
      expect((await host.world.world.storage.list('flag', {})).total).toBe(0)
      expect(lines).toHaveLength(1)
      expect(causeOf(lines)).toMatchObject({
        cause: {
          message: expect.stringContaining(`must return an actor or undefined: ${field}`),
        },
      })
    },
  )

  it('Only the fields of an actor are used, and not those that the server itself sets', async () => {
    const more = { source: 'token', keyOrgId: UNKNOWN, passwordHash: 'secret', memberships: [] }
    const host = await Host.create({}, () => host.actor('viewer', more))
    const { data, text } = await host.call('GET', '/auth/me')
    expect(Object.keys(data.user).sort()).toEqual(['email', 'id', 'name', 'org_id', 'role'])
    expect(text).not.toContain('secret')
    expect((await host.call('GET', '/projects/shop/flags')).status).toBe(200)
    const { message } = await host.call('POST', host.flags, { body: FLAG })
    expect(message).toBe('Requires role editor or higher; this actor is viewer.')
  })

  it.each([
    [500, new Error('the session store is down: redis://:password@10.0.0.3')],
    [500, new FlagError('FORBIDDEN', 'not here')],
    [500, 'text'],
    [500, undefined],
    [503, new FlagError('UNAVAILABLE', 'The session store does not respond.')],
  ])(
    'A request is refused with %s if identifyUser throws %s, and the log contains the cause',
    async (status, thrown) => {
      for (const fail of [
        () => {
          throw thrown
        },
        () => Promise.reject(thrown),
      ]) {
        const { lines, logger } = logged()
        const host = await Host.create({ logger }, fail)
        const answer = await host.as('owner', 'POST', host.flags, { body: FLAG })
        expect(answer.status).toBe(status)
        expect(answer.text).not.toMatch(/redis|not here/)
        expect(lines).toHaveLength(1)
        const logged_ = lines[0]?.[1]?.['cause'] as Error
        expect(status === 503 ? logged_ : logged_.cause).toBe(thrown)
        expect((await host.world.world.storage.list('flag', {})).total).toBe(0)
      }
    },
  )

  it('A slow identifyUser delays only its own request', async () => {
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const host = await Host.create({}, async (exchange) => {
      const role = exchange.header('x-host-user') as Role
      if (role === 'owner') await released
      return host.actor(role)
    })
    const settled = vi.fn()
    const slow = host.as('owner', 'GET', host.flags).finally(settled)
    expect((await host.as('editor', 'POST', host.flags, { body: FLAG })).status).toBe(201)
    const token = host.world.tenant.tokens.editor
    const other = { token, body: { ...FLAG, key: 'other' } }
    expect((await host.call('POST', host.flags, other)).status).toBe(201)
    expect(settled).not.toHaveBeenCalled()
    release()
    expect((await slow).status).toBe(200)
  })
})
