import { createLocalClient } from '@ff/client/node'
import { shopFlags } from './shop-flags.ts'

// #region local
function createLocal() {
  const local = createLocalClient({
    url: process.env['FF_URL'] ?? '',
    sdkKey: process.env['FF_SDK_KEY'] ?? '',
    flags: shopFlags,
  })
  // The first requests of a process wait for the first values, five seconds at most.
  return { local, whenReady: local.ready() }
}

// Next.js can load a module several times in one process. All copies use the same client.
const held = globalThis as { localFlags?: ReturnType<typeof createLocal> }
held.localFlags ??= createLocal()

/** `local` evaluates flags in this process, for any user. */
export const { local, whenReady } = held.localFlags
// #endregion
