import { createServer } from 'node:http'
import { cluster, serveCluster } from '@ff/storage/cluster'
import { sqlite } from '@ff/storage/sqlite'
import type { Config } from './config.ts'
import { consoleLogger } from './console-logger.ts'
import { warnOfWidePermissions } from './file-permissions.ts'
import { dataFileOf, fillNewStore } from './first-start.ts'
import { introduce } from './introduction.ts'
import { createFlags, listen, type Standalone, serve } from './serve.ts'
import { Workers } from './workers.ts'

/**
 * Starts the primary process of several: prepares the store (and fills a new one), starts the
 * workers, manages their shared state, and prints the introduction.
 */
export async function startPrimary(
  config: Config,
  print: (line: string) => void,
): Promise<Standalone> {
  const path = dataFileOf(config)
  const secrets = await fillNewStore(path, config.adminToken)
  warnOfWidePermissions(path, consoleLogger)
  await prepare(config)
  const url = await findUrl(config)
  const served = serveCluster({ path })
  const env = { PORT: new URL(url).port }
  const workers = new Workers({ count: config.workers, env, logger: consoleLogger })
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
  for (const line of introduce(url, config, secrets)) print(line)
  return { url, close }
}

/** Starts a worker process, which serves requests with the shared state. */
export function startWorker(config: Config): Promise<Standalone> {
  return serve({ ...config, administrator: undefined }, cluster({ path: dataFileOf(config) }))
}

/** Starts and closes a server, so that errors are reported once instead of once per worker. */
async function prepare(config: Config): Promise<void> {
  const flags = await createFlags(config, sqlite({ path: dataFileOf(config) }))
  try {
    await flags.start()
  } finally {
    await flags.close()
  }
}

/** Returns the URL of the workers, with a free port for port 0. Rejects if the port is in use. */
async function findUrl(config: Config): Promise<string> {
  const server = createServer()
  const url = await listen(server, config)
  await new Promise((resolve) => server.close(resolve))
  return url
}
