import type { ApiCalls, Storage, StorageSession } from '@ff/storage'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import type { Logger } from '../runtime/logger.ts'
import { MAX_USAGE_ROWS } from '../runtime/memory-bounds.ts'
import { BatchBuffer } from './batch-buffer.ts'

/** The precision of the time of a flag's last evaluation. */
const QUARTER_MS = 15 * 60_000

/** The maximum number of evaluation times that are written in one call. */
const FLAGS_A_CALL = 200

/** The maximum number of environments with requests that are written in one call. */
const ENVIRONMENTS_A_CALL = 200

interface Requests {
  readonly environmentId: string
  readonly requests: number
}

/** The time of a flag's last evaluation, which is not yet written to the store. */
interface Mark {
  readonly environmentId: string
  readonly flagId: string
  /** The start of the quarter of an hour that contains the time, in epoch milliseconds. */
  readonly quarter: number
}

interface OrganizationUsageOptions {
  readonly storage: Storage
  readonly logger: Logger
  /** The id of this instance, which is new at each start. */
  readonly instanceId: string
}

/**
 * Counts the requests of organizations, and records the time of each flag's last evaluation. The
 * requests of this instance are added to its own rows in the store, so that instances do not wait
 * for each other, nor for changes of the organization. The times are written to the records of the
 * flags, whose revisions stay the same, because usage is not a change of configuration.
 */
export class OrganizationUsage {
  /** The request counts that are not yet written to the store. */
  readonly requests: BatchBuffer<Requests>
  /** The last evaluation times of flags that are not yet written to the store. */
  readonly marks: BatchBuffer<Mark>
  readonly #storage: Storage
  readonly #instanceId: string
  /** Organization ids by environment id. The organization of an environment never changes. */
  readonly #organizations = new Map<string, string>()
  /** The ids of the flags with a recorded evaluation in the current quarter of an hour. */
  readonly #marked = new Set<string>()
  #quarter = 0

  constructor({ storage, logger, instanceId }: OrganizationUsageOptions) {
    this.#storage = storage
    this.#instanceId = instanceId
    this.requests = new BatchBuffer<Requests>({
      nameOf: () => '',
      merge: (earlier, { environmentId, requests }) => {
        return { environmentId, requests: earlier.requests + requests }
      },
      ...{ maxRows: MAX_USAGE_ROWS, rowsACall: ENVIRONMENTS_A_CALL, logger },
      write: (rows) => this.#writeRequests(rows),
      drop: ({ requests }) => requests,
    })
    this.marks = new BatchBuffer<Mark>({
      nameOf: ({ flagId }) => flagId,
      merge: (earlier, later) => (earlier.quarter > later.quarter ? earlier : later),
      ...{ maxRows: MAX_USAGE_ROWS, rowsACall: FLAGS_A_CALL, logger },
      write: (rows) => this.#writeMarks(rows),
      drop: () => 1,
    })
  }

  /** Records that a flag was evaluated at a time, in epoch milliseconds. */
  markFlag(environmentId: string, flagId: string, at: number): void {
    const quarter = Math.floor(at / QUARTER_MS) * QUARTER_MS
    if (quarter > this.#quarter) {
      this.#quarter = quarter
      this.#marked.clear()
    }
    if (this.#marked.has(flagId)) return
    if (quarter === this.#quarter) this.#marked.add(flagId)
    this.marks.add({ environmentId, flagId, quarter })
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

  async #writeRequests(rows: readonly Requests[]): Promise<readonly Requests[]> {
    const gone: Requests[] = []
    const added: ApiCalls[] = []
    for (const row of rows) {
      const organizationId = await this.organizationOf(row.environmentId)
      if (organizationId === undefined) gone.push(row)
      else added.push({ organizationId, instanceId: this.#instanceId, calls: row.requests })
    }
    if (added.length > 0) await this.#storage.addApiCalls(added)
    return gone
  }

  /**
   * Writes last evaluation times, in one transaction per organization. Writing a time twice is
   * harmless.
   */
  async #writeMarks(marks: readonly Mark[]): Promise<undefined> {
    const byOrganization = new Map<string, Mark[]>()
    for (const mark of marks) {
      const orgId = await this.organizationOf(mark.environmentId)
      if (orgId === undefined) continue
      getOrInsert<string, Mark[]>(byOrganization, orgId, () => []).push(mark)
    }
    for (const [orgId, ofOrganization] of byOrganization) {
      await this.#storage.transaction(orgId, async (tx) => {
        // In parallel, because all other writers of the organization wait for this transaction.
        await Promise.all(ofOrganization.map((mark) => markEvaluated(tx, mark)))
      })
    }
  }
}

/** Sets the time of a flag's last evaluation, unless another instance has written a later time. */
async function markEvaluated(tx: StorageSession, { flagId, quarter }: Mark): Promise<void> {
  const flag = await tx.find('flag', flagId)
  const lastEvaluatedAt = new Date(quarter).toISOString()
  if (flag === undefined || (flag.lastEvaluatedAt ?? '') >= lastEvaluatedAt) return
  await tx.update('flag', flagId, { lastEvaluatedAt, unusedSince: lastEvaluatedAt })
}
