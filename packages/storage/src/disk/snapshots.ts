import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { FlagError } from '@ff/core'
import type { Snapshot, Snapshots } from '../ports/snapshots.ts'
import { replaceFile, UNFINISHED } from './replaced-file.ts'
import { decodeSnapshot, encodeSnapshot } from './snapshot-file.ts'

/** The folder of the snapshots. */
export interface SnapshotFolderOptions {
  /**
   * The path of a folder on a local disk. It is created if it does not exist. All servers that use
   * it must have the same store.
   */
  readonly path: string
}

const EXTENSION = '.snapshot'
/** The age of an unfinished file from which its process has certainly ended. */
const ABANDONED_MS = 3_600_000

/**
 * Keeps snapshots in a folder, one file for each name. The modification time of a file is the time
 * of its confirmation. Throws `INVALID_REQUEST` if `path` is not a text.
 *
 * @example
 * createFlagServer({ ...postgres({ url }), snapshots: snapshotFolder({ path: './snapshots' }) })
 */
export function snapshotFolder({ path }: SnapshotFolderOptions): Snapshots {
  if (typeof path !== 'string' || path === '') {
    throw new FlagError('INVALID_REQUEST', '`path` must be the path of a folder.')
  }
  return new SnapshotFolder(path)
}

class SnapshotFolder implements Snapshots {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async open(): Promise<void> {
    const probe = join(this.#folder, `${randomUUID()}${UNFINISHED}`)
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await (await open(probe, 'wx', 0o600)).close()
      await rm(probe)
    } catch (error) {
      const message = `\`path\`: The folder ${this.#folder} ${reasonOf(error)}.`
      throw new FlagError('INVALID_REQUEST', message)
    }
  }

  async load(name: string): Promise<Snapshot | undefined> {
    const path = this.#pathOf(name)
    try {
      const { mtimeMs } = await stat(path)
      return { text: decodeSnapshot(path, await readFile(path)), confirmedAt: mtimeMs }
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw codeOf(error) === undefined ? error : unavailable(path, 'read', error)
    }
  }

  async save(name: string, parts: Iterable<string>): Promise<void> {
    const path = this.#pathOf(name)
    try {
      await replaceFile(path, encodeSnapshot(parts))
    } catch (error) {
      throw codeOf(error) === undefined ? error : unavailable(path, 'written', error)
    }
  }

  async confirm(names: readonly string[], at: number): Promise<void> {
    const time = new Date(at)
    for (const name of names) {
      try {
        await utimes(this.#pathOf(name), time, time)
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw unavailable(this.#pathOf(name), 'written', error)
      }
    }
  }

  async removeUnconfirmed(before: number): Promise<void> {
    const abandoned = Date.now() - ABANDONED_MS
    try {
      for (const file of await readdir(this.#folder)) {
        if (file.endsWith(EXTENSION)) await this.#removeOlder(file, before)
        if (file.endsWith(UNFINISHED)) await this.#removeOlder(file, abandoned)
      }
    } catch (error) {
      throw unavailable(this.#folder, 'read', error)
    }
  }

  async #removeOlder(file: string, before: number): Promise<void> {
    const path = join(this.#folder, file)
    // Another process can have removed the file.
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: before }))
    if (mtimeMs < before) await rm(path, { force: true })
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${name}${EXTENSION}`)
  }
}

const NOT_WRITABLE = 'cannot be read and written by this user'

/** What is wrong with a folder, by the code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'is a file',
  ENOTDIR: 'has a file in its path',
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: 'is on a read-only file system',
  ENOSPC: 'is on a full disk',
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  return REASONS[String(code)] ?? `cannot be used (${code ?? error})`
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'syscall' in error && 'code' in error ? error.code : undefined
}

function unavailable(path: string, what: 'read' | 'written', cause: unknown): FlagError {
  return new FlagError('UNAVAILABLE', `${path} cannot be ${what}.`, { cause })
}
