import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from '../src/ports/storage.ts'
import { sqlite } from '../src/sqlite/sqlite.ts'

/** The content of the file of a migrated store without records. */
let migrated: Promise<Buffer> | undefined

/**
 * Opens a store in a file that does not exist. Its first `migrate` copies the file of a migrated
 * store, which takes less time than creating the tables.
 */
export function openMigratedSqlite(path: string): Storage {
  const { storage } = sqlite({ path })
  let copy: Promise<void> | undefined
  return {
    ...storage,
    async migrate() {
      copy ??= writeMigratedFile(path)
      await copy
      await storage.migrate()
    },
  }
}

async function writeMigratedFile(path: string): Promise<void> {
  migrated ??= readMigratedFile()
  await writeFile(path, await migrated)
}

async function readMigratedFile(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'ff-migrated-'))
  const path = join(folder, 'flags.db')
  try {
    const { storage } = sqlite({ path })
    await storage.migrate()
    await storage.close()
    return await readFile(path)
  } finally {
    await rm(folder, { recursive: true })
  }
}
