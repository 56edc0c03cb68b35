import { beforeEach, describe, expect, it } from 'vitest'
import { call } from '../../../server/test/call.ts'
import { type Browser, cookieIn, LogInWorld, PASSWORD } from '../world/log-in-world.ts'
import { createManagedServer } from '../world/managed-server.ts'
import type { Answer } from '../world/world.ts'

let logInWorld: LogInWorld
let session: Answer
let ada: Browser
let flags: string

beforeEach(async () => {
  logInWorld = await LogInWorld.create()
  await logInWorld.add('ada@acme.test', 'editor')
  session = await logInWorld.logIn('ada@acme.test')
  ada = logInWorld.as(session)
  flags = `/projects/${logInWorld.tenant.project.id}/flags`
})

const body = { key: 'forged', type: 'boolean' }
const forge = async (headers: Record<string, string>, sent: unknown = body, method = 'POST') =>
  logInWorld.world.call(method, flags, {
    body: sent,
    headers: { cookie: cookieIn(session), ...headers },
  })
const expectNoFlags = async () =>
  expect((await logInWorld.world.storage.list('flag', {})).total).toBe(0)

describe('Changes with a session cookie', () => {
  it('A change with a session cookie is refused without the X-CSRF-Token of the session', async () => {
    await logInWorld.add('eve@acme.test', 'editor')
    const eve = await logInWorld.logIn('eve@acme.test')
    const own: string = session.data.csrf_token
    for (const token of [
      undefined,
      '',
      'x',
      eve.data.csrf_token,
      own.slice(1),
      `${own} `,
      own.toUpperCase(),
      cookieIn(session).slice('ff_session='.length),
    ]) {
      const answer = await forge(token === undefined ? {} : { 'x-csrf-token': token })
      expect([token, answer.status]).toEqual([token, 403])
    }
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      expect((await forge({}, undefined, method)).status).toBe(403)
    }
    await expectNoFlags()
    expect((await forge({ 'x-csrf-token': own })).status).toBe(201)
  })

  it('A change with a session cookie is refused if a page of another origin sends it', async () => {
    const csrf = { 'x-csrf-token': session.data.csrf_token, host: 'flags.acme.test:4400' }
    for (const origin of [
      'https://evil.test',
      'null',
      'https://flags.acme.test',
      'https://flags.acme.test:4400.evil.test',
      'https://flags.acme.test:4400/',
      'https://evil.test@flags.acme.test:4400',
      'ftp://flags.acme.test:4400',
      'flags.acme.test:4400',
      '',
    ]) {
      const answer = await forge({ ...csrf, origin })
      expect([origin, answer.status]).toEqual([origin, 403])
      expect(Object.keys(answer.headers).filter((name) => /access-control/i.test(name))).toEqual([])
    }
    const believed = { ...csrf, origin: 'https://evil.test', 'x-forwarded-host': 'evil.test' }
    expect((await forge(believed)).status).toBe(403)
    await expectNoFlags()
    expect((await forge({ ...csrf, origin: 'https://flags.acme.test:4400' })).status).toBe(201)
  })

  it('A change with a session cookie is refused as a form, and a GET cannot claim another method', async () => {
    const csrf = { 'x-csrf-token': session.data.csrf_token }
    for (const type of [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
    ]) {
      expect((await forge({ ...csrf, 'content-type': type }, JSON.stringify(body))).status).toBe(
        415,
      )
    }
    for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      const answer = await ada.get(`${flags}`, { [header]: 'POST' })
      expect(answer.data.data).toEqual([])
      const address = `${flags}?_method=DELETE`
      expect((await ada.get(address, { [header]: 'DELETE' })).status).toBe(400)
    }
    await expectNoFlags()
  })

  it('A request with two session cookies is refused, in any order of the cookies', async () => {
    await logInWorld.add('eve@acme.test', 'editor')
    const eve = cookieIn(await logInWorld.logIn('eve@acme.test'))
    const mine = cookieIn(session)
    for (const cookie of [
      `${mine}; ${eve}`,
      `${eve}; ${mine}`,
      `${mine}; ff_session=x`,
      `ff_session=; ${mine}`,
    ]) {
      const answer = await logInWorld.world.call('GET', '/auth/me', { headers: { cookie } })
      expect([cookie, answer.status]).toEqual([cookie, 401])
    }
    for (const cookie of [`theme=dark; ${mine}`, `${mine};a=b`, `xff_session=1; ${mine}`]) {
      const answer = await logInWorld.world.call('GET', '/auth/me', { headers: { cookie } })
      expect([cookie, answer.status]).toEqual([cookie, 200])
    }
  })

  it('A GET request cannot log in, log out or change a password', async () => {
    const before = await logInWorld.world.audit()
    for (const path of ['/auth/logout', '/auth/login', '/auth/password']) {
      expect((await ada.get(path)).status).toBe(405)
    }
    expect((await ada.get('/auth/me')).status).toBe(200)
    expect(await logInWorld.world.audit()).toEqual(before)
  })
})

