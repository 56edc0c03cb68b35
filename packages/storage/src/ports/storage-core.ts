import type { Leases } from './leases.ts'
import type { Storage, StorageSession } from './storage.ts'

/** The functions from which `createStorage` builds a store. */
export interface StorageCore extends Pick<Storage, 'migrate' | 'transaction' | 'close'>, Leases {
  /**
   * Returns a session that sees only committed data and is used only for reading. Throws
   * `UNAVAILABLE` before `migrate`. After `close`, either this method or the session throws
   * `UNAVAILABLE`.
   */
  committed(): StorageSession
}

const COUNTING = 'evaluation counts'

/** Returns a lock that no other transaction takes, for calls that need none. */
const ownLock = () => crypto.randomUUID()

/** Returns the lock for numbers of an instance. Other instances do not wait for it. */
function countingOf([first]: readonly { readonly instanceId: string }[]): string {
  return `${COUNTING} ${first?.instanceId}`
}

/**
 * Creates a store from its core. Outside a transaction, reads see committed data, and each write
 * runs in its own transaction.
 */
export function createStorage(core: StorageCore): Storage {
  const transaction: Storage['transaction'] = (lock, work) => core.transaction(lock, work)
  return {
    migrate: () => core.migrate(),
    transaction,
    close: () => core.close(),
    claimLease: (claim) => core.claimLease(claim),
    findLeaseHolder: (name) => core.findLeaseHolder(name),
    releaseLease: (lease) => core.releaseLease(lease),
    find: async (kind, id) => core.committed().find(kind, id),
    hold: async (kind, id) => core.committed().find(kind, id),
    findDeleted: async (kind, id) => core.committed().findDeleted(kind, id),
    list: async (kind, query) => core.committed().list(kind, query),
    findVersions: async (ids) => core.committed().findVersions(ids),
    listVersions: async (...input) => core.committed().listVersions(...input),
    loadFlagSet: async (...input) => core.committed().loadFlagSet(...input),
    loadChanges: async (...input) => core.committed().loadChanges(...input),
    loadFlagHistory: async (...input) => core.committed().loadFlagHistory(...input),
    loadEvaluationCounts: async (query) => core.committed().loadEvaluationCounts(query),
    loadContexts: async (query) => core.committed().loadContexts(query),
    insert: (kind, record) => transaction(kind, (tx) => tx.insert(kind, record)),
    update: (kind, id, changes, expectedRevision) =>
      transaction(kind, (tx) => tx.update(kind, id, changes, expectedRevision)),
    revive: (kind, id) => transaction(kind, (tx) => tx.revive(kind, id)),
    purge: (kind, query) => transaction(kind, (tx) => tx.purge(kind, query)),
    publish: (...input) => transaction(input[0], (tx) => tx.publish(...input)),
    addEvaluationCounts: (counts) =>
      transaction(countingOf(counts), (tx) => tx.addEvaluationCounts(counts)),
    markEvaluated: (ids, at) => transaction(ownLock(), (tx) => tx.markEvaluated(ids, at)),
    loadApiCalls: async (ids) => core.committed().loadApiCalls(ids),
    addApiCalls: (calls) => transaction(countingOf(calls), (tx) => tx.addApiCalls(calls)),
    takeApiCalls: (id) => transaction(id, (tx) => tx.takeApiCalls(id)),
    dropEvaluationCounts: (beforeMinute) =>
      transaction(COUNTING, (tx) => tx.dropEvaluationCounts(beforeMinute)),
    recordContextSamples: (samples) =>
      transaction('observedContext', (tx) => tx.recordContextSamples(samples)),
    claimDeliveries: (claim) => transaction(ownLock(), (tx) => tx.claimDeliveries(claim)),
  }
}
