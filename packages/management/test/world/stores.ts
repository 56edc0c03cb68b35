import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memory, type Storage } from '@ff/storage'
import { sqlite } from '@ff/storage/sqlite'

interface OpenedStore {
  readonly storage: Storage
  /** Deletes the files of the store. Must be called after the store is closed. */
  readonly clean: () => void
}

/** The stores that need no database server, by name, for `describe.each`. */
export const stores: readonly (readonly [string, () => OpenedStore])[] = [
  ['memory', () => ({ storage: memory().storage, clean: () => undefined })],
  [
    'SQLite',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'ff-management-'))
      const { storage } = sqlite({ path: join(folder, 'flags.db') })
      return { storage, clean: () => rmSync(folder, { recursive: true }) }
    },
  ],
]
