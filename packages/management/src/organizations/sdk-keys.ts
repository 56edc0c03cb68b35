import { FlagError } from '@ff/core'
import type { SdkKey } from '@ff/protocol/management'
import { SDK_KEY_PREFIX } from '@ff/protocol/sdk'
import { hashSecret, newSecret } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import { completed } from '../changes/change-event.ts'
import type { RecordChanges } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'
import { assertInFuture } from '../requests/validation.ts'
import { SECRET_PREFIX_LENGTH } from '../users/access-tokens.ts'

const DEFAULT_GRACE_SECONDS = 24 * 60 * 60

/** The use cases of SDK keys. */
export const sdkKeyUseCases = defineUseCases({
  /**
   * Returns one page of an environment's SDK keys, sorted by name. Revoked keys are included; the
   * secrets are not.
   */
  listSdkKeys: ({ storage, environment: { id: environmentId }, query }) =>
    listPage(storage, 'sdkKey', { where: { environmentId }, sortBy: 'name', query }),

  /** Creates an SDK key of an environment. Only this response contains the secret, as `key`. */
  async createSdkKey({ writer, project, environment, body }) {
    const secret = await newKey()
    assertInFuture('expires_at', body.expiresAt, writer.now)
    const { hash: _, ...record } = await writer.insert('sdkKey', {
      ...secret.fields,
      environmentId: environment.id,
      projectId: project.id,
      name: body.name,
      kind: body.kind,
      expiresAt: body.expiresAt ?? null,
      rateLimit: body.rateLimit ?? null,
    })
    const result = { ...record, key: secret.key }
    return completed('sdk_key.created', { after: record }, { result, shownOnce: 'key' })
  },

  /**
   * Revokes an SDK key. Requests with the key are refused, and connections with the key are closed.
   */
  async revokeSdkKey({ writer, sdkKey: before, expectedRevision }) {
    const changes = { revokedAt: before.revokedAt ?? writer.now }
    const after = await writer.update('sdkKey', before, changes, expectedRevision)
    return completed('sdk_key.revoked', { before, after }, { result: null })
  },

  /**
   * Replaces an SDK key by a new one with the same name, kind and rate limit. The old key stays
   * valid for a grace period unless it expires earlier. If the grace period is 0, the old key is
   * revoked. Throws `CONFLICT` if the key is already revoked or expired.
   */
  async rotateSdkKey({ writer, sdkKey: before, body }) {
    const secret = await newKey()
    assertLiving(before, writer.now)
    const { graceSeconds = DEFAULT_GRACE_SECONDS, expiresAt = before.expiresAt } = body
    assertInFuture('expires_at', expiresAt, writer.now)
    const key = await writer.update('sdkKey', before, endAfter(graceSeconds, before, writer.now))
    const { environmentId, projectId, name, kind, rateLimit } = before
    const same = { environmentId, projectId, name, kind, rateLimit }
    const inserted = await writer.insert('sdkKey', { ...secret.fields, ...same, expiresAt })
    const { hash: _, ...successor } = inserted
    const fields = { before: { key: before, successor: null }, after: { key, successor } }
    const result = { ...successor, key: secret.key }
    return completed('sdk_key.rotated', fields, { id: before.id, result, shownOnce: 'key' })
  },
})

/** Returns a new key and its stored fields. */
async function newKey() {
  const key = newSecret(SDK_KEY_PREFIX)
  const prefix = key.slice(0, SECRET_PREFIX_LENGTH)
  const fields = { prefix, hash: await hashSecret(key), revokedAt: null, lastUsedAt: null }
  return { key, fields }
}

function assertLiving({ revokedAt, expiresAt }: SdkKey, now: string): void {
  if (revokedAt === null && (expiresAt === null || expiresAt > now)) return
  throw new FlagError('CONFLICT', 'The SDK key is revoked or expired. Create a new one.')
}

function endAfter(
  graceSeconds: number,
  { expiresAt }: Records['sdkKey'],
  now: string,
): RecordChanges<'sdkKey'> {
  if (graceSeconds === 0) return { revokedAt: now }
  const graceEnds = new Date(Date.parse(now) + graceSeconds * 1000).toISOString()
  return { expiresAt: expiresAt !== null && expiresAt < graceEnds ? expiresAt : graceEnds }
}
