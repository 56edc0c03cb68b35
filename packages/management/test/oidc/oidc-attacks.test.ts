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
/** Where the provider has sent Ada's browser back to; not yet asked for. */
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
const comeBack = (address: URL | string = callback, by = browser) => by.send('GET', address)

/** Nobody is logged in, in an envelope that says nothing more. */
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

/** What the browser keeps of the log-in, with something in it changed. */
function changeKept(changes: Record<string, unknown>, by = browser): void {
  const cookie = by.cookies.get('ff_oidc')
  if (cookie === undefined) throw new Error('nothing is kept')
  const kept = { ...JSON.parse(decodeURIComponent(cookie.value)), ...changes }
  by.cookies.set('ff_oidc', { ...cookie, value: encodeURIComponent(JSON.stringify(kept)) })
}

const NOT_ASKED = 'this is not its answer to what was asked'
const NOT_BEGUN = 'was not begun by this browser'

describe('whoever comes back from the provider', () => {
  it('is let in when nothing was altered', async () => {
    expect((await comeBack()).status).toBe(302)
  })

  it('is refused when the answer is not the one that was asked for', async () => {
    for (const [name, value] of [
      ['state', 'x'],
      ['state', undefined],
      ['state', ''],
      ['code', 'x'],
      ['code', undefined],
      ['iss', 'https://evil.test'],
      ['iss', undefined],
    ] as const) {
      await expectRefused(await comeBack(changed(callback, name, value)), NOT_ASKED)
    }
  })

  it('is refused when the ID token was made for another log-in', async () => {
    changeKept({ nonce: 'another' })
    await expectRefused(await comeBack(), NOT_ASKED)
  })

  it('is refused without the secret that the log-in was begun with', async () => {
    changeKept({ codeVerifier: 'x'.repeat(43) })
    await expectRefused(await comeBack(), NOT_ASKED)
  })

  it('is refused with the answer to another browser, or without having begun', async () => {
    const eve = new Browser()
    await expectRefused(await comeBack(callback, eve), NOT_BEGUN, eve)
    await sendAs(EVE, eve)
    await expectRefused(await comeBack(callback, eve), NOT_ASKED, eve)
    expect((await comeBack()).status).toBe(302)
  })

  it('is refused with a code that was stolen from another', async () => {
    const eve = new Browser()
    const own = await sendAs(EVE, eve)
    const injected = changed(own, 'code', callback.searchParams.get('code') ?? '')
    await expectRefused(await comeBack(injected, eve), NOT_ASKED, eve)
  })

  it('is refused the second time', async () => {
    expect((await comeBack()).status).toBe(302)
    const again = await comeBack()
    expect([again.status, messageOf(again)]).toEqual([401, expect.stringContaining(NOT_ASKED)])
    expect(again.headers.get('set-cookie')).toBeNull()
  })

  it('is refused ten minutes after setting out', async () => {
    await scene.clock.advance(10 * MINUTE_MS - 1)
    const late = new Browser()
    const lateCallback = await sendAs(ADA, late)
    expect((await comeBack()).status).toBe(302)
    await scene.clock.advance(10 * MINUTE_MS)
    const page = await comeBack(lateCallback, late)
    expect([page.status, messageOf(page)]).toEqual([401, expect.stringContaining(NOT_BEGUN)])
  })

  it('is refused with two cookies, or with one that is none of ours', async () => {
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
      await expectRefused(page, NOT_BEGUN)
    }
    expect(path).toBe('/flags/auth/oidc/callback')
    expect((await comeBack()).status).toBe(302)
  })

  it('is refused in the words of an error’s code when the provider says no', async () => {
    browser = new Browser()
    const denied = await sendAs(undefined, browser)
    expect(denied.searchParams.get('error')).toBe('access_denied')
    await expectRefused(await comeBack(denied), 'it says access_denied')
    expect(await scene.audit('user.login_failed')).toMatchObject([
      {
        orgId: '',
        payload: { after: { method: 'oidc', reason: 'refused by the identity provider' } },
      },
    ])
    for (const error of ['<script>alert(1)</script>', 'x'.repeat(129), 'a b', '']) {
      const page = await comeBack(changed(denied, 'error', error))
      await expectRefused(page, 'error: must be a code', browser, 400)
    }
    const twice = `${denied.href}&error=login_required`
    await expectRefused(await comeBack(twice), 'error: must not occur more than once', browser, 400)
  })

  it('may bring along what nobody has to understand', async () => {
    const more = changed(changed(callback, 'session_state', 'x'), '__proto__', '{"admin":true}')
    expect((await comeBack(more)).status).toBe(302)
  })

  it('is refused with the token of another flow', async () => {
    const implicit = changed(changed(callback, 'code', undefined), 'id_token', 'x.y.z')
    await expectRefused(await comeBack(implicit), NOT_ASKED)
  })

  it('has as many attempts as there are for passwords, of which good ones do not count', async () => {
    const address = changed(callback, 'state', 'x')
    const statuses: number[] = []
    for (let attempt = 0; attempt < 51; attempt += 1)
      statuses.push((await comeBack(address)).status)
    expect(statuses).toEqual([...Array(50).fill(401), 429])
    const refused = await comeBack()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '900'])
    const body = ADMINISTRATOR
    expect((await browser.send('POST', `${scene.base}/auth/login`, { body })).status).toBe(429)
    await scene.clock.advance(15 * MINUTE_MS)
    for (let logIn = 0; logIn < 60; logIn += 1) {
      expect((await comeBack(await sendAs(ADA, browser))).status).toBe(302)
    }
  })
})

describe('where one is led', () => {
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

  it.each(ELSEWHERE)('is never %j', async (place) => {
    const query = `?return_to=${encodeURIComponent(place)}`
    const page = await scene.logIn(new Browser(), query)
    expect([page.status, JSON.parse(page.text).data.issues[0].path]).toEqual([400, 'return_to'])
    changeKept({ returnTo: place })
    await expectRefused(await comeBack(), NOT_BEGUN)
  })

  it('is on this server, however the path is spelled', async () => {
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

  it('is one place, and nothing else is asked', async () => {
    for (const query of ['?return_to=/a&return_to=/b', '?next=/a', '?__proto__=1']) {
      expect((await scene.logIn(new Browser(), query)).status).toBe(400)
    }
  })

  it('fits into what a browser keeps, at its longest', async () => {
    await scene.goToProvider(browser, `?return_to=/${encodeURIComponent('"'.repeat(511))}`)
    expect(`ff_oidc=${browser.cookies.get('ff_oidc')?.value}`.length).toBeLessThan(4096)
  })
})

describe('where the provider sends people back to', () => {
  it('is decided by publicUrl and by no header', async () => {
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

  it('is another state, nonce and challenge for everybody', async () => {
    const seen = new Set<string | null>()
    for (let visit = 0; visit < 3; visit += 1) {
      const page = await new Browser().send('GET', `${scene.base}/auth/oidc/start`)
      const { searchParams } = new URL(page.headers.get('location') ?? '')
      for (const name of ['state', 'nonce', 'code_challenge']) seen.add(searchParams.get(name))
    }
    expect(seen.size).toBe(9)
  })
})
