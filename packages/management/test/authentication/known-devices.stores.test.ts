import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CALLBACK_QUERY, identityProviderFor } from '../world/fake-identity-provider.ts'
import { deviceCookieIn, LogInWorld, PASSWORD } from '../world/log-in-world.ts'
import { stores } from '../world/stores.ts'
import { type Answer, World } from '../world/world.ts'

const ADA = 'ada@acme.test'
const BOB = 'bob@acme.test'
const DAY_MS = 24 * 60 * 60_000
const OLD_KEY = '1d'.repeat(32)
const NEW_KEY = '2e'.repeat(32)

describe.each(stores)('Device cookies, in %s', (_name, open) => {
  let logInWorld: LogInWorld
  let clean: () => void

  beforeEach(async () => {
    const opened = open()
    clean = opened.clean
    logInWorld = await LogInWorld.create({ storage: opened.storage, secretKey: OLD_KEY })
    await logInWorld.add(ADA, 'admin')
    await logInWorld.add(BOB, 'admin')
  })

  afterEach(async () => {
    await logInWorld.world.storage.close()
    clean()
  })

  /** Returns `true` if a browser with this cookie can log in while its network is refused. */
  const isKnown = async (cookie: string, email = ADA) => {
    const call = { address: `10.0.0.${(await logInWorld.audit('user.login_failed')).length}` }
    for (let n = 0; n < 10; n += 1) await logInWorld.logIn(email, 'a wrong password', {}, call)
    expect((await logInWorld.logIn(email, PASSWORD, {}, call)).status).toBe(429)
    return (await logInWorld.logIn(email, PASSWORD, { cookie }, call)).status === 200
  }
  const cookieFor = async (email = ADA) => deviceCookieIn(await logInWorld.logIn(email))

  it('A log-in sets a session cookie and a device cookie that scripts cannot read', async () => {
    const { cookies } = await logInWorld.logIn(ADA.toUpperCase())
    expect(cookies).toEqual([
      expect.stringMatching(/^ff_session=ffs_/),
      expect.stringMatching(
        /^ff_device_[0-9a-f]{8}=[0-9a-f]{32}\.\d{13}\.[\w+/]{43}=; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
      ),
    ])
    for (const encoding of ['utf8', 'hex', 'base64'] as const)
      expect(cookies[1]).not.toContain(Buffer.from(ADA).toString(encoding))
    const other = await logInWorld.logIn(ADA, PASSWORD, {}, { isEncrypted: true })
    expect(other.cookies[1]).toMatch(/; Secure$/)
    expect(deviceCookieIn(other)).not.toBe(deviceCookieIn({ ...other, cookies }))
  })

  it('A refused log-in sets no cookie', async () => {
    expect((await logInWorld.logIn(ADA, 'a wrong password')).cookies).toEqual([])
    expect((await logInWorld.logIn('nobody@acme.test')).cookies).toEqual([])
  })

  it('One browser can be a known device of several accounts', async () => {
    const both = `${await cookieFor(ADA)}; ${await cookieFor(BOB)}`
    expect([await isKnown(both, ADA), await isKnown(both, BOB)]).toEqual([true, true])
  })

  it('Forged and malformed device cookies do not make a device known', async () => {
    const cookie = await cookieFor()
    const [name = '', id = '', issuedAt = '', mac = ''] = cookie.split(/[=.]/)
    const flipped = (mac.startsWith('A') ? 'B' : 'A') + mac.slice(1)
    for (const value of [
      `${id}.${issuedAt}.${flipped}=`,
      `${id.split('').reverse().join('')}.${issuedAt}.${mac}=`,
      `${id}.${Number(issuedAt) - 1}.${mac}=`,
      `${id}.${issuedAt}.${mac}`,
      `${id}.${issuedAt}.`,
      `${id}.${issuedAt}`,
      `${id}..${mac}=`,
      'x',
      '',
    ]) {
      expect([value, await isKnown(`${name}=${value}`)]).toEqual([value, false])
    }
    expect(await isKnown(`${cookie}; ${cookie}`)).toBe(false)
    expect(await isKnown(cookie)).toBe(true)
  })

  it('The device cookie of another account does not make a device known, under any name', async () => {
    const [ada, bob] = [await cookieFor(ADA), await cookieFor(BOB)]
    expect(await isKnown(bob, ADA)).toBe(false)
    const renamed = `${ada.split('=')[0]}=${bob.slice(bob.indexOf('=') + 1)}`
    expect(await isKnown(renamed, ADA)).toBe(false)
    expect(await isKnown(ada, ADA)).toBe(true)
  })

  it('A device cookie expires after a year, and is not valid before it was issued', async () => {
    const { clock } = logInWorld.world
    const cookie = await cookieFor()
    await clock.advance(365 * DAY_MS - 1)
    expect(await isKnown(cookie)).toBe(true)
    await clock.advance(1)
    expect(await isKnown(cookie)).toBe(false)
    const fresh = await cookieFor()
    clock.set(clock.now() - 1)
    expect(await isKnown(fresh)).toBe(false)
  })

  it('Device cookies stay valid after a restart with the same secret key, and after a rotation of the key', async () => {
    const cookie = await cookieFor()
    for (const [secretKey, expected] of [
      [OLD_KEY, true],
      [[NEW_KEY, OLD_KEY], true],
      [NEW_KEY, false],
      [undefined, false],
    ] as const) {
      await logInWorld.restart(secretKey === undefined ? {} : { secretKey })
      expect([secretKey, await isKnown(cookie)]).toEqual([secretKey, expected])
    }
    await logInWorld.restart({ secretKey: [NEW_KEY, OLD_KEY] })
    const fresh = await cookieFor()
    await logInWorld.restart({ secretKey: NEW_KEY })
    expect(await isKnown(fresh)).toBe(true)
  })

  it('Without a secret key, device cookies are valid only in the process that issued them', async () => {
    await logInWorld.restart({})
    const cookie = await cookieFor()
    expect(await isKnown(cookie)).toBe(true)
    await logInWorld.restart({})
    expect(await isKnown(cookie)).toBe(false)
  })

  it('A log-out does not remove the device cookie', async () => {
    const session = await logInWorld.logIn(ADA)
    const { cookies } = await logInWorld.as(session).send('POST', '/auth/logout')
    expect(cookies).toEqual([expect.stringMatching(/^ff_session=;/)])
    expect(await isKnown(deviceCookieIn(session))).toBe(true)
  })

  it('Changing the password with the old password sets a device cookie', async () => {
    const ada = logInWorld.as(await logInWorld.logIn(ADA))
    const change = (old_password: string) =>
      ada.send('POST', '/auth/password', { old_password, new_password: 'another good password' })
    expect((await change('a wrong password')).cookies).toEqual([])
    const changed = await change(PASSWORD)
    await logInWorld.restart({ secretKey: OLD_KEY })
    expect(changed.cookies).toEqual([deviceCookieOf(changed)])
  })

  it('A one-time link sets a device cookie, whether the password was set or proven', async () => {
    const link = await logInWorld.invite('new@acme.test', 'viewer')
    const set = await logInWorld.change({ token: link, new_password: PASSWORD })
    expect(set.cookies).toEqual([expect.stringMatching(/^ff_session=/), deviceCookieOf(set)])
    const other = await logInWorld.world.addTenant('Globex')
    const body = { email: ADA, role: 'viewer' }
    const at = `/organizations/${other.orgId}/members`
    const invited = await logInWorld.world.call('POST', at, { token: other.tokens.owner, body })
    const token = invited.data.one_time_link
    const accepted = await logInWorld.change({ token, old_password: PASSWORD })
    expect(accepted.cookies).toEqual([deviceCookieOf(accepted)])
    expect(await isKnown(deviceCookieIn(accepted))).toBe(true)
  })

  it('A log-in at an identity provider sets a device cookie', async () => {
    const { storage } = logInWorld.world
    const publicUrl = 'http://flags.test'
    const options = { identityProvider: identityProviderFor(ADA), publicUrl, secretKey: OLD_KEY }
    const world = await World.create(storage, options)
    const begun = await world.call('GET', '/auth/oidc/start')
    const headers = { cookie: begun.cookies[0]?.split(';')[0] ?? '' }
    const callback = `/auth/oidc/callback?${CALLBACK_QUERY}`
    const answer = await world.call('GET', callback, { headers })
    expect(answer).toMatchObject({ status: 302, headers: { Location: '/' } })
    expect(answer.cookies).toEqual([expect.stringMatching(/^ff_session=/), deviceCookieOf(answer)])
    expect(await isKnown(deviceCookieIn(answer))).toBe(true)
  })
})

const deviceCookieOf = (answer: Answer) => expect.stringContaining(`${deviceCookieIn(answer)}; `)
