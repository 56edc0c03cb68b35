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

/**
 * Wraps a store so that it rolls the first run of each transaction back and runs its work again, as
 * a database does after a deadlock. `between` runs after the first run, as another instance could.
 */
export function repeating(
  storage: Storage,
  between: (lock: string) => Promise<void> = async () => undefined,
): Storage {
  const rolledBack = new Error('The first run was rolled back.')
  const transaction: Storage['transaction'] = async (lock, work) => {
    const firstRun = storage.transaction(lock, async (tx) => {
      await work(tx)
      throw rolledBack
    })
    await firstRun.catch((error: unknown) => {
      if (error !== rolledBack) throw error
    })
    await between(lock)
    return storage.transaction(lock, work)
  }
  return { ...storage, transaction }
}

/** The stores that need no database server, by name, for `describe.each`. */
export const stores: readonly (readonly [string, () => OpenedStore])[] = [
  ['memory', () => ({ storage: repeating(memory().storage), clean: () => undefined })],
  [
    'SQLite',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'ff-management-'))
      const { storage } = sqlite({ path: join(folder, 'flags.db') })
      return { storage, clean: () => rmSync(folder, { recursive: true }) }
    },
  ],
]
