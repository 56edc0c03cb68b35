import type { Storage, StorageSession } from '@ff/storage'
import type { RowWriter } from './row-writer.ts'

/** How exactly it is known when a flag was last evaluated. */
const QUARTER_MS = 15 * 60_000

/** How many flags are marked in one transaction. */
const FLAGS_A_TRANSACTION = 200

/** What an environment's use adds to its organization and its flags. */
interface Usage {
  requests: number
  /** The quarter of an hour in which flags were evaluated, in epoch milliseconds, by id. */
  readonly flags: Map<string, number>
}

/**
 * How much an organization asks and when its flags were last evaluated, on its way to the
 * organization's and the flags' records. That is nobody's change of them: revisions stay.
 */
export class OrganizationUsage {
  readonly #storage: Storage
  readonly #writer: RowWriter
  readonly #waiting = new Map<string, Usage>()
  /** By environment; which organization it belongs to never changes. */
  readonly #organizations = new Map<string, string>()
  /** The flags that need no mark any more in this quarter of an hour. */
  readonly #marked = new Set<string>()
  #quarter = 0
  #dropped = 0
  #droppedFlags = 0

  constructor(storage: Storage, writer: RowWriter) {
    this.#storage = storage
    this.#writer = writer
  }

  /** How many environments have something to be written. */
  get size(): number {
    return this.#waiting.size
  }

  /** How many requests will never be written: their organization is gone, or the store refused them. */
  get dropped(): number {
    return this.#dropped
  }

  /** How many times the store refused to keep when a flag was evaluated. */
  get droppedFlags(): number {
    return this.#droppedFlags
  }

  addRequests(environmentId: string, requests: number): void {
    this.#usageOf(environmentId).requests += requests
  }

  /** The flag was evaluated at this instant, in epoch milliseconds. */
  markFlag(environmentId: string, flagId: string, at: number): void {
    const quarter = Math.floor(at / QUARTER_MS) * QUARTER_MS
    if (quarter > this.#quarter) {
      this.#quarter = quarter
      this.#marked.clear()
    }
    if (!this.#marked.has(flagId)) putLater(this.#usageOf(environmentId).flags, flagId, quarter)
  }

  /** The organization of an environment; undefined when it is gone. */
  async organizationOf(environmentId: string): Promise<string | undefined> {
    const known = this.#organizations.get(environmentId)
    if (known !== undefined) return known
    const environment = await this.#storage.find('environment', environmentId)
    if (environment === undefined) return undefined
    const project = await this.#storage.find('project', environment.projectId)
    if (project !== undefined) this.#organizations.set(environmentId, project.orgId)
    return project?.orgId
  }

  /** Writes what waits; what cannot be written waits again, behind what comes meanwhile. */
  async write(): Promise<void> {
    for (const [environmentId, usage] of [...this.#waiting]) {
      this.#waiting.delete(environmentId)
      try {
        await this.#writeOne(environmentId, usage)
      } catch (error) {
        // What failed goes last, so that it does not hold up the others.
        this.#putBack(environmentId, usage)
        throw error
      }
    }
  }

  async #writeOne(environmentId: string, usage: Usage): Promise<void> {
    const orgId = await this.organizationOf(environmentId)
    if (orgId === undefined) {
      this.#dropRequests(usage)
      return
    }
    await this.#writer.write({
      rows: usage.requests > 0 ? [usage.requests] : [],
      rowsACall: 1,
      write: () => this.#writeRequests(orgId, usage),
      drop: () => this.#dropRequests(usage),
    })
    await this.#writer.write({
      rows: [...usage.flags],
      rowsACall: FLAGS_A_TRANSACTION,
      write: async (marks) => {
        await this.#storage.transaction(orgId, async (tx) => {
          // Together, because every other writer waits for this transaction.
          await Promise.all(marks.map(([flagId, quarter]) => markEvaluated(tx, flagId, quarter)))
        })
        for (const mark of marks) this.#setMarked(usage, mark)
      },
      drop: (mark) => {
        this.#droppedFlags += 1
        this.#setMarked(usage, mark)
      },
    })
  }

  async #writeRequests(orgId: string, usage: Usage): Promise<void> {
    const { requests } = usage
    const isKept = await this.#storage.transaction(orgId, (tx) => addApiUsage(tx, orgId, requests))
    if (isKept) usage.requests = 0
    else this.#dropRequests(usage)
  }

  #dropRequests(usage: Usage): void {
    this.#dropped += usage.requests
    usage.requests = 0
  }

  #setMarked(usage: Usage, [flagId, quarter]: readonly [string, number]): void {
    usage.flags.delete(flagId)
    if (quarter === this.#quarter) this.#marked.add(flagId)
  }

  #usageOf(environmentId: string): Usage {
    const known = this.#waiting.get(environmentId)
    if (known !== undefined) return known
    const usage = { requests: 0, flags: new Map() }
    this.#waiting.set(environmentId, usage)
    return usage
  }

  #putBack(environmentId: string, { requests, flags }: Usage): void {
    const usage = this.#usageOf(environmentId)
    usage.requests += requests
    for (const [flagId, quarter] of flags) putLater(usage.flags, flagId, quarter)
  }
}

function putLater(quarters: Map<string, number>, flagId: string, quarter: number): void {
  quarters.set(flagId, Math.max(quarter, quarters.get(flagId) ?? quarter))
}

/** `false` if the organization is gone. */
async function addApiUsage(tx: StorageSession, orgId: string, requests: number): Promise<boolean> {
  const organization = await tx.find('organization', orgId)
  if (organization === undefined) return false
  const apiUsage = organization.apiUsage + requests
  await tx.update('organization', orgId, { apiUsage })
  return true
}

/** Another instance may have been later. */
async function markEvaluated(tx: StorageSession, flagId: string, quarter: number): Promise<void> {
  const flag = await tx.find('flag', flagId)
  const lastEvaluatedAt = new Date(quarter).toISOString()
  if (flag === undefined || (flag.lastEvaluatedAt ?? '') >= lastEvaluatedAt) return
  await tx.update('flag', flagId, { lastEvaluatedAt })
}
