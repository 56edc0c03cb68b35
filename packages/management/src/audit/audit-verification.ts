import type { AuditFault, AuditVerification } from '@ff/protocol/management'
import type { AuditHead, Records, Storage } from '@ff/storage'
import { chainIn, chainName, entryId, hashOf, positionAfter } from '../changes/audit-chain.ts'
import { defineQuery } from '../changes/use-case.ts'
import { entriesInOrder, isDamage } from './audit-entries.ts'
import { auditedId, auditedOrganization } from './audit-log.ts'
import type { AuditWalks } from './audit-walks.ts'

type Reader = Pick<Storage, 'find' | 'list'>
type StoredEntry = Records['auditEvent']
type Broken = NonNullable<AuditVerification['firstBroken']>

/** Creates the use case that verifies the audit log. */
export function createAuditVerificationUseCases(auditWalks: AuditWalks) {
  return {
    /**
     * Walks an organization's chains, or all there are, and names the first entry that is not as it
     * was written. Changes may go on meanwhile: what is added after the beginning may be left out.
     * Throws `RATE_LIMITED` while another request walks through the same log.
     */
    verifyAuditLog: defineQuery('verifyAuditLog', {
      load: ({ query }, actor) => auditedOrganization(query, actor),
      async run({ storage, organization, query }) {
        const orgId = auditedId(organization, query.orgId)
        const walk = auditWalks.begin(orgId)
        try {
          const chains = new ChainWalk(storage, await headsOf(storage, orgId))
          const where = orgId === undefined ? {} : { orgId }
          const firstBroken = (await chains.through(entriesInOrder(storage, where, walk))) ?? null
          return { valid: firstBroken === null, entries: chains.entries, firstBroken }
        } finally {
          walk.end()
        }
      },
    }),
  }
}

async function headsOf(
  reader: Reader,
  orgId: string | undefined,
): Promise<ReadonlyMap<string, AuditHead>> {
  const heads =
    orgId === undefined
      ? (await reader.list('auditHead', {})).data
      : await Promise.all(
          (['changes', 'logins'] as const).map((log) =>
            reader.find('auditHead', chainName(log, orgId)),
          ),
        )
  return new Map(heads.flatMap((head) => (head === undefined ? [] : [[head.id, head]])))
}

/** One way through all chains, from entry to entry. */
class ChainWalk {
  readonly #reader: Reader
  /** As they were before the walk, so that every entry they know of must be met. */
  readonly #heads: ReadonlyMap<string, AuditHead>
  readonly #unmet: Map<string, AuditHead>
  #chain = ''
  #last: StoredEntry | undefined
  #entries = 0

  constructor(reader: Reader, heads: ReadonlyMap<string, AuditHead>) {
    this.#reader = reader
    this.#heads = heads
    this.#unmet = new Map(heads)
  }

  /** How many entries were found to be sound. */
  get entries(): number {
    return this.#entries
  }

  /** The first that is broken, if one is. */
  async through(entries: AsyncIterable<StoredEntry>): Promise<Broken | undefined> {
    try {
      for await (const entry of entries) {
        const broken = (await this.#enter(chainIn(entry.id))) ?? (await this.#next(entry))
        if (broken !== undefined) return broken
        this.#last = entry
        this.#entries += 1
      }
    } catch (error) {
      if (!isDamage(error)) throw error
      return this.#expected('unreadable')
    }
    return (await this.#end()) ?? this.#chainWithoutEntries()
  }

  /** What is wrong at the end of the chain before, when another one begins. */
  async #enter(chain: string): Promise<Broken | undefined> {
    if (chain === this.#chain && this.#last !== undefined) return undefined
    const broken = await this.#end()
    this.#chain = chain
    this.#last = undefined
    this.#unmet.delete(chain)
    return broken
  }

  async #next(entry: StoredEntry): Promise<Broken | undefined> {
    const last = this.#last
    const { id, orgId, sequence, previousHash, hash, position } = entry
    const actual = await hashOf(entry).catch(() => undefined)
    if (actual !== hash) return brokenAt(entry, 'changed')
    const chains = [chainName('changes', orgId), chainName('logins', orgId)]
    if (!chains.includes(this.#chain) || id !== entryId(this.#chain, sequence)) {
      return brokenAt(entry, 'inserted')
    }
    if (sequence !== (last?.sequence ?? 0) + 1) return this.#expected('missing')
    if (previousHash !== (last?.hash ?? '')) return brokenAt(last ?? entry, 'replaced')
    if (position !== positionAfter(last?.position, entry)) return brokenAt(entry, 'changed')
    const head = this.#heads.get(this.#chain)
    const isKnown = sequence !== head?.sequence || isHead(entry, head)
    return isKnown ? undefined : brokenAt(entry, 'replaced')
  }

  /** Compares the end of the present chain with its head. */
  async #end(): Promise<Broken | undefined> {
    const last = this.#last
    if (last === undefined) return undefined
    const before = this.#heads.get(this.#chain)
    if (before !== undefined && last.sequence === before.sequence) return undefined
    if (before !== undefined && last.sequence < before.sequence) return this.#expected('tail_cut')
    // Entries that were added meanwhile have moved the head in the same transaction.
    const now = await this.#reader.find('auditHead', this.#chain)
    if (now === undefined) return brokenAt(last, 'head_missing')
    if (last.sequence < now.sequence || isHead(last, now)) return undefined
    return brokenAt(last, last.sequence === now.sequence ? 'replaced' : 'inserted')
  }

  #chainWithoutEntries(): Broken | undefined {
    for (const [chain, { sequence }] of this.#unmet) {
      if (sequence > 0) return { id: entryId(chain, 1), sequence: 1, reason: 'tail_cut' }
    }
    return undefined
  }

  /** Something is wrong where the next entry of the present chain should be. */
  #expected(reason: AuditFault): Broken {
    const sequence = (this.#last?.sequence ?? 0) + 1
    return { id: entryId(this.#chain, sequence), sequence, reason }
  }
}

function isHead({ sequence, hash, position }: StoredEntry, head: AuditHead): boolean {
  return sequence === head.sequence && hash === head.hash && position === head.position
}

function brokenAt({ id, sequence }: StoredEntry, reason: AuditFault): Broken {
  return { id: String(id), sequence: Number.isInteger(sequence) ? sequence : 0, reason }
}
