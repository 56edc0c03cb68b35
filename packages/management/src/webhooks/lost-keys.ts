import type { Logger } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import type { SecretBox } from '../secrets/secret-box.ts'

interface LostKeysOptions {
  readonly storage: Pick<Storage, 'list'>
  readonly logger: Logger
  readonly secretBox: SecretBox | undefined
}

/**
 * Logs one warning if the secrets of webhooks were encrypted with keys that are not configured, for
 * example because the file of the key was lost and a new key was created. Never rejects, because a
 * server can start while its store is unavailable.
 */
export async function reportLostKeys({
  storage,
  logger,
  secretBox,
}: LostKeysOptions): Promise<void> {
  let lost = 0
  const webhooks = await storage.list('webhook', {}).catch(() => undefined)
  for (const { sealedSecret } of webhooks?.data ?? []) {
    if ((await secretBox?.hasKeyOf(sealedSecret)) !== true) lost += 1
  }
  if (lost === 0) return
  logger.warn(
    'Webhooks send nothing, because the secret key that encrypted their secrets is missing: restore the key, or create the webhooks again',
    { webhooks: lost },
  )
}
