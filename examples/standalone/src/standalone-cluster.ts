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
 * What the first process does where several serve: prepares the store (filling a new one), starts
 * the others, owns what they share, and prints where and how it can be used.
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

/** What each of the others does: serves, with what the first one shares. */
export function startWorker(config: Config): Promise<Standalone> {
  return serve({ ...config, administrator: undefined }, cluster({ path: dataFileOf(config) }))
}

/** Does once what every start of a server does, so that what is wrong is said once. */
async function prepare(config: Config): Promise<void> {
  const flags = await createFlags(config, sqlite({ path: dataFileOf(config) }))
  try {
    await flags.start()
  } finally {
    await flags.close()
  }
}

/** Where the workers will listen: a port that is taken is refused here, and a free one found once. */
async function findUrl(config: Config): Promise<string> {
  const server = createServer()
  const url = await listen(server, config)
  await new Promise((resolve) => server.close(resolve))
  return url
}
