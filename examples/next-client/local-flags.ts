import { createLocalClient } from '@ff/client/node'
import { shopFlags } from './shop-flags.ts'

// #region local
const createLocal = () =>
  createLocalClient({
    url: process.env['FF_URL'] ?? '',
    sdkKey: process.env['FF_SDK_KEY'] ?? '',
    flags: shopFlags,
  })

// Next.js can load a module several times in one process. All copies use the same client.
const held = globalThis as { localFlags?: ReturnType<typeof createLocal> }
held.localFlags ??= createLocal()

/** Evaluates flags in this process, for any user. */
export const local = held.localFlags
// #endregion
