import type { Storage, StorageSession } from '@ff/storage'
import type { RowWriter } from './row-writer.ts'

/** The precision of the time of a flag's last evaluation. */
const QUARTER_MS = 15 * 60_000

/** How many flags are marked in one transaction. */
const FLAGS_A_TRANSACTION = 200

/** The usage that an environment adds to its organization and its flags. */
interface Usage {
  requests: number
  /** By flag id: the quarter of an hour of the last evaluation, in epoch milliseconds. */
  readonly flags: Map<string, number>
}

/**
 * Counts the requests of organizations and notes when flags were last evaluated, and writes both to
 * their records. Revisions stay: usage is not a change of configuration.
 */
export class OrganizationUsage {
  readonly #storage: Storage
  readonly #writer: RowWriter
  readonly #pending = new Map<string, Usage>()
  /** By environment; which organization it belongs to never changes. */
  readonly #organizations = new Map<string, string>()
  /** The flags that are marked for this quarter of an hour. */
  readonly #marked = new Set<string>()
  #quarter = 0
  #dropped = 0
  #droppedFlags = 0

  constructor(storage: Storage, writer: RowWriter) {
    this.#storage = storage
    this.#writer = writer
  }

  /** How many environments have pending usage. */
  get size(): number {
    return this.#pending.size
  }

  /** How many requests were dropped: their organization does not exist, or the store refused them. */
  get dropped(): number {
    return this.#dropped
  }

  /** How many times the store refused the time of a flag's last evaluation. */
  get droppedFlags(): number {
    return this.#droppedFlags
  }

  addRequests(environmentId: string, requests: number): void {
    this.#usageOf(environmentId).requests += requests
  }

  /** Notes that a flag was evaluated at a time, in epoch milliseconds. */
  markFlag(environmentId: string, flagId: string, at: number): void {
    const quarter = Math.floor(at / QUARTER_MS) * QUARTER_MS
    if (quarter > this.#quarter) {
      this.#quarter = quarter
      this.#marked.clear()
    }
    if (!this.#marked.has(flagId)) putLater(this.#usageOf(environmentId).flags, flagId, quarter)
  }

  /** Returns the organization of an environment; `undefined` if it does not exist. */
  async organizationOf(environmentId: string): Promise<string | undefined> {
    const known = this.#organizations.get(environmentId)
    if (known !== undefined) return known
    const environment = await this.#storage.find('environment', environmentId)
    if (environment === undefined) return undefined
    const project = await this.#storage.find('project', environment.projectId)
    if (project !== undefined) this.#organizations.set(environmentId, project.orgId)
    return project?.orgId
  }

  /** Writes the pending usage. Usage that cannot be written stays pending, behind later usage. */
  async write(): Promise<void> {
    for (const [environmentId, usage] of [...this.#pending]) {
      this.#pending.delete(environmentId)
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
    const known = this.#pending.get(environmentId)
    if (known !== undefined) return known
    const usage = { requests: 0, flags: new Map() }
    this.#pending.set(environmentId, usage)
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
