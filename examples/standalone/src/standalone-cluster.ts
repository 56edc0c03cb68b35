import type { Config } from './config.ts'
import { fillNewStore } from './first-start.ts'
import { introduce, type Print } from './introduction.ts'
import { findUrl } from './listening.ts'
import { createLogger } from './log.ts'
import { createFlags, type Standalone, serve } from './serve.ts'
import { openStore, openWorkerStore, serveWorkers, warnOfOtherUsers } from './store.ts'
import { Workers } from './workers.ts'

/**
 * Starts the primary process of several: prepares the store (and fills a new one), starts the
 * workers, manages their shared state, and prints the introduction.
 */
export async function startPrimary(config: Config, print: Print): Promise<Standalone> {
  // Detects a busy port before the store is created or migrated.
  const url = await findUrl(config)
  const secrets = await fillNewStore(config, print)
  const logger = createLogger(config.log)
  warnOfOtherUsers(config)
  await prepare(config)
  const served = serveWorkers(config)
  const env = { PORT: new URL(url).port }
  const workers = new Workers({ count: config.workers, env, logger })
  const close = async () => {
    await workers.close()
    await served.close()
  }
  try {
    await workers.start()
  } catch (error) {
    await close()
    throw error
  }
  await print(introduce(url, config, secrets))
  return { url, close }
}

/** Starts a worker process, which serves requests with the shared state. */
export function startWorker(config: Config): Promise<Standalone> {
  return serve({ ...config, administrator: undefined }, openWorkerStore(config))
}

/** Starts and closes a server, so that errors are reported once instead of once per worker. */
async function prepare(config: Config): Promise<void> {
  const flags = await createFlags(config, openStore(config))
  try {
    await flags.start()
  } finally {
    await flags.close()
  }
}
