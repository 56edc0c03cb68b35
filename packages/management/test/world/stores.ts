import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memory, type Storage } from '@ff/storage'
import { sqlite } from '@ff/storage/sqlite'

interface OpenedStore {
  readonly storage: Storage
  /** After the store was closed. */
  readonly clean: () => void
}

/** Every store that needs no server, by name: for `describe.each`. */
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
