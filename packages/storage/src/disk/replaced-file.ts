import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from './sync.ts'

/** The end of the name of a file that is being written. */
export const UNFINISHED = '.unfinished'

/**
 * Replaces a file completely or not at all. The file is on the disk when the promise resolves. Only
 * its owner can read it.
 */
export async function replaceFile(path: string, parts: Iterable<string>): Promise<void> {
  const temporary = `${path}.${randomUUID()}${UNFINISHED}`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      for (const part of parts) await file.write(part)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    await syncFolder(dirname(path))
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}
