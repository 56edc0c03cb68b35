import { sqlite } from '@ff/storage/sqlite'
import type { Config } from './config.ts'
import { consoleLogger } from './console-logger.ts'
import { warnOfWidePermissions } from './file-permissions.ts'
import { dataFileOf, fillNewStore } from './first-start.ts'
import { introduce } from './introduction.ts'
import { type Standalone, serve } from './serve.ts'

/** Opens the store (and fills a new one), starts the server and prints the introduction. */
export async function startStandalone(
  config: Config,
  print: (line: string) => void,
): Promise<Standalone> {
  const path = dataFileOf(config)
  const secrets = await fillNewStore(path, config.adminToken)
  warnOfWidePermissions(path, consoleLogger)
  const standalone = await serve(config, sqlite({ path }))
  for (const line of introduce(standalone.url, config, secrets)) print(line)
  return standalone
}
