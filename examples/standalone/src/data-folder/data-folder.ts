import { constants, existsSync, statSync } from 'node:fs'
import { access, link, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import type { Config } from '../config.ts'

const FILE = 'ff.sqlite'
/** The name of the folder of an unfinished store. `mkdtemp` appends six characters. */
const UNFINISHED = 'first-start-'
/** Matches also the folder of an unfinished restore. */
const UNFINISHED_NAME = new RegExp(
  `^(?:${UNFINISHED}|${FILE.replace('.', '\\.')}-unfinished-)\\w{6}$`,
)

/** Returns the path of the database in the data folder. */
export function dataFileOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, FILE)
}

/**
 * Creates the data folder if it does not exist, deletes the unfinished stores of interrupted first
 * starts and restores, and returns `true` if the folder contains a store. Throws `ConfigError` if
 * the folder cannot be used, or contains parts of a store without the data file or with an empty one.
 */
export async function openDataFolder(dataDir: string): Promise<boolean> {
  const names = await listWritable(dataDir)
  for (const name of names.filter((each) => UNFINISHED_NAME.test(each))) {
    await rm(join(dataDir, name), { recursive: true, force: true })
  }
  const dataFile = join(dataDir, FILE)
  if (existsSync(dataFile)) {
    if (statSync(dataFile).size > 0) return true
    throw new ConfigError(
      `${dataFile} is empty: it has 0 bytes. Restore a backup, or delete the file to create a new store.`,
    )
  }
  // SQLite would apply an old log to the new file. A link without its target shows as a name.
  const rest = names.find((name) => [FILE, `${FILE}-wal`, `${FILE}-journal`].includes(name))
  if (rest === undefined) return false
  throw new ConfigError(
    `${join(dataDir, rest)} belongs to a store whose data file ${FILE} is missing. Restore the data file, or move ${rest} away to create a new store.`,
  )
}

/** Creates a folder for an unfinished store, and returns the path of the store's data file. */
export async function createUnfinished(dataDir: string): Promise<string> {
  return join(await mkdtemp(join(dataDir, UNFINISHED)), FILE)
}

/**
 * Throws `ConfigError` if changes of a closed store are only in its log. SQLite keeps the log if it
 * cannot write the changes to the data file.
 */
export function assertComplete(dataFile: string): void {
  if (!existsSync(`${dataFile}-wal`)) return
  throw new ConfigError(`${dataFile} could not be written completely. Check the free disk space.`)
}

/**
 * Moves the data file of an unfinished store to its final place. A killed process has moved it
 * completely or not at all. Throws `ConfigError`, and changes nothing, if another process has
 * created a store or deleted the unfinished one.
 */
export async function finish(unfinished: string, dataDir: string): Promise<void> {
  const path = join(dataDir, FILE)
  try {
    await link(unfinished, path)
  } catch {
    if (existsSync(path) || !existsSync(unfinished)) throw overtaken(dataDir)
    // The file system has no hard links. Unlike `rename`, `link` never replaces a file.
    await rename(unfinished, path)
  }
  await rm(join(unfinished, '..'), { recursive: true })
}

function overtaken(dataDir: string): ConfigError {
  return new ConfigError(
    `Another process has created a store in ${dataDir} at the same time. The printed secrets are not valid; use those of the other process.`,
  )
}

async function listWritable(dataDir: string): Promise<readonly string[]> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return await readdir(dataDir)
  } catch (error) {
    throw refusal(dataDir, error)
  }
}

function refusal(dataDir: string, error: unknown): ConfigError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const reason = REASONS[String(code)] ?? `cannot be used (${code ?? error})`
  return new ConfigError(`The data folder ${dataDir} ${reason}; set FF_DATA_DIR to another path.`)
}

const NOT_WRITABLE = 'cannot be read and written by this user'

/** What is wrong with the data folder, by the code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'is a file',
  ENOTDIR: 'has a file in its path',
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: 'is on a read-only file system',
}
