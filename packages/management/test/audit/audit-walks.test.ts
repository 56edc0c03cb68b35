import { FlagError } from '@ff/core'
import type { Records } from '@ff/storage'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { entriesInOrder } from '../../src/audit/audit-entries.ts'
import { AuditWalks } from '../../src/audit/audit-walks.ts'
import { LoginAudit } from '../../src/authentication/login-audit.ts'
import { type Tenant, World } from '../world/world.ts'

/**
 * The number of log-ins. The entries of an organization, its project and four tokens precede them.
 */
const LOGINS = 200
const ENTRIES = 6 + LOGINS

let world: World
let acme: Tenant
let globex: Tenant

beforeEach(async () => {
  world = await World.create()
  acme = await world.addTenant('Acme')
  globex = await world.addTenant('Globex')
  const logins = new LoginAudit(world.services)
  const fields = { email: '', method: 'password', reason: 'unknown' } as const
  const actor = { id: '', email: '', name: '', role: '' }
  const attempts = [acme, globex].flatMap(({ orgId }) =>
    Array.from({ length: LOGINS }, () =>
      logins.record({ type: 'user.login_failed', fields, actor, orgId }),
    ),
  )
  await Promise.all(attempts)
})

const verify = (token: string, query = '') => world.call('GET', `/audit/verify${query}`, { token })
const readAll = (token: string) => world.call('GET', '/audit/export', { token })

/** Begins an in-process export, from which a test reads entry by entry. */
async function beginExport({ orgId }: Tenant) {
  const entries = await world.management.exportAuditLog({ query: { orgId } })
  return entries[Symbol.asyncIterator]()
}

