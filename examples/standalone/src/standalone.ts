import type { Config } from './config.ts'
import { fillNewStore } from './first-start.ts'
import { introduce, type Print } from './introduction.ts'
import { findUrl } from './listening.ts'
import { type Standalone, serve } from './serve.ts'
import { openStore, warnOfOtherUsers } from './store.ts'

/** Opens the store (and fills a new one), starts the server and prints the introduction. */
export async function startStandalone(config: Config, print: Print): Promise<Standalone> {
  // Detects a busy port before the store is created or migrated.
  await findUrl(config)
  const secrets = await fillNewStore(config, print)
  warnOfOtherUsers(config)
  const standalone = await serve(config, openStore(config))
  await print(introduce(standalone.url, config, secrets))
  return standalone
}
