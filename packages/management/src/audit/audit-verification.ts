import type { AuditFault, AuditLog, AuditVerification } from '@ff/protocol/management'
import type { AuditHead, Records } from '@ff/storage'
import { chainIn, chainName, entryId, hashOf, positionAfter } from '../changes/audit-chain.ts'
import type { Reader } from '../changes/record-writer.ts'
import { defineQuery } from '../changes/use-case.ts'
import { entriesInOrder, isDamage } from './audit-entries.ts'
import { auditedId, auditedOrganization } from './audit-log.ts'
import type { AuditWalks } from './audit-walks.ts'

type StoredEntry = Records['auditEvent']
type Broken = NonNullable<AuditVerification['firstBroken']>

/** Creates the use case that verifies the audit log. */
export function createAuditVerificationUseCases(auditWalks: AuditWalks) {
  return {
    /**
     * Verifies the chains of an organization, or all chains, and returns the first entry that is
     * not as it was written. Entries that are added during the verification are not necessarily
     * verified. Throws `RATE_LIMITED` while another request exports or verifies the same log.
     */
    verifyAuditLog: defineQuery('verifyAuditLog', {
      load: ({ query }, actor) => auditedOrganization(query, actor),
      async run({ storage, organization, query }) {
        const orgId = auditedId(organization, query.orgId)
        const walk = auditWalks.begin(orgId)
        try {
          const heads = await loadHeads(storage, orgId)
          const where = orgId === undefined ? {} : { orgId }
          const entries = entriesInOrder(storage, where, walk)
          return await verifyEntries(entries, { reader: storage, heads })
        } finally {
          walk.end()
        }
      },
    }),
  }
}

async function loadHeads(
  reader: Reader,
  orgId: string | undefined,
): Promise<ReadonlyMap<string, AuditHead>> {
  const ofOrganization = (log: AuditLog) => reader.find('auditHead', chainName(log, orgId ?? ''))
  const heads =
    orgId === undefined
      ? (await reader.list('auditHead', {})).data
      : [await ofOrganization('changes'), await ofOrganization('logins')]
  return new Map(heads.flatMap((head) => (head === undefined ? [] : [[head.id, head]])))
}

/** A position in the sequence of all entries, chain by chain. */
interface Place {
  readonly chain: string
  /** The last entry of the chain that was verified; `undefined` at the start of the chain. */
  readonly last: StoredEntry | undefined
}

interface Chains {
  readonly reader: Reader
  /**
   * The heads at the start of the verification, by chain. Each chain must contain the entry of its
   * head.
   */
  readonly heads: ReadonlyMap<string, AuditHead>
}

/** Verifies and counts entries up to the first broken entry. */
async function verifyEntries(
  entries: AsyncIterable<StoredEntry>,
  chains: Chains,
): Promise<AuditVerification> {
  const unmet = new Map(chains.heads)
  let place: Place = { chain: '', last: undefined }
  let count = 0
  const result = (firstBroken: Broken | null = null) => {
    return { valid: firstBroken === null, entries: count, firstBroken }
  }
  try {
    for await (const entry of entries) {
      const chain = chainIn(entry.id)
      let broken: Broken | undefined
      if (chain !== place.chain || place.last === undefined) {
        broken = await findBrokenEnd(place, chains)
        place = { chain, last: undefined }
        unmet.delete(chain)
      }
      broken ??= await findBroken(entry, place, chains)
      if (broken !== undefined) return result(broken)
      place = { chain, last: entry }
      count += 1
    }
  } catch (error) {
    if (!isDamage(error)) throw error
    return result(brokenAfter(place, 'unreadable'))
  }
  return result((await findBrokenEnd(place, chains)) ?? chainWithoutEntries(unmet))
}

/**
 * Returns the fault of `entry`, the next entry of its chain, or the fault that an entry before it
 * is missing; `undefined` if there is no fault.
 */
async function findBroken(
  entry: StoredEntry,
  place: Place,
  { heads }: Chains,
): Promise<Broken | undefined> {
  const { chain, last } = place
  const { id, orgId, sequence, previousHash, hash, position } = entry
  const actual = await hashOf(entry).catch(() => undefined)
  if (actual !== hash) return brokenAt(entry, 'changed')
  const chains = [chainName('changes', orgId), chainName('logins', orgId)]
  if (!chains.includes(chain) || id !== entryId(chain, sequence)) return brokenAt(entry, 'inserted')
  if (sequence !== (last?.sequence ?? 0) + 1) return brokenAfter(place, 'missing')
  if (previousHash !== (last?.hash ?? '')) return brokenAt(last ?? entry, 'replaced')
  if (position !== positionAfter(last?.position, entry)) return brokenAt(entry, 'changed')
  const head = heads.get(chain)
  const isKnown = sequence !== head?.sequence || isHead(entry, head)
  return isKnown ? undefined : brokenAt(entry, 'replaced')
}

/** Compares the end of a chain with its head and returns the fault; `undefined` if they match. */
async function findBrokenEnd(place: Place, { reader, heads }: Chains): Promise<Broken | undefined> {
  const { chain, last } = place
  if (last === undefined) return undefined
  const before = heads.get(chain)
  if (before !== undefined && last.sequence === before.sequence) return undefined
  if (before !== undefined && last.sequence < before.sequence) return brokenAfter(place, 'tail_cut')
  // A transaction that added entries during the verification has also moved the head.
  const now = await reader.find('auditHead', chain)
  if (now === undefined) return brokenAt(last, 'head_missing')
  if (last.sequence < now.sequence || isHead(last, now)) return undefined
  return brokenAt(last, last.sequence === now.sequence ? 'replaced' : 'inserted')
}

function chainWithoutEntries(unmet: ReadonlyMap<string, AuditHead>): Broken | undefined {
  const head = [...unmet.values()].find(({ sequence }) => sequence > 0)
  return head && brokenAfter({ chain: head.id, last: undefined }, 'tail_cut')
}

/** Returns a fault of the entry that follows `last` in its chain. */
function brokenAfter({ chain, last }: Place, reason: AuditFault): Broken {
  const sequence = (last?.sequence ?? 0) + 1
  return { id: entryId(chain, sequence), sequence, reason }
}

function isHead({ sequence, hash, position }: StoredEntry, head: AuditHead): boolean {
  return sequence === head.sequence && hash === head.hash && position === head.position
}

function brokenAt({ id, sequence }: StoredEntry, reason: AuditFault): Broken {
  return { id: String(id), sequence: Number.isInteger(sequence) ? sequence : 0, reason }
}
