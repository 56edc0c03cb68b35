/// <reference types="node" />
import { readFileSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { textHash } from '@ff/protocol/snapshot'
import type { FlagCache } from '../values/value-cache.ts'

let files = 0

/**
 * Creates a cache in a folder, which is created if it does not exist. A file is written completely
 * under another name, synchronized with the disk and renamed, so that a reader never finds half a
 * file. Several processes can use one folder. If a file cannot be written, the error names the folder
 * and the cause, such as `EACCES`.
 */
export function diskCache(folder: string): FlagCache {
  const pathOf = (name: string) => join(folder, `ff-${textHash(name)}.json`)
  return {
    get: (name) => textOf(pathOf(name)),
    async set(name, text) {
      try {
        await mkdir(folder, { recursive: true })
        await replaceFile(pathOf(name), text)
      } catch (cause) {
        // The message of the cause contains the name of a temporary file, which always differs.
        const { code } = cause as { readonly code?: unknown }
        const error = new Error(`The flag cache ${folder} cannot be written: ${code}`, { cause })
        throw Object.assign(error, { code })
      }
    },
    remove: (name) => rm(pathOf(name), { force: true }),
  }
}

/** Returns the text of a file; `undefined` if the file does not exist. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined
    throw error
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  files += 1
  const temporary = `${path}.${process.pid}-${files}.tmp`
  try {
    // Other users must not read the rules of flags.
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
