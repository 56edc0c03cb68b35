import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from '@ff/server'

/** The permission bits of all users except the owner. */
const OTHERS = 0o077

/**
 * Logs a warning for the data folder and each data file that other users of the machine can open,
 * because the files contain password hashes. Does nothing on Windows, which has no such
 * permissions.
 */
export function warnOfWidePermissions(dataFile: string, logger: Logger): void {
  if (process.platform === 'win32') return
  for (const path of [dirname(dataFile), dataFile, `${dataFile}-wal`, `${dataFile}-shm`]) {
    const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777
    if ((mode & OTHERS) === 0) continue
    const fields = { path, permissions: mode.toString(8), advice: `chmod go= ${path}` }
    logger.warn('Other users of this machine can open the data', fields)
  }
}