describe('Logging in and out', () => {
  const origin = { host: 'flags.acme.test', origin: 'https://evil.test' }

  it('A page of another origin cannot log in, log out or change a password, with any content type', async () => {
    const types = ['application/json', '', 'text/plain']
    for (const type of types) {
      const headers = { ...origin, 'content-type': type }
      expect((await logInWorld.logIn('ada@acme.test', PASSWORD, headers)).status).toBe(403)
      const body = { token: 'x', new_password: PASSWORD }
      expect((await logInWorld.change(body, { headers })).status).toBe(403)
    }
    expect((await ada.send('POST', '/auth/logout', undefined, origin)).status).toBe(403)
    const withoutToken = { 'x-csrf-token': '' }
    expect((await ada.send('POST', '/auth/logout', undefined, withoutToken)).status).toBe(403)
    expect((await ada.get('/auth/me')).status).toBe(200)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await logInWorld.logIn('ada@acme.test', PASSWORD, form)).status).toBe(415)
  })
})

describe('A session cookie', () => {
  it('A session cookie is ignored if the request has other credentials', async () => {
    const cookie = cookieIn(session)
    const asViewer = { token: logInWorld.tenant.tokens.viewer, headers: { cookie } }
    expect((await logInWorld.world.call('POST', flags, { ...asViewer, body })).status).toBe(403)
    const { data } = await logInWorld.world.call('GET', '/auth/me', asViewer)
    expect(data).toMatchObject({ user: { role: 'viewer', email: '' }, csrf_token: null })
    const bad = { token: 'ffat_none', headers: { cookie } }
    expect((await logInWorld.world.call('GET', flags, bad)).status).toBe(401)
    const basic = { cookie, authorization: 'Basic YTpi' }
    expect((await logInWorld.world.call('GET', flags, { headers: basic })).status).toBe(401)
  })

  it('A session cookie does not authorize evaluations', async () => {
    const { storage, clock, management } = logInWorld.world
    const server = createManagedServer({ storage, clock })
    const headers = { cookie: cookieIn(session), 'x-csrf-token': session.data.csrf_token }
    const context = { context: {} }
    const evaluations = ['/evaluator/evaluate', '/evaluator/poll', '/ofrep/v1/evaluate/flags']
    for (const path of [...evaluations, '/evaluator/flag-set', '/ofrep/v1/events']) {
      const { status } = await call(server, path, { headers, body: context })
      expect([path, status]).toEqual([path, expect.toBeOneOf([401, 404, 405])])
    }
    const params = {
      projectId: logInWorld.tenant.project.id,
      environmentId: logInWorld.tenant.live.id,
    }
    const { key } = await management.createSdkKey({ params, body: { name: 'k', kind: 'server' } })
    expect((await call(server, '/evaluator/evaluate', { key, body: context })).status).toBe(200)
  })

  it('A session cookie is marked Secure only if the log-in used an encrypted connection', async () => {
    const cookieFor = async (from: { isEncrypted?: boolean; proto?: string }) => {
      const { isEncrypted = false, proto } = from
      const headers = proto === undefined ? {} : { 'x-forwarded-proto': proto }
      const answer = await logInWorld.logIn('ada@acme.test', PASSWORD, headers, { isEncrypted })
      return answer.cookies[0] ?? ''
    }
    expect(await cookieFor({ isEncrypted: true })).toMatch(/; Secure$/)
    expect(await cookieFor({ proto: 'https' })).not.toContain('Secure')
    await logInWorld.restart({ trustProxy: true, basePath: '/flags' })
    expect(await cookieFor({ proto: 'https' })).toMatch(/; Path=\/flags; .*; Secure$/)
    expect(await cookieFor({ proto: 'https, http' })).not.toContain('Secure')
    expect(await cookieFor({ proto: 'http', isEncrypted: true })).not.toContain('Secure')
  })
})
