import { beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../world/world.ts'
import { Browser } from './browser.ts'
import { ADMINISTRATOR, type OidcScene, openScene } from './oidc-scene.ts'
import type { Account } from './oidc-server.ts'

const ADA: Account = { sub: 'ada-there', email: 'ada@acme.test', email_verified: true }
const TO_ME = '?return_to=/flags/auth/me'

let scene: OidcScene

beforeEach(async () => {
  scene = await openScene()
  return () => scene.close()
})

const identities = async () => (await scene.storage.list('identity', {})).data
const me = async (browser: Browser): Promise<Json> => {
  const { status, text } = await browser.send('GET', `${scene.base}/auth/me`)
  return { status, ...JSON.parse(text).data }
}
/** Logs in at the provider. Returns the status and the data of `/auth/me`. */
async function logInAs(account: Account, browser = new Browser()): Promise<Json> {
  scene.provider.account = account
  const page = await scene.logIn(browser, TO_ME)
  return { status: page.status, ...JSON.parse(page.text).data }
}
const reasons = async () =>
  (await scene.audit('user.login_failed')).map(({ payload, orgId }) => [payload.after, orgId])

describe('logging in at an identity provider', () => {
  it('A member with a verified address is logged in and redirected to the return path', async () => {
    const { userId } = await scene.addMember('ada@acme.test', 'editor')
    scene.provider.account = { ...ADA, email: 'Ada@ACME.test' }
    const browser = new Browser()
    const page = await scene.logIn(browser, TO_ME)
    expect([page.url.href, page.status]).toEqual([`${scene.base}/auth/me`, 200])
    expect(JSON.parse(page.text).data).toMatchObject({
      user: { id: userId, email: 'ada@acme.test', role: 'editor', org_id: scene.orgId },
      memberships: [{ org_id: scene.orgId, name: 'Acme', role: 'editor' }],
    })
    expect(await identities()).toMatchObject([
      { userId, issuer: scene.provider.issuer, subject: ADA.sub },
    ])
    expect(await scene.audit('user.login_success')).toMatchObject([
      {
        orgId: scene.orgId,
        streamId: `user:${userId}`,
        actor: { id: userId, email: 'ada@acme.test', role: 'editor' },
        payload: { before: null, after: { email: 'ada@acme.test', method: 'oidc' } },
      },
    ])
  })

  it('A log-in at a provider opens a session with an HttpOnly cookie and a CSRF token', async () => {
    await scene.addMember('ada@acme.test', 'admin')
    scene.provider.account = ADA
    const browser = new Browser()
    const callback = await scene.goToProvider(browser)
    const back = await browser.send('GET', callback)
    expect([back.status, back.headers.get('location')]).toEqual([302, '/'])
    expect(JSON.parse(back.text)).toEqual({ statusCode: 302, message: 'OK', data: null })
    expect(back.headers.get('cache-control')).toBe('no-store')
    expect(back.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^ff_session=ffs_[0-9a-f]{64}; Path=\/flags; Max-Age=43200; HttpOnly; SameSite=Lax$/,
      ),
      expect.stringMatching(
        /^ff_device_\S+; Path=\/flags; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
      ),
    ])
    const projects = `${scene.base}/organizations/${scene.orgId}/projects`
    const body = { key: 'shop' }
    expect((await browser.send('POST', projects, { body })).status).toBe(403)
    const headers = { 'x-csrf-token': (await me(browser)).csrf_token }
    const forged = { ...headers, origin: 'https://evil.test' }
    expect((await browser.send('POST', projects, { body, headers: forged })).status).toBe(403)
    expect((await browser.send('POST', projects, { body, headers })).status).toBe(201)
    expect((await browser.send('POST', `${scene.base}/auth/logout`, { headers })).status).toBe(200)
    expect((await me(browser)).status).toBe(401)
  })

  it('The administrator logs in at a provider with the role platform', async () => {
    const root = await logInAs({ ...ADA, sub: 'root', email: ADMINISTRATOR.email })
    expect(root).toMatchObject({ user: { role: 'platform', org_id: null }, memberships: [] })
  })

  it('A linked identity logs the same user in after its e-mail address has changed', async () => {
    const { userId } = await scene.addMember('ada@acme.test', 'viewer')
    await scene.addMember('eve@acme.test', 'owner')
    await logInAs(ADA)
    for (const changed of [
      { email: 'ada@married.test' },
      { email: 'eve@acme.test' },
      { email_verified: false },
      { email: undefined, email_verified: undefined },
    ]) {
      const again = await logInAs({ ...ADA, ...changed } as Account)
      expect(again.user).toMatchObject({ id: userId, email: 'ada@acme.test' })
    }
    expect(await identities()).toHaveLength(1)
  })

  it('The e-mail address is read from the ID token if the token contains it', async () => {
    await scene.close()
    scene = await openScene({ provider: { conformIdTokenClaims: false } })
    const { userId } = await scene.addMember('ada@acme.test', 'viewer')
    expect((await logInAs(ADA)).user.id).toBe(userId)
    expect(scene.provider.requestedPaths).not.toContain('/me')
  })

  it('The client secret is sent in a header if the provider accepts it only there', async () => {
    await scene.close()
    scene = await openScene({ provider: { clientAuthMethods: ['client_secret_basic'] } })
    await scene.addMember('ada@acme.test', 'viewer')
    expect((await logInAs(ADA)).status).toBe(200)
  })

  it('A member who has not used the one-time link can log in at a provider', async () => {
    await scene.addMember('ada@acme.test', 'viewer')
    expect((await logInAs(ADA)).memberships).toHaveLength(1)
  })

  it('Concurrent log-ins of one user create one identity', async () => {
    const { userId } = await scene.addMember('ada@acme.test', 'viewer')
    scene.provider.account = ADA
    const browsers = [new Browser(), new Browser(), new Browser()]
    const pages = await Promise.all(browsers.map((browser) => scene.logIn(browser, TO_ME)))
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await identities()).toMatchObject([{ userId }])
  })

  it('A log-in at a provider ends the previous session of the browser', async () => {
    await scene.addMember('ada@acme.test', 'viewer')
    const browser = new Browser()
    await logInAs(ADA, browser)
    const before = browser.cookies.get('ff_session')
    await logInAs(ADA, browser)
    const old = new Browser()
    if (before !== undefined) old.cookies.set('ff_session', before)
    expect([(await me(old)).status, (await me(browser)).status]).toEqual([401, 200])
  })
})

