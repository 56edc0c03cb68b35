import type { FlagServer, Logger } from '@ff/server'
import type { Config } from './config.ts'
import { fillNewStore } from './first-start.ts'
import { introduce, type Print } from './introduction.ts'
import { createLogger } from './log.ts'
import { createFlags } from './serve.ts'
import { openStore, serveWorkers, warnOfOtherUsers } from './store.ts'

/** What the primary process has prepared for the workers. */
export interface Prepared {
  /** The lines that are printed when the workers serve. */
  readonly introduction: readonly string[]
  readonly logger: Logger
  /** Ends what the workers share. */
  readonly close: () => Promise<void>
}

interface PreparedOptions {
  readonly config: Config
  readonly print: Print
  readonly url: string
}

/** Prepares the store (and fills a new one), and starts what the workers share. */
export async function prepare({ config, print, url }: PreparedOptions): Promise<Prepared> {
  const secrets = await fillNewStore(config, print)
  warnOfOtherUsers(config)
  const closed = (await startOnce(config)).close()
  closed.catch(() => undefined)
  // Only one process can open the data file. A database that does not respond must not delay the start.
  if (config.database === undefined) await closed
  const served = serveWorkers(config)
  const close = async () => {
    await Promise.all([closed, served.close()])
  }
  const logger = createLogger(config.log)
  return { introduction: introduce(url, config, secrets), logger, close }
}

/** Starts a server, so that errors are reported once instead of once per worker. */
async function startOnce(config: Config): Promise<FlagServer> {
  const flags = await createFlags(config, openStore(config))
  try {
    await flags.start()
    return flags
  } catch (error) {
    await flags.close()
    throw error
  }
}
