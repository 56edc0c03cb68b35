import type { AuditLog } from '@ff/protocol/management'
import type { Logger } from '@ff/server'
import { MAX_RECENT_EVENTS, type RecentEvents, type Records } from '@ff/storage'
import { chainName, entryId, hashOf, positionAfter } from '../changes/audit-chain.ts'
import type { ReadableStorage } from '../changes/use-case.ts'
import { given } from '../requests/filters.ts'

type Entry = Records['auditEvent']

/** The number of verified copies that stay in memory, each of at most about 2 MiB of text. */
const MOST_VERIFIED = 4
/** The number of entries that are compared without interruption. */
const COMPARED_AT_ONCE = 100

interface RecentEntriesOptions {
  /** The copies of the newest entries; `undefined` to read the store. */
  readonly recentEvents: RecentEvents | undefined
  readonly logger: Logger
}

/** A copy of the newest entries of a chain, whose hashes were computed. */
interface VerifiedCopy {
  /** The hash of the newest entry. */
  readonly head: string
  readonly entries: readonly Entry[]
}

/**
 * Reads the newest entries of the audit log from copies outside the store. An altered copy is
 * reported and replaced.
 */
export class RecentEntries {
  readonly #options: RecentEntriesOptions
  /** The verified copies by chain, beginning with the one that was unused for the longest time. */
  readonly #verified = new Map<string, VerifiedCopy>()

  constructor(options: RecentEntriesOptions) {
    this.#options = options
  }

  /** Returns the newest entries of a log, of one organization or of all. */
  async list(
    storage: ReadableStorage,
    log: AuditLog,
    orgId: string | undefined,
  ): Promise<readonly Entry[]> {
    const { recentEvents } = this.#options
    if (recentEvents === undefined || orgId === undefined) return newestInStore(storage, log, orgId)
    const chain = chainName(log, orgId)
    const head = await storage.find('auditHead', chain)
    if (head === undefined) return []
    const known = this.#verified.get(chain)
    const copy =
      known?.head === head.hash ? known : await this.#read(recentEvents, chain, head.hash)
    if (copy !== undefined) {
      this.#remember(chain, copy)
      return copy.entries
    }
    const newest = await newestInStore(storage, log, orgId)
    void recentEvents.fill(chain, newest)
    return newest
  }

  async #read(
    recentEvents: RecentEvents,
    chain: string,
    head: string,
  ): Promise<VerifiedCopy | undefined> {
    const entries = await recentEvents.find(chain, head)
    if (entries === undefined) return undefined
    const copy = { head, entries }
    if (await isIntact(copy, chain, this.#verified.get(chain)?.entries)) return copy
    this.#options.logger.error('The copy of an audit log was altered and is replaced', { chain })
    return undefined
  }

  #remember(chain: string, copy: VerifiedCopy): void {
    this.#verified.delete(chain)
    this.#verified.set(chain, copy)
    for (const [oldest] of this.#verified) {
      if (this.#verified.size <= MOST_VERIFIED) break
      this.#verified.delete(oldest)
    }
  }
}

/**
 * Returns `true` if each entry has the hash that the entry after it, or the head, refers to. The
 * hashes of entries that equal a verified entry are not computed again.
 */
async function isIntact(
  { head, entries }: VerifiedCopy,
  chain: string,
  verified: readonly Entry[] = [],
): Promise<boolean> {
  const byHash = new Map(verified.map((entry) => [entry.hash, entry]))
  let expected = head
  for (const [index, entry] of entries.entries()) {
    if (entry.hash !== expected || entry.id !== entryId(chain, entry.sequence)) return false
    const known = byHash.get(entry.hash)
    const isKnown = known !== undefined && JSON.stringify(known) === JSON.stringify(entry)
    if (!isKnown && (await hashOf(entry).catch(() => undefined)) !== expected) return false
    const before = entries[index + 1]
    // The position of an altered entry can have any type.
    const position = before && positionAfter(String(before.position), entry)
    if (position !== undefined && entry.position !== position) return false
    expected = entry.previousHash
    if (index % COMPARED_AT_ONCE === COMPARED_AT_ONCE - 1) await nextTurn()
  }
  return true
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

async function newestInStore(
  storage: ReadableStorage,
  log: AuditLog,
  orgId: string | undefined,
): Promise<readonly Entry[]> {
  const { data } = await storage.list('auditEvent', {
    where: given({ orgId }),
    range: { field: 'id', from: `${log}:`, to: `${log};` },
    sort: { field: 'position', direction: 'desc' },
    limit: MAX_RECENT_EVENTS,
  })
  return data
}
