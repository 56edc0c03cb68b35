import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@ff/storage/sqlite'
import { expect, it } from 'vitest'
import { createFlagServer } from '../../src/flag-server.ts'
import type { LogFields } from '../../src/logger.ts'
import { createAccessToken } from '../../src/management/access-tokens.ts'
import { createOrganization } from '../../src/management/organizations.ts'
import { createProject } from '../../src/management/projects.ts'
import { call, evaluate } from '../call.ts'
import type { Json } from './world.ts'

const actor = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const

it('no secret is kept in clear by anything, in files or in logs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ff-secrets-'))
  const logged: string[] = []
  const log = (message: string, fields?: LogFields) =>
    void logged.push(
      message,
      JSON.stringify(fields ?? {}, (_, value) => value?.stack ?? value),
    )
  const logger = { debug: log, info: log, warn: log, error: log }
  const flags = createFlagServer({ ...sqlite({ path: join(folder, 'flags.db') }), logger })
  try {
    await flags.start()
    const management = flags.actAs(actor)
    const { id: orgId } = await createOrganization(management, { body: { name: 'Acme' } })
    const owner = { params: { orgId }, body: { name: 'first', role: 'owner' } } as const
    const secrets = [(await createAccessToken(management, owner)).token]
    const made = await createProject(management, { params: { orgId }, body: { key: 'shop' } })
    const manage = async (method: string, path: string, body?: Json, token = secrets[0]) => {
      const headers = { authorization: `Bearer ${token}`, 'idempotency-key': crypto.randomUUID() }
      const answer = await call(flags, path, { method, headers, body })
      return (answer.body as Json).data
    }
    const tokens = `/organizations/${orgId}/tokens`
    const keys = `/projects/${made.id}/envs/${made.environments[0]?.id}/sdk-keys`
    for (let round = 0; round < 5; round += 1) {
      const issued = await manage('POST', tokens, { name: 't', role: 'editor' })
      const created = await manage('POST', keys, { name: 'k', kind: 'server' })
      const rotated = await manage('POST', `${keys}/${created.id}/rotate`, {})
      secrets.push(issued.token, created.key, rotated.key)
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
    expect(new Set(secrets).size).toBe(16)
    const kept = readdirSync(folder).map((file) => readFileSync(join(folder, file)))
    expect(Buffer.concat(kept).byteLength).toBeGreaterThan(50_000)
    expect(Buffer.concat(kept).includes('sdk_key.rotated')).toBe(true)
    for (const secret of secrets) {
      // A part of it would do: what is kept of a secret is its first eleven characters.
      const part = secret?.slice(12, 44) ?? ''
      expect(part.length).toBe(32)
      for (const bytes of kept) expect(bytes.includes(part)).toBe(false)
      expect(logged.join()).not.toContain(part)
    }
  } finally {
    await flags.close()
    rmSync(folder, { recursive: true })
  }
})
