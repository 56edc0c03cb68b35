import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { Browser, type Page } from './browser.ts'
import { ADMINISTRATOR, type OidcScene, openScene } from './oidc-scene.ts'
import type { Account } from './oidc-server.ts'

const ADA: Account = { sub: 'ada-there', email: 'ada@acme.test', email_verified: true }
const EVE: Account = { sub: 'eve-there', email: 'eve@acme.test', email_verified: true }
const MINUTE_MS = 60_000

let scene: OidcScene
let browser: Browser
/** The URL to which the provider has redirected Ada's browser, not yet requested. */
let callback: URL

beforeEach(async () => {
  scene = await openScene()
  await scene.addMember('ada@acme.test', 'editor')
  await scene.addMember('eve@acme.test', 'owner')
  browser = new Browser()
  callback = await sendAs(ADA, browser)
  return () => scene.close()
})

async function sendAs(account: Account | undefined, by: Browser): Promise<URL> {
  scene.provider.account = account
  return scene.goToProvider(by)
}

const messageOf = ({ text }: Page): string => JSON.parse(text).message
const returnFromProvider = (address: URL | string = callback, by = browser) =>
  by.send('GET', address)

/** Asserts that the log-in is refused, with a message and without a session, cookie or redirect. */
async function expectRefused(page: Page, message: string, by = browser, status = 401) {
  expect([page.status, JSON.parse(page.text).message]).toEqual([status, expect.any(String)])
  expect(messageOf(page)).toContain(message)
  expect(page.headers.get('location')).toBeNull()
  expect(page.headers.get('set-cookie')).toBeNull()
  expect(by.cookies.has('ff_session')).toBe(false)
  expect((await scene.storage.list('loginSession', {})).total).toBe(0)
}

function changed(url: URL, name: string, value: string | undefined): URL {
  const other = new URL(url)
  other.searchParams.delete(name)
  if (value !== undefined) other.searchParams.set(name, value)
  return other
}

/** Changes the cookie that the browser stores during the log-in. */
function changeKept(changes: Record<string, unknown>, by = browser): void {
  const cookie = by.cookies.get('ff_oidc')
  if (cookie === undefined) throw new Error('The browser has no ff_oidc cookie.')
  const kept = { ...JSON.parse(decodeURIComponent(cookie.value)), ...changes }
  by.cookies.set('ff_oidc', { ...cookie, value: encodeURIComponent(JSON.stringify(kept)) })
}

const INVALID_RESPONSE = 'its response is not valid'
const NOT_STARTED = 'was not started by this browser'

