import { randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import { type Config, SECRET_KEY } from '../config.ts'

type Settings = Pick<Config, 'dataDir' | 'secretKeys'> & Partial<Pick<Config, 'database'>>

/** Returns the path of the key in the data folder. */
export function keyFileOf(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

/** Throws `ConfigError` if the instances with one database have no common key. */
export function assertSharedKey({ database, secretKeys }: Omit<Settings, 'dataDir'>): void {
  if (database === undefined || secretKeys.length > 0) return
  throw new ConfigError(
    'FF_SECRET_KEY must be set if DATABASE_URL is set, to the same key for all servers with this database. Create it with "openssl rand -base64 32".',
  )
}

/**
 * Returns the keys that encrypt stored secrets: the configured keys, then the key in the data
 * directory. The first key encrypts, all keys decrypt. If there is no key, one is created in the
 * data directory, readable only by the owner. Throws `ConfigError` if the stored key is malformed.
 * With a database, returns only the configured keys.
 */
export async function secretKeysOf({
  dataDir,
  database,
  secretKeys: configured,
}: Settings): Promise<readonly string[]> {
  if (database !== undefined) return configured
  const path = keyFileOf(dataDir)
  const stored = await readKey(path)
  if (stored !== undefined && !SECRET_KEY.test(stored)) {
    throw new ConfigError(`${path} does not contain a secret key. Restore it from a backup.`)
  }
  if (stored !== undefined) return [...configured, stored]
  return configured.length > 0 ? configured : [await createKey(path)]
}

async function readKey(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes a new key to a temporary file and renames it, so that `path` never has a partial key. */
async function createKey(path: string): Promise<string> {
  const key = randomBytes(32).toString('base64')
  const draft = `${path}.new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(`${key}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  return key
}
