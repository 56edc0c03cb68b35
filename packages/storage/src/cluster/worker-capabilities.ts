import type { Capabilities } from '../ports/capabilities.ts'
import { sqliteDialect } from '../sql/dialect.ts'
import { createSqlStorage } from '../sql/sql-storage.ts'
import { openDataFile } from '../sqlite/data-file.ts'
import { type BareLink, linkAbout, type ToPrimary, type ToWorker } from './link.ts'
import { RelayedDriver } from './relayed-driver.ts'
import { WorkerEnd } from './worker-end.ts'

/** Everything a server needs, by a link to the primary that serves the same data file. */
export function workerCapabilities(path: string, link: BareLink): Required<Capabilities> {
  const primary = new WorkerEnd(linkAbout<ToPrimary, ToWorker>(path, link))
  const driver = new RelayedDriver(primary, openDataFile(path, { readsOnly: true }))
  return {
    storage: createSqlStorage(driver, sqliteDialect),
    changeFeed: primary.changeFeed,
    rateLimiter: primary.rateLimiter,
  }
}
