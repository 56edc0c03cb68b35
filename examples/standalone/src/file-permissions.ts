import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from '@ff/server'

/** The permissions of everyone except the owner of a file. */
const OTHERS = 0o077

/**
 * Logs a warning for the data folder and each data file that other users of the machine may open:
 * they hold password hashes. Windows has no such permissions, and no warnings.
 */
export function warnOfWidePermissions(dataFile: string, logger: Logger): void {
  if (process.platform === 'win32') return
  for (const path of [dirname(dataFile), dataFile, `${dataFile}-wal`, `${dataFile}-shm`]) {
    const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777
    if ((mode & OTHERS) === 0) continue
    const fields = { path, permissions: mode.toString(8), advice: `chmod go= ${path}` }
    logger.warn('other users of this machine may open the data', fields)
  }
}
