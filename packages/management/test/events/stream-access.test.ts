import { beforeEach, describe, expect, it } from 'vitest'
import { type Called, call } from '../../../server/test/call.ts'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import type { ManagedServer } from '../world/managed-server.ts'
import { type MetricsShop, openMetricsShop, type ShopTenant } from '../world/metrics-shop.ts'
import { StreamReader } from './stream-reader.ts'

const SYSTEM = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
const PASSWORD = 'correct horse battery staple'
const HOUR_MS = 60 * 60_000

let shop: MetricsShop
let flags: ManagedServer
let clock: FakeClock

beforeEach(async () => {
  clock = new FakeClock()
  shop = await openMetricsShop({ clock })
  flags = shop.flags
  return () => flags.close()
})

/** Adds a member of an organization and logs it in. */
async function logIn({ orgId }: ShopTenant, email = 'ada@mine.test') {
  const body = { email, role: 'editor' as const }
  const { userId, oneTimeLink } = await flags.as(SYSTEM).addMember({ params: { orgId }, body })
  const first = { token: oneTimeLink, new_password: PASSWORD }
  expect((await call(flags, '/auth/password', { body: first })).status).toBe(200)
  const answer = await call(flags, '/auth/login', { body: { email, password: PASSWORD } })
  const [cookie = ''] = answer.headers.getSetCookie().map((each) => each.split(';')[0] ?? '')
  return { userId, cookie, csrf: csrfIn(answer) }
}

const csrfIn = ({ body }: Called) =>
  (body as { readonly data: { readonly csrf_token: string } }).data.csrf_token

const openStream = (cookie: string) =>
  StreamReader.open(flags, shop.mine.projectId, { headers: { cookie } })

describe('the access to a stream', () => {
  it('A stream ends within 30 seconds after its user was removed from the organization', async () => {
    const { userId, cookie } = await logIn(shop.mine)
    const reader = await openStream(cookie)
    await clock.advance(60_000)
    expect(reader).toMatchObject({ hasEnded: false, comments: 3 })
    const params = { orgId: shop.mine.orgId, userId }
    await flags.as(SYSTEM).removeMember({ params })
    await clock.advance(30_000)
    expect(reader.hasEnded).toBe(true)
    expect((await openStream(cookie)).response.status).toBe(401)
  })

  it('A stream ends within 30 seconds after its user has logged out', async () => {
    const { cookie, csrf } = await logIn(shop.mine)
    const reader = await openStream(cookie)
    const headers = { cookie, 'x-csrf-token': csrf }
    expect((await call(flags, '/auth/logout', { headers })).status).toBe(200)
    await clock.advance(30_000)
    expect(reader.hasEnded).toBe(true)
  })

  it('An open stream does not extend its session, and ends with it', async () => {
    const { cookie } = await logIn(shop.mine)
    const reader = await openStream(cookie)
    await clock.advance(2 * HOUR_MS - 60_000)
    expect(reader.hasEnded).toBe(false)
    await clock.advance(3 * 60_000)
    expect(reader.hasEnded).toBe(true)
    const { status } = await call(flags, '/auth/me', { method: 'GET', headers: { cookie } })
    expect(status).toBe(401)
  })

  it('The session of a user of another organization opens no stream', async () => {
    const { cookie } = await logIn(shop.theirs)
    const { response } = await openStream(cookie)
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toContain('application/json')
  })
})