describe('the return from the identity provider', () => {
  it('An unaltered response of the provider logs the user in', async () => {
    expect((await returnFromProvider()).status).toBe(302)
  })

  it('A response with an altered parameter is refused', async () => {
    for (const [name, value] of [
      ['state', 'x'],
      ['state', undefined],
      ['state', ''],
      ['code', 'x'],
      ['code', undefined],
      ['iss', 'https://evil.test'],
      ['iss', undefined],
    ] as const) {
      await expectRefused(
        await returnFromProvider(changed(callback, name, value)),
        INVALID_RESPONSE,
      )
    }
  })

  it('An ID token with the nonce of another log-in is refused', async () => {
    changeKept({ nonce: 'another' })
    await expectRefused(await returnFromProvider(), INVALID_RESPONSE)
  })

  it('A response with another code verifier is refused', async () => {
    changeKept({ codeVerifier: 'x'.repeat(43) })
    await expectRefused(await returnFromProvider(), INVALID_RESPONSE)
  })

  it('A response is refused in a browser that did not start the log-in', async () => {
    const eve = new Browser()
    await expectRefused(await returnFromProvider(callback, eve), NOT_STARTED, eve)
    await sendAs(EVE, eve)
    await expectRefused(await returnFromProvider(callback, eve), INVALID_RESPONSE, eve)
    expect((await returnFromProvider()).status).toBe(302)
  })

  it('A code that was stolen from another user is refused', async () => {
    const eve = new Browser()
    const own = await sendAs(EVE, eve)
    const injected = changed(own, 'code', callback.searchParams.get('code') ?? '')
    await expectRefused(await returnFromProvider(injected, eve), INVALID_RESPONSE, eve)
  })

  it('A response can be used only once', async () => {
    expect((await returnFromProvider()).status).toBe(302)
    const again = await returnFromProvider()
    expect([again.status, messageOf(again)]).toEqual([
      401,
      expect.stringContaining(INVALID_RESPONSE),
    ])
    expect(again.headers.get('set-cookie')).toBeNull()
  })

  it('A response is refused ten minutes after the log-in was started', async () => {
    await scene.clock.advance(10 * MINUTE_MS - 1)
    const late = new Browser()
    const lateCallback = await sendAs(ADA, late)
    expect((await returnFromProvider()).status).toBe(302)
    await scene.clock.advance(10 * MINUTE_MS)
    const page = await returnFromProvider(lateCallback, late)
    expect([page.status, messageOf(page)]).toEqual([401, expect.stringContaining(NOT_STARTED)])
  })

  it('A response with two cookies or with a malformed cookie is refused', async () => {
    const { value, path } = browser.cookies.get('ff_oidc') ?? { value: '', path: '' }
    for (const cookie of [
      `ff_oidc=${value}; ff_oidc=${value}`,
      `ff_oidc=; ff_oidc=${value}`,
      'ff_oidc=',
      'ff_oidc=%',
      'ff_oidc=null',
      'ff_oidc=%7B%7D',
      `ff_oidc=${value}x`,
      `ff_oidc=${encodeURIComponent('{"__proto__":{}}')}`,
      `xff_oidc=${value}`,
    ]) {
      const page = await browser.send('GET', callback, { headers: { cookie } })
      await expectRefused(page, NOT_STARTED)
    }
    expect(path).toBe('/flags/auth/oidc/callback')
    expect((await returnFromProvider()).status).toBe(302)
  })

  it('A refusal of the provider is reported with its error code and audited', async () => {
    browser = new Browser()
    const denied = await sendAs(undefined, browser)
    expect(denied.searchParams.get('error')).toBe('access_denied')
    await expectRefused(await returnFromProvider(denied), 'it returned access_denied')
    expect(await scene.audit('user.login_failed')).toMatchObject([
      {
        orgId: '',
        payload: { after: { method: 'oidc', reason: 'refused by the identity provider' } },
      },
    ])
    for (const error of ['<script>alert(1)</script>', 'x'.repeat(129), 'a b', '']) {
      const page = await returnFromProvider(changed(denied, 'error', error))
      await expectRefused(page, 'error: must be an OAuth error code', browser, 400)
    }
    const twice = `${denied.href}&error=login_required`
    await expectRefused(
      await returnFromProvider(twice),
      'error: must not occur more than once',
      browser,
      400,
    )
  })

  it('Unknown parameters of a response are ignored', async () => {
    const more = changed(changed(callback, 'session_state', 'x'), '__proto__', '{"admin":true}')
    expect((await returnFromProvider(more)).status).toBe(302)
  })

  it('A response of the implicit flow is refused', async () => {
    const implicit = changed(changed(callback, 'code', undefined), 'id_token', 'x.y.z')
    await expectRefused(await returnFromProvider(implicit), INVALID_RESPONSE)
  })

  it('Failed responses count towards the limit of log-in attempts, but successful responses do not', async () => {
    const address = changed(callback, 'state', 'x')
    const statuses: number[] = []
    for (let attempt = 0; attempt < 51; attempt += 1)
      statuses.push((await returnFromProvider(address)).status)
    expect(statuses).toEqual([...Array(50).fill(401), 429])
    const refused = await returnFromProvider()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '900'])
    const body = ADMINISTRATOR
    expect((await browser.send('POST', `${scene.base}/auth/login`, { body })).status).toBe(429)
    await scene.clock.advance(15 * MINUTE_MS)
    for (let logIn = 0; logIn < 60; logIn += 1) {
      expect((await returnFromProvider(await sendAs(ADA, browser))).status).toBe(302)
    }
  })
})

