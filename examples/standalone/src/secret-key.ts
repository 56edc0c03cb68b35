import { randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The keys under which secrets that must be read back are kept: those that the operator gives,
 * the first for new secrets, then that of the data directory, so that what it has sealed still
 * opens. Where there is none at all, one is made there, for the owner's eyes only.
 */
export async function secretKeysOf(
  dataDir: string,
  given: readonly string[],
): Promise<readonly string[]> {
  const path = join(dataDir, 'secret.key')
  const kept = await readKey(path)
  if (kept !== undefined) return [...given, kept]
  return given.length > 0 ? given : [await makeKey(path)]
}

async function readKey(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Written beside and moved into place: a key that is there is whole, and stays. */
async function makeKey(path: string): Promise<string> {
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
