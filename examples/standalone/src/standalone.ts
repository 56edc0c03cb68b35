import type { Config } from './config.ts'
import { fillNewStore } from './first-start.ts'
import { introduce, type Print } from './introduction.ts'
import { findUrl } from './listening.ts'
import type { Standalone } from './serve.ts'
import { openStore, warnOfOtherUsers } from './store.ts'

/** Opens the store (and fills a new one), starts the server and prints the introduction. */
export async function startStandalone(config: Config, print: Print): Promise<Standalone> {
  // Detects a busy port before the store is created or migrated.
  await findUrl(config)
  // The modules of the server are loaded while the store is checked.
  const [secrets, { serve }] = await Promise.all([
    fillNewStore(config, print),
    import('./serve.ts'),
  ])
  warnOfOtherUsers(config)
  const standalone = await serve(config, openStore(config))
  await print(introduce(standalone.url, config, secrets))
  return standalone
}