describe('identities of the provider', () => {
  it('An identity without a user or a verified address is refused and audited', async () => {
    await scene.addMember('ada@acme.test', 'viewer')
    const refused: Account[] = [
      { sub: 'nobody', email: 'nobody@acme.test', email_verified: true },
      { ...ADA, email_verified: false },
      { sub: 'unsaid', email: 'ada@acme.test' },
      { sub: 'nameless', email_verified: true },
      { ...ADA, email_verified: 'yes' },
    ]
    for (const account of refused) {
      const browser = new Browser()
      scene.provider.account = account
      const page = await scene.logIn(browser)
      expect([page.status, JSON.parse(page.text)]).toEqual([
        401,
        {
          statusCode: 401,
          message: 'The identity does not belong to a user of this server.',
          data: null,
        },
      ])
      expect(browser.cookies.has('ff_session')).toBe(false)
      await scene.clock.advance(1)
    }
    const method = 'oidc'
    const unverified = { email: 'ada@acme.test', method, reason: 'no verified address' }
    expect(await reasons()).toEqual([
      [{ email: 'nobody@acme.test', method, reason: 'unknown' }, ''],
      [unverified, scene.orgId],
      [unverified, scene.orgId],
      [{ email: '', method, reason: 'unknown' }, ''],
      [unverified, scene.orgId],
    ])
    expect(await identities()).toEqual([])
  })

  it('A second identity with a linked address is refused until the member is removed and added again', async () => {
    const { userId } = await scene.addMember('ada@acme.test', 'viewer')
    await logInAs(ADA)
    const next = { ...ADA, sub: 'another-ada' }
    expect((await logInAs(next)).status).toBe(401)
    expect((await reasons()).at(-1)?.[0]).toMatchObject({ reason: 'linked to another identity' })
    const params = { orgId: scene.orgId, userId }
    await scene.removeMember(params)
    expect((await logInAs(ADA)).status).toBe(401)
    expect((await reasons()).at(-1)?.[0]).toMatchObject({ reason: 'no membership' })
    expect(await identities()).toEqual([])
    await scene.addMember('ada@acme.test', 'viewer')
    expect((await logInAs(next)).status).toBe(200)
    expect((await logInAs(ADA)).status).toBe(401)
  })

  it('An email_verified claim with the text "true" is accepted', async () => {
    await scene.addMember('ada@acme.test', 'viewer')
    expect((await logInAs({ ...ADA, email_verified: 'true' })).status).toBe(200)
  })
})
