import type { NewSdkKey, SdkKey } from '@ff/protocol/management'
import { SDK_KEY_PREFIX } from '@ff/protocol/sdk'
import { hashSecret, newSecret } from '../access/secrets.ts'
import { applyChange, changeEvent } from './apply-change.ts'
import type { Management } from './management.ts'
import { loadEnvironmentPath } from './paths.ts'

/** How much of a secret is kept to recognise it by. */
export const SECRET_PREFIX_LENGTH = 11

interface CreateSdkKeyInput {
  readonly params: { readonly projectId: string; readonly environmentId: string }
  readonly body: NewSdkKey
}

/** A new SDK key of an environment. `key` is shown in this answer and never again. */
export async function createSdkKey(
  management: Management,
  { params, body }: CreateSdkKeyInput,
): Promise<SdkKey & { readonly key: string }> {
  const key = newSecret(SDK_KEY_PREFIX)
  const hash = await hashSecret(key)
  const target = { permission: 'projects.write', load: loadEnvironmentPath, params } as const
  return applyChange(management, target, async (writer, { project, environment }) => {
    const { hash: _, ...record } = await writer.insert('sdkKey', {
      environmentId: environment.id,
      projectId: project.id,
      name: body.name,
      kind: body.kind,
      prefix: key.slice(0, SECRET_PREFIX_LENGTH),
      expiresAt: body.expiresAt ?? null,
      revokedAt: null,
      rateLimit: body.rateLimit ?? null,
      lastUsedAt: null,
      hash,
    })
    const event = changeEvent('sdk_key.created', record.id, { before: null, after: record })
    return { event, result: { ...record, key } }
  })
}
