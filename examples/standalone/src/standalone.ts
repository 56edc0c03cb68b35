import { sqlite } from '@ff/storage/sqlite'
import type { Config } from './config.ts'
import { dataFileOf } from './data-folder.ts'
import { warnOfWidePermissions } from './file-permissions.ts'
import { fillNewStore } from './first-start.ts'
import { introduce, type Print } from './introduction.ts'
import { findUrl } from './listening.ts'
import { createLogger } from './log.ts'
import { type Standalone, serve } from './serve.ts'

/** Opens the store (and fills a new one), starts the server and prints the introduction. */
export async function startStandalone(config: Config, print: Print): Promise<Standalone> {
  // Detects a busy port before the store is created or migrated.
  await findUrl(config)
  const secrets = await fillNewStore(config, print)
  const path = dataFileOf(config)
  warnOfWidePermissions(path, createLogger(config.log))
  const standalone = await serve(config, sqlite({ path }))
  await print(introduce(standalone.url, config, secrets))
  return standalone
}
