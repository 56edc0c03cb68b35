import type { Storage, StorageSession } from '@ff/storage'

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
  #waiting = new Map<string, Usage>()
  /** By environment; which organization it belongs to never changes. */
  readonly #organizations = new Map<string, string>()
  /** The flags that need no mark any more in this quarter of an hour. */
  readonly #marked = new Set<string>()
  #quarter = 0
  #dropped = 0

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /** How many environments have something to be written. */
  get size(): number {
    return this.#waiting.size
  }

  /** How many requests will never be written, because their organization is gone. */
  get dropped(): number {
    return this.#dropped
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
    const waiting = [...this.#waiting]
    this.#waiting = new Map()
    for (const [index, [environmentId, usage]] of waiting.entries()) {
      try {
        await this.#writeOne(environmentId, usage)
      } catch (error) {
        // What failed goes last, so that it does not hold up the others.
        for (const [id, later] of waiting.slice(index + 1)) this.#putBack(id, later)
        this.#putBack(environmentId, usage)
        throw error
      }
    }
  }

  async #writeOne(environmentId: string, { requests, flags }: Usage): Promise<void> {
    const orgId = await this.organizationOf(environmentId)
    const marks = [...flags].slice(0, FLAGS_A_TRANSACTION)
    const isKept =
      orgId !== undefined &&
      (await this.#storage.transaction(orgId, async (tx) => {
        // Together, for everybody else who writes waits for it.
        await Promise.all(marks.map(([flagId, quarter]) => markEvaluated(tx, flagId, quarter)))
        return addApiUsage(tx, orgId, requests)
      }))
    if (!isKept) this.#dropped += requests
    for (const [flagId, quarter] of marks) {
      if (quarter === this.#quarter) this.#marked.add(flagId)
      flags.delete(flagId)
    }
    if (flags.size > 0) this.#putBack(environmentId, { requests: 0, flags })
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

/** False: there is no such organization any more. */
async function addApiUsage(tx: StorageSession, orgId: string, requests: number): Promise<boolean> {
  const organization = await tx.find('organization', orgId)
  if (organization === undefined) return false
  const apiUsage = organization.apiUsage + requests
  if (requests > 0) await tx.update('organization', orgId, { apiUsage })
  return true
}

/** Another instance may have been later. */
async function markEvaluated(tx: StorageSession, flagId: string, quarter: number): Promise<void> {
  const flag = await tx.find('flag', flagId)
  const lastEvaluatedAt = new Date(quarter).toISOString()
  if (flag === undefined || (flag.lastEvaluatedAt ?? '') >= lastEvaluatedAt) return
  await tx.update('flag', flagId, { lastEvaluatedAt })
}