describe('return_to', () => {
  const ELSEWHERE = [
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    '/\t/evil.test',
    '/\n/evil.test',
    '\t//evil.test',
    ' /docs',
    'https://evil.test',
    'https:evil.test',
    'javascript:alert(1)',
    'data:text/html,x',
    'evil.test',
    '',
    '.',
    '?x',
    '@evil.test',
    '/docs\r\nSet-Cookie: a=b',
    '/docs\0',
    '/dócs',
    `/${'x'.repeat(512)}`,
  ]

  it.each(ELSEWHERE)('The return path %j is refused', async (place) => {
    const query = `?return_to=${encodeURIComponent(place)}`
    const page = await scene.logIn(new Browser(), query)
    expect([page.status, JSON.parse(page.text).data.issues[0].path]).toEqual([400, 'return_to'])
    changeKept({ returnTo: place })
    await expectRefused(await returnFromProvider(), NOT_STARTED)
  })

  it('A redirect to a return path stays on this server', async () => {
    const { origin } = new URL(scene.base)
    for (const place of [
      '/',
      '/docs?a=//evil.test#x',
      '/%2fevil.test',
      '/%5cevil.test',
      '/.//evil.test',
      '/@evil.test',
      '/:80',
      `/${'"'.repeat(511)}`,
    ]) {
      const own = new Browser()
      scene.provider.account = ADA
      const query = `?return_to=${encodeURIComponent(place)}`
      const back = await own.send('GET', await scene.goToProvider(own, query))
      expect([back.status, back.headers.get('location')]).toEqual([302, place])
      expect(new URL(place, back.url).origin).toBe(origin)
    }
  })

  it('A log-in accepts a single return_to and no other parameter', async () => {
    for (const query of ['?return_to=/a&return_to=/b', '?next=/a', '?__proto__=1']) {
      expect((await scene.logIn(new Browser(), query)).status).toBe(400)
    }
  })

  it('The cookie with the longest return path is below the limit of browsers', async () => {
    await scene.goToProvider(browser, `?return_to=/${encodeURIComponent('"'.repeat(511))}`)
    expect(`ff_oidc=${browser.cookies.get('ff_oidc')?.value}`.length).toBeLessThan(4096)
  })
})

describe('the authorization request', () => {
  it('The redirect URI depends on publicUrl and on no header', async () => {
    const { port } = new URL(scene.base)
    const sent = request({
      port,
      path: '/flags/auth/oidc/start',
      headers: {
        host: 'evil.test',
        origin: 'https://evil.test',
        'x-forwarded-host': 'evil.test',
        'x-forwarded-proto': 'https',
        forwarded: 'host=evil.test',
      },
    }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    const { searchParams } = new URL(response.headers.location ?? '')
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: 'ff',
      response_type: 'code',
      scope: 'openid email',
      redirect_uri: `${scene.base}/auth/oidc/callback`,
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(response.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^ff_oidc=%7B\S+; Path=\/flags\/auth\/oidc\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/,
      ),
    ])
  })

  it('Each log-in has a different state, nonce and challenge', async () => {
    const seen = new Set<string | null>()
    for (let visit = 0; visit < 3; visit += 1) {
      const page = await new Browser().send('GET', `${scene.base}/auth/oidc/start`)
      const { searchParams } = new URL(page.headers.get('location') ?? '')
      for (const name of ['state', 'nonce', 'code_challenge']) seen.add(searchParams.get(name))
    }
    expect(seen.size).toBe(9)
  })
})
