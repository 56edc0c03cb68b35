import { FlagError } from '@ff/core'
import type { Storage } from '@ff/storage'
import type { Clock } from '../runtime/clock.ts'
import { jsonReply, type Reply } from './exchange.ts'

/** How long the store may take to answer before the server counts as not ready. */
const READY_WITHIN_MS = 2000

/** The path of each probe; neither needs a token. */
export const PROBE_PATHS = { health: '/health', ready: '/ready' } as const

/** Reports that the process runs; independent of the store. */
export function healthReply(): Reply {
  return statusReply('ok')
}

/** Reports that the store answers. Throws `UNAVAILABLE` if it does not in time. */
export async function readyReply(storage: Storage, clock: Clock): Promise<Reply> {
  const answered = storage.list('organization', { limit: 1 }).then(
    () => true,
    () => false,
  )
  let cancel = (): void => undefined
  const tooLate = new Promise<boolean>((resolve) => {
    cancel = clock.schedule(READY_WITHIN_MS, () => resolve(false))
  })
  const isReady = await Promise.race([answered, tooLate])
  cancel()
  if (!isReady) throw new FlagError('UNAVAILABLE', 'The server is not ready.')
  return statusReply('ready')
}

function statusReply(status: string): Reply {
  return jsonReply(200, { statusCode: 200, message: 'OK', data: { status } })
}
