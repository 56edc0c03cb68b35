import { notMigrated, storeClosed } from '../ports/record-errors.ts'
import { KIND_RULES } from '../ports/records.ts'
import type { Storage } from '../ports/storage.ts'
import { createStorage } from '../ports/storage-core.ts'
import { SerialQueue } from '../runtime/serial-queue.ts'
import { MemoryLeases } from './memory-leases.ts'
import { MemorySession, type MemoryState } from './memory-session.ts'

/** Creates a store in the memory of this process. The records that it returns are frozen. */
export function createMemoryStorage(): Storage {
  const state = emptyState()
  const reader = new MemorySession(state)
  const writers = new SerialQueue()
  const leases = new MemoryLeases()
  let isMigrated = false
  let isClosed = false

  function refuseUnlessOpen(): void {
    if (isClosed) throw storeClosed()
    if (!isMigrated) throw notMigrated()
  }

  return createStorage({
    async migrate() {
      if (isClosed) throw storeClosed()
      isMigrated = true
    },
    async transaction(_lock, work) {
      refuseUnlessOpen()
      return writers.run(async () => {
        const session = new MemorySession(state)
        try {
          const result = await work(session)
          session.commit()
          return result
        } finally {
          session.end()
        }
      })
    },
    async claimLease(claim) {
      refuseUnlessOpen()
      return leases.claimLease(claim)
    },
    async findLeaseHolder(name) {
      return leases.findLeaseHolder(name)
    },
    async releaseLease(lease) {
      refuseUnlessOpen()
      return leases.releaseLease(lease)
    },
    async close() {
      isClosed = true
      await writers.run(async () => undefined)
    },
    committed() {
      refuseUnlessOpen()
      return reader
    },
  })
}

function emptyState(): MemoryState {
  const records = Object.keys(KIND_RULES).map((kind) => [kind, new Map()])
  return {
    records: Object.fromEntries(records) as MemoryState['records'],
    logs: new Map(),
    counts: new Map(),
    apiCalls: new Map(),
    sdkKeyVersion: 0,
  }
}
