import type { As } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer, type FlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'

// #region flags
// Next.js can load a module several times in one process. All copies use the same server.
const held = globalThis as { flags?: FlagServer<As> }

held.flags ??= createFlagServer({
  ...sqlite({ path: process.env.FLAGS_DB ?? './data/flags.db' }),
  basePath: '/flags',
  management: createManagement(),
})

/** The flag server of this process. */
export const flags = held.flags
// #endregion
