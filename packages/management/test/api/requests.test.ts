import { memory, type Storage } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Answer, addressesOf, type Json, type Tenant, World } from '../world/world.ts'

describe('Management requests', () => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let token: string
  let flag: Json

  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
    token = tenant.tokens.editor
    const body = { key: 'secret-flag', type: 'boolean' }
    flag = (await world.call('POST', at.flags, { token, body })).data
  })

  describe('Requests with an invalid body', () => {
    const name = (value: Json) => ({ key: 'x', type: 'boolean', name: value })
    const nested = (depth: number) => {
      const value = '['.repeat(depth) + ']'.repeat(depth)
      return `{"key":"x","type":"boolean","name":${value}}`
    }
    const cases: [string, Json, string][] = [
      ['malformed JSON', '{"key":', ''],
      ['a list', [], ''],
      ['null', null, ''],
      ['text', '"x"', ''],
      ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), ''],
      ['an empty body', '', ''],
      ['no fields', {}, 'key'],
      ['a number for a key', { key: 5, type: 'boolean' }, 'key'],
      ['an empty key', { key: '', type: 'boolean' }, 'key'],
      ['a key with a space', { key: 'a b', type: 'boolean' }, 'key'],
      ['a key that is too long', { key: 'k'.repeat(129), type: 'boolean' }, 'key'],
      ['a key with a line end', { key: 'a\n', type: 'boolean' }, 'key'],
      ['a prototype name for a key', { key: '__proto__', type: 'boolean' }, 'key'],
      ['an unknown type', { key: 'x', type: 'date' }, 'type'],
      ['an unknown field', { key: 'x', type: 'boolean', colour: 'red' }, 'colour'],
      ['an id', { key: 'x', type: 'boolean', id: crypto.randomUUID() }, 'id'],
      ['a prototype', '{"key":"x","type":"boolean","__proto__":{"a":1}}', '__proto__'],
      ['a constructor', { key: 'x', type: 'boolean', constructor: {} }, 'constructor'],
      [
        'a prototype deep inside',
        '{"key":"x","type":"boolean","variations":[{"key":"a","value":"true","__proto__":1}]}',
        '__proto__',
      ],
      ['a name that is too long', name('n'.repeat(257)), 'name'],
      ['an empty name', name('  '), 'name'],
      ['a name with NUL', name('a\0b'), 'name'],
      ['a name of two lines', name('a\r\nBcc: x'), 'name'],
      ['half a character', '{"key":"x","type":"boolean","description":"\\ud800"}', 'description'],
      ['NUL in a description', { key: 'x', type: 'boolean', description: 'a\0' }, 'description'],
      ['tags that are no list', { key: 'x', type: 'boolean', tags: 'a' }, 'tags'],
      ['an empty tag', { key: 'x', type: 'boolean', tags: ['a', ''] }, 'tags.1'],
      ['a body too deep', nested(100), ''],
      ['a body far too deep', nested(50_000), ''],
    ]

    it.each(cases)(
      'A body with this fault is refused and changes nothing: %s',
      async (_what, body, path) => {
        const before = await world.audit()
        const answer = await world.call('POST', at.flags, { token, body })
        expect(answer.status).toBe(400)
        const issue = answer.data?.issues?.[0]
        if (issue !== undefined) expect(issue.path).toBe(path)
        else expect(path).toBe('')
        expect(answer.text.length).toBeLessThan(2000)
        expect(await world.audit()).toEqual(before)
        expect(await world.evaluate(tenant.live)).toEqual({ 'secret-flag': false })
      },
    )

    it('A body with a thousand unknown fields is refused with a limited number of issues', async () => {
      const body = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`field${n}`, n]))
      const answer = await world.call('POST', at.flags, { token, body })
      expect(answer.status).toBe(400)
      expect(answer.data.issues.length).toBeLessThanOrEqual(20)
    })

    it('A field name of 200,000 letters is refused and not repeated in the response', async () => {
      const answer = await world.call('POST', at.flags, {
        token,
        body: { ['x'.repeat(200_000)]: 1 },
      })
      expect(answer.status).toBe(400)
      expect(answer.text.length).toBeLessThan(2000)
    })
  })

  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=x',
    'page=',
    'page=1e3',
    'page=99999999999',
    'page= 1',
    'page=0x10',
    'page=1&page=2',
    'limit=0',
    'limit=101',
    'limit=NaN',
    'limit=1&limit=1',
    'archived=yes',
    'archived=',
    'search=',
    'colour=red',
    'page[]=1',
    '__proto__=1',
    'search=%00',
    `search=${'x'.repeat(12_000)}`,
  ])('A request with the query %s is refused', async (query) => {
    const answer = await world.call('GET', `${at.flags}?${query}`, { token })
    expect(answer.status).toBe(400)
    expect(query.startsWith(answer.data.issues[0].path)).toBe(true)
    expect(answer.text.length).toBeLessThan(2000)
  })

  it('The largest page number returns an empty page', async () => {
    const answer = await world.call('GET', `${at.flags}?page=1000000000&limit=100`, { token })
    expect(answer).toMatchObject({ status: 200, data: { data: [], meta: { total: 1 } } })
  })

  it('A request body must be JSON', async () => {
    const body = '{"key":"x","type":"boolean"}'
    const refused = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
    ]
    for (const type of refused) {
      const answer = await world.call('POST', at.flags, {
        token,
        body,
        headers: { 'content-type': type },
      })
      expect([type, answer.status]).toEqual([type, 415])
    }
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await world.call('POST', at.flags, { token, body, headers })).status).toBe(201)
  })

  it('POST and PUT require a body', async () => {
    expect((await world.call('POST', at.flags, { token })).status).toBe(400)
    expect((await world.call('PUT', at.flag(flag.id), { token })).status).toBe(400)
    expect((await world.call('PUT', at.flag(flag.id), { token, body: {} })).status).toBe(200)
  })

  it('An unsupported method returns 405 with the methods of the path', async () => {
    for (const method of ['PATCH', 'POST', 'OPTIONS', 'TRACE', 'get']) {
      const headers = { 'x-http-method-override': 'DELETE' }
      const answer = await world.call(method, at.flag(flag.id), { token, headers })
      expect([answer.status, answer.headers['Allow']]).toEqual([405, 'GET, HEAD, PUT, DELETE'])
    }
    expect((await world.call('PATCH', '/health')).headers['Allow']).toBe('GET, HEAD')
    expect((await world.call('PATCH', at.flag(flag.id))).status).toBe(401)
    const reorder = await world.call('DELETE', `${at.variations(flag.id)}/reorder`, { token })
    expect([reorder.status, reorder.headers['Allow']]).toEqual([405, 'PUT'])
  })

  it('HEAD returns the same status and headers as GET', async () => {
    for (const path of ['/health', '/ready', at.flags, at.flag(flag.id), '/audit/export']) {
      const got = await world.call('GET', path, { token })
      const head = await world.call('HEAD', path, { token })
      // Both requests count for the rate limit.
      const headersOf = ({ headers }: Answer) => ({ ...headers, 'X-RateLimit-Remaining': '' })
      expect([path, head.status, headersOf(head)]).toEqual([path, 200, headersOf(got)])
    }
    const refused = await world.call('HEAD', at.flags)
    expect(refused.status).toBe(401)
  })

  it('Responses have no cross-origin headers and are not cached', async () => {
    const headers = { origin: 'https://evil.test' }
    for (const answer of [
      await world.call('GET', at.flags, { token, headers }),
      await world.call('GET', at.flags, { headers }),
      await world.call('OPTIONS', at.flags, { token, headers }),
      await world.call('GET', '/nowhere', { headers }),
    ]) {
      const names = Object.keys(answer.headers).join().toLowerCase()
      expect(names).not.toContain('access-control')
      expect(answer.headers['Cache-Control']).toBe('no-store')
      expect(answer.headers['Content-Type']).toContain('application/json')
    }
  })

  it('Paths that resemble an endpoint never return data', async () => {
    const id = tenant.project.id
    const tricks = [
      `//projects/${id}/flags`,
      `/projects//${id}/flags`,
      `/projects/${id}/flags/`,
      `/projects/${id}//flags`,
      `/Projects/${id}/flags`,
      `/projects/${id}/FLAGS`,
      `/projects/${id}/flags%2F`,
      `/projects%2F${id}/flags`,
      `/./projects/${id}/flags`,
      `/health/../projects/${id}/flags`,
      `/health/%2e%2e/projects/${id}/flags`,
      `/projects/${id}/flags;x=1`,
      `/projects/${id}/flags.json`,
      `/projects/${id}/flags%00`,
      `/projects/${id}/fl%61gs`,
      `\\projects\\${id}\\flags`,
      `/projects/${id}/flags/../flags`,
      `/api/projects/${id}/flags`,
      '/projects',
      '/',
      `/projects/${id}/flags#x`,
      `/projects/${id}/flags\t`,
      '/__proto__',
      '/constructor',
      '',
    ]
    for (const path of tricks) {
      for (const given of [undefined, token]) {
        const answer = await world.call('GET', path, { token: given })
        expect([path, answer.status]).toEqual([path, 404])
        expect(answer.text).not.toContain('secret-flag')
      }
    }
    const encoded = `/projects/%${id.charCodeAt(0).toString(16)}${id.slice(1)}/flags`
    expect((await world.call('GET', encoded, { token })).status).toBe(400)
    expect((await world.call('GET', encoded)).status).toBe(401)
    const upper = await world.call('GET', `/projects/${id.toUpperCase()}/flags`, { token })
    expect(upper.status).toBe(200)
  })

  it('A bearer token is accepted in the Authorization header only', async () => {
    const attempts: Record<string, string>[] = [
      { authorization: token },
      { authorization: `Basic ${token}` },
      { authorization: `Bearer ${token} x` },
      { authorization: `Bearer ${token}, Bearer ${token}` },
      { authorization: `Bearer ${token.slice(0, -1)}` },
      { authorization: `Bearer ${token.toUpperCase()}` },
      { authorization: 'Bearer ' },
      { authorization: `Bearer ${'x'.repeat(100_000)}` },
      { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJyb2xlIjoib3duZXIifQ.' },
      { cookie: `token=${token}` },
      { 'x-api-key': token },
      { 'x-forwarded-user': 'admin', 'x-forwarded-for': '127.0.0.1' },
    ]
    for (const headers of attempts) {
      const answer = await world.call('GET', at.flags, { headers })
      expect([headers, answer.status]).toEqual([headers, 401])
    }
    expect((await world.call('GET', `${at.flags}?access_token=${token}`)).status).toBe(401)
    const headers = { authorization: `bearer ${token}` }
    expect((await world.call('GET', at.flags, { headers })).status).toBe(200)
  })

  it('A request with an expired token is refused', async () => {
    const expiresAt = new Date(world.clock.now() + 1000).toISOString()
    const params = { orgId: tenant.orgId }
    const body = { name: 'brief', role: 'viewer' as const, expiresAt }
    const brief = await world.management.createAccessToken({ params, body })
    expect((await world.call('GET', at.flags, { token: brief.token })).status).toBe(200)
    await world.clock.advance(1000)
    expect((await world.call('GET', at.flags, { token: brief.token })).status).toBe(401)
  })

  it('A request can name the expected revision with If-Match', async () => {
    const address = at.flag(flag.id)
    const first = await world.call('GET', address, { token })
    const tag = first.headers['ETag'] ?? ''
    expect(tag).toBe('"1"')
    const put = (ifMatch: string, name: string) =>
      world.call('PUT', address, { token, body: { name }, headers: { 'if-match': ifMatch } })
    expect(await put(tag, 'mine')).toMatchObject({ status: 200, headers: { ETag: '"2"' } })
    const late = await put(tag, 'theirs')
    expect(late).toMatchObject({ status: 409, data: { id: flag.id, name: 'mine', revision: 2 } })
    expect((await put('W/"2"', 'weak')).status).toBe(200)
    expect((await put('"3-gzip"', 'compressed')).status).toBe(200)
    expect((await put('"3;br"', 'late')).status).toBe(409)
    expect((await put('*', 'any')).status).toBe(200)
    for (const malformed of ['3', '"x"', '"3x"', '"3.5"', '"1", "2"', '""', 'true']) {
      expect((await put(malformed, 'malformed')).status).toBe(400)
    }
    const headers = { 'if-match': '"1"' }
    expect((await world.call('DELETE', address, { token, headers })).status).toBe(409)
    const state = await world.call('PUT', at.live(flag.id), {
      token,
      headers,
      body: { is_active: false },
    })
    expect(state).toMatchObject({ status: 200, headers: { ETag: '"2"' } })
  })

  it('The health endpoints need no token and return only the state of the server', async () => {
    const health = await world.call('GET', '/health')
    expect(health).toMatchObject({ status: 200, message: 'OK', data: { status: 'ok' } })
    expect((await world.call('GET', '/ready')).data).toEqual({ status: 'ready' })
    await world.storage.close()
    expect((await world.call('GET', '/health')).status).toBe(200)
  })

  it('A request fails with 503 if the store is unavailable, and with 500 without details if the store throws another error', async () => {
    await world.storage.close()
    expect((await world.call('GET', at.flags, { token })).status).toBe(503)
    const { storage } = memory()
    const broken: Storage = Object.create(storage, {
      list: { value: () => Promise.reject(new Error('SELECT secret FROM table')) },
      migrate: { value: async () => undefined },
    })
    const answer = await (await World.create(broken)).call('GET', at.flags, { token })
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('SELECT')
  })
})
