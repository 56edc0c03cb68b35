import { existsSync } from 'node:fs'
import { link, mkdtemp, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FlagError, isFlagError } from '@ff/core'
import { syncFile, syncFolder } from './sync.ts'

/**
 * Creates a file completely or not at all, and returns the result of `write`, which writes the file
 * to the path that it receives. Throws `CONFLICT` if the file already exists, and `UNAVAILABLE` if
 * it cannot be written. The file is on the disk when the promise resolves.
 */
export async function createFile<T>(
  path: string,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  if (existsSync(path)) throw fileExists(path)
  let folder: string | undefined
  try {
    folder = await mkdtemp(`${path}-unfinished-`)
    const temporary = join(folder, basename(path))
    const result = await write(temporary)
    await syncFile(temporary, 'r+')
    await move(temporary, path)
    await syncFolder(dirname(path))
    return result
  } catch (error) {
    throw isSystemError(error) ? notWritable(path, error) : error
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** Moves a file, but never replaces another one. */
async function move(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch {
    if (existsSync(to)) throw fileExists(to)
    // The file system has no hard links.
    await rename(from, to)
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && !isFlagError(error) && 'syscall' in error
}

function fileExists(path: string): FlagError {
  return new FlagError('CONFLICT', `The file ${path} already exists.`)
}

function notWritable(path: string, cause: NodeJS.ErrnoException): FlagError {
  return new FlagError('UNAVAILABLE', `The file ${path} cannot be written.`, { cause })
}
