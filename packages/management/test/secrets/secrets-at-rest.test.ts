import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@ff/storage/sqlite'
import { expect, it } from 'vitest'
import type { LogFields } from '../../../server/src/runtime/logger.ts'
import { call, evaluate } from '../../../server/test/call.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import type { Json } from '../world/world.ts'

const SECRET_KEY = '3d'.repeat(32)
const actor = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const

const passwordHasher = new ScryptPasswordHasher({ log2N: 4, r: 8, p: 1 })

it('No secret is stored in plain text in files or logs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ff-secrets-'))
  const logged: string[] = []
  const log = (message: string, fields?: LogFields) =>
    void logged.push(
      message,
      JSON.stringify(fields ?? {}, (_, value) => value?.stack ?? value),
    )
  const logger = { debug: log, info: log, warn: log, error: log }
  const receiver = await Receiver.start()
  const flags = createManagedServer({
    ...sqlite({ path: join(folder, 'flags.db') }),
    passwordHasher,
    logger,
    secretKey: SECRET_KEY,
    webhooks: { allowLoopback: true },
  })
  try {
    await flags.start()
    const management = flags.as(actor)
    const { id: orgId } = await management.createOrganization({ body: { name: 'Acme' } })
    const owner = { params: { orgId }, body: { name: 'first', role: 'owner' } } as const
    const secrets = [(await management.createAccessToken(owner)).token]
    const made = await management.createProject({ params: { orgId }, body: { key: 'shop' } })
    const manage = async (method: string, path: string, body?: Json, token = secrets[0]) => {
      const headers = { authorization: `Bearer ${token}`, 'idempotency-key': crypto.randomUUID() }
      const answer = await call(flags, path, { method, headers, body })
      return (answer.body as Json).data
    }
    const phrases = await logUsersIn(flags, orgId, (...ask) => manage(...ask))
    const tokens = `/organizations/${orgId}/tokens`
    const webhooks = `/organizations/${orgId}/webhooks`
    const keys = `/projects/${made.id}/envs/${made.environments[0]?.id}/sdk-keys`
    for (let round = 0; round < 5; round += 1) {
      const issued = await manage('POST', tokens, { name: 't', role: 'editor' })
      const created = await manage('POST', keys, { name: 'k', kind: 'server' })
      const rotated = await manage('POST', `${keys}/${created.id}/rotate`, {})
      secrets.push(issued.token, created.key, rotated.key)
      const hook = { url: receiver.url, event_types: ['sdk_key.*'] }
      secrets.push((await manage('POST', webhooks, hook)).secret)
      for (const key of [created.key, rotated.key]) {
        expect((await evaluate(flags, key, {})).status).toBe(200)
      }
      await manage('GET', tokens, undefined, issued.token)
      await manage('DELETE', `${tokens}/${issued.id}`)
      await manage('GET', tokens, undefined, issued.token)
      await manage('DELETE', `${keys}/${created.id}`)
      await evaluate(flags, created.key, {})
    }
    await flags.close()
    expect(receiver.received.length).toBeGreaterThan(5)
    expect(new Set(secrets).size).toBe(21)
    const kept = readdirSync(folder).map((file) => readFileSync(join(folder, file)))
    expect(Buffer.concat(kept).byteLength).toBeGreaterThan(50_000)
    expect(Buffer.concat(kept).includes('sdk_key.rotated')).toBe(true)
    for (const secret of secrets) {
      // The first eleven characters are stored, so the rest of the secret is searched for.
      const part = secret?.slice(12, 44) ?? ''
      expect(part.length).toBe(32)
      for (const bytes of kept) expect(bytes.includes(part)).toBe(false)
      expect(logged.join()).not.toContain(part)
    }
    for (const phrase of phrases) {
      for (const bytes of kept) expect(bytes.includes(phrase)).toBe(false)
      expect(logged.join()).not.toContain(phrase)
    }
  } finally {
    await flags.close()
    await receiver.close()
    rmSync(folder, { recursive: true })
  }
})

/** Logs users in, with some mistakes. Returns all secrets that must not be stored in plain text. */
async function logUsersIn(
  flags: ManagedServer,
  orgId: string,
  manage: (method: string, path: string, body: Json) => Promise<Json>,
): Promise<readonly string[]> {
  const secrets: string[] = []
  for (let n = 0; n < 3; n += 1) {
    const email = `person${n}@acme.test`
    const members = `/organizations/${orgId}/members`
    const member = await manage('POST', members, { email, role: 'viewer' })
    const link: string = member.one_time_link
    const [old_password, new_password, wrong] = [`first ${n} password`, `next ${n} one`, `bad ${n}`]
    await call(flags, '/auth/password', { body: { token: link, new_password: old_password } })
    await call(flags, '/auth/login', { body: { email, password: wrong } })
    await call(flags, '/auth/login', { body: { email: old_password, password: email } })
    const session = await call(flags, '/auth/login', { body: { email, password: old_password } })
    expect(session.status).toBe(200)
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const csrf: string = (session.body as Json).data.csrf_token
    const headers = { cookie, 'x-csrf-token': csrf }
    const body = { old_password, new_password: `${new_password} long enough` }
    expect((await call(flags, '/auth/password', { headers, body })).status).toBe(200)
    secrets.push(old_password, new_password, wrong, csrf.slice(0, 40))
    secrets.push(link.slice(4, 44), cookie.slice('ff_session=ffs_'.length, 50))
  }
  return secrets
}