describe('Walks through the audit log', () => {
  it('A second walk for an organization is refused with Retry-After while the first one runs', async () => {
    const { viewer } = acme.tokens
    const answers = await Promise.all([
      verify(viewer),
      verify(viewer),
      readAll(viewer),
      readAll(acme.tokens.owner),
    ])
    const [first, ...others] = answers.sort((a, b) => a.status - b.status)
    expect(first?.status).toBe(200)
    for (const { status, headers, message } of others) {
      expect([status, headers['Retry-After']]).toEqual([429, '5'])
      expect(message).toContain('Try again later')
    }
    expect((await verify(viewer)).data).toEqual({
      valid: true,
      entries: ENTRIES,
      first_broken: null,
    })
    expect((await readAll(viewer)).data.length).toBe(ENTRIES)
  })

  it('Walks of different organizations and of the whole installation do not exclude each other', async () => {
    const { platform } = acme.tokens
    const answers = await Promise.all([
      verify(acme.tokens.viewer),
      verify(globex.tokens.viewer),
      verify(platform),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(answers.map(({ data }) => data.entries)).toEqual([ENTRIES, ENTRIES, 2 * ENTRIES + 2])
  })

  it('While an organization exports its log, the platform cannot verify that log, but can verify all logs', async () => {
    const exported = await beginExport(acme)
    const refused = await verify(acme.tokens.platform, `?org_id=${acme.orgId}`)
    expect(refused.status).toBe(429)
    expect((await verify(acme.tokens.platform)).status).toBe(200)
    await exported.return?.()
  })

  it('A walk that finds a broken entry does not block the next walk', async () => {
    const [entry] = (await world.storage.list('auditEvent', { where: { orgId: acme.orgId } })).data
    await world.storage.update('auditEvent', entry?.id ?? '', { actorId: 'x' })
    for (let round = 0; round < 2; round += 1) {
      expect((await verify(acme.tokens.viewer)).data).toMatchObject({ valid: false, entries: 0 })
    }
  })

  it('A walk that fails because of the store does not block the next walk', async () => {
    const exported = await beginExport(acme)
    await exported.next()
    const away = new FlagError('UNAVAILABLE', 'The store is away.')
    vi.spyOn(world.storage, 'list').mockRejectedValueOnce(away)
    await expect(readRest(exported)).rejects.toThrow('The store is away.')
    expect((await verify(acme.tokens.viewer)).status).toBe(200)
  })

  it('An export that is abandoned before or after its first entry does not block the next walk', async () => {
    for (const taken of [0, 1, 40]) {
      const exported = await beginExport(acme)
      for (let n = 0; n < taken; n += 1) await exported.next()
      expect((await verify(acme.tokens.viewer)).status).toBe(429)
      await exported.return?.()
      expect((await verify(acme.tokens.viewer)).status).toBe(200)
    }
  })

  it('An export that is abandoned stops its pending read', async () => {
    const query = { orgId: acme.orgId, eventType: 'no.such' }
    const exported = (await world.management.exportAuditLog({ query }))[Symbol.asyncIterator]()
    const looking = expect(exported.next()).rejects.toThrow()
    const left = exported.return?.()
    expect((await verify(acme.tokens.viewer)).status).toBe(200)
    await Promise.all([looking, left])
  })

  it('A HEAD request for an export does not block the next walk', async () => {
    const { viewer } = acme.tokens
    for (let round = 0; round < 2; round += 1) {
      expect((await world.call('HEAD', '/audit/export', { token: viewer })).status).toBe(200)
    }
    expect((await verify(viewer)).status).toBe(200)
  })

  it('A walk ends after an hour, so that a paused export does not block other walks forever', async () => {
    const exported = await beginExport(acme)
    await exported.next()
    await world.clock.advance(60 * 60_000 - 1)
    expect((await verify(acme.tokens.viewer)).status).toBe(429)
    await world.clock.advance(1)
    expect((await verify(acme.tokens.viewer)).status).toBe(200)
    await expect(readRest(exported)).rejects.toThrow('took over one hour')
  })

  it('Walks of several organizations share the time slices of the event loop', async () => {
    const walks = new AuditWalks(new FakeClock())
    const inTurn: number[] = []
    let turn = 0
    let isCounting = true
    const count = () => {
      turn += 1
      if (isCounting) setImmediate(count)
    }
    setImmediate(count)
    const walk = async (orgId: string) => {
      const one = walks.begin(orgId)
      for (let n = 0; n < 10; n += 1) {
        await one.nextSlice()
        inTurn[turn] = (inTurn[turn] ?? 0) + 1
      }
      one.end()
    }
    await Promise.all(['a', 'b', 'c', 'd'].map(walk))
    isCounting = false
    const slices = inTurn.filter((count) => count !== undefined)
    expect(slices.reduce((sum, count) => sum + count, 0)).toBe(40)
    expect(Math.max(...slices)).toBe(1)
  })

  it('A walk reads large entries one at a time', async () => {
    const limits: (number | undefined)[] = []
    const entries = Array.from({ length: 100 }, (_, index) => {
      const id = `changes:x:${String(index).padStart(12, '0')}`
      const text = index >= 32 && index < 40 ? 'x'.repeat(100_000) : 'x'
      return { id, payload: { before: null, after: { text } } } as unknown as Records['auditEvent']
    })
    const reader = {
      list: async (
        _kind: unknown,
        { range, limit }: { range: { from: string }; limit: number },
      ) => {
        limits.push(limit)
        const data = entries.filter(({ id }) => id >= range.from).slice(0, limit)
        return { data, total: data.length }
      },
    }
    const walk = new AuditWalks(new FakeClock()).begin('x')
    const read: string[] = []
    for await (const { id } of entriesInOrder(reader as never, {}, walk)) read.push(id)
    expect(read).toEqual(entries.map(({ id }) => id))
    expect(limits[0]).toBe(32)
    expect(limits).toContain(1)
    expect(limits.at(-1)).toBe(32)
  })
})

async function readRest(entries: AsyncIterator<unknown>): Promise<void> {
  for (;;) if ((await entries.next()).done === true) return
}
