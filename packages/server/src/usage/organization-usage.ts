import { isFlagError } from '@ff/core'
import type { ApiCalls, Storage } from '@ff/storage'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import type { Logger } from '../runtime/logger.ts'
import { MAX_USAGE_ROWS } from '../runtime/memory-bounds.ts'
import { BatchBuffer } from './batch-buffer.ts'

/** The precision of the time of a flag's last evaluation. */
const QUARTER_MS = 15 * 60_000

/** The maximum number of flags whose times are written in one call. */
const FLAGS_A_CALL = 1000

/** The maximum number of environments with requests that are written in one call. */
const ENVIRONMENTS_A_CALL = 200

interface Requests {
  readonly environmentId: string
  readonly requests: number
}

/** The flags of an environment that were evaluated, which is not yet written to the store. */
interface Marks {
  readonly environmentId: string
  /** The start of the quarter of an hour of the evaluations, in epoch milliseconds. */
  readonly quarter: number
  readonly flagIds: Set<string>
}

interface OrganizationUsageOptions {
  readonly storage: Storage
  readonly logger: Logger
  /** The id of this instance, which is new at each start. */
  readonly instanceId: string
}

/**
 * Counts the requests of organizations, and records the time of each flag's last evaluation. The
 * requests of this instance are added to its own rows in the store. The times are written to the
 * records of the flags, whose revisions stay the same, because usage is not a change of
 * configuration. Instances wait neither for each other nor for changes of the organization, and
 * changes do not wait for them.
 */
export class OrganizationUsage {
  /** The request counts that are not yet written to the store. */
  readonly requests: BatchBuffer<Requests>
  readonly #marks: BatchBuffer<Marks>
  /** The marks since the last write, by environment and quarter of an hour. */
  readonly #newMarks = new Map<string, Marks>()
  #refusedMarks = 0
  readonly #logger: Logger
  readonly #storage: Storage
  readonly #instanceId: string
  /** Organization ids by environment id. The organization of an environment never changes. */
  readonly #organizations = new Map<string, string>()
  /** The ids of the flags with a recorded evaluation in the current quarter of an hour. */
  readonly #marked = new Set<string>()
  #quarter = 0

  constructor({ storage, logger, instanceId }: OrganizationUsageOptions) {
    this.#logger = logger
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
    this.#marks = new BatchBuffer<Marks>({
      nameOf: ({ quarter }) => String(quarter),
      merge: (earlier, later) => {
        return { ...later, flagIds: new Set([...earlier.flagIds, ...later.flagIds]) }
      },
      ...{ maxRows: MAX_USAGE_ROWS, rowsACall: 1, logger },
      write: (rows) => this.#writeMarks(rows),
      drop: ({ flagIds }) => flagIds.size,
    })
  }

  /** The number of last evaluation times of flags that were dropped. */
  get droppedMarks(): number {
    return this.#marks.dropped + this.#refusedMarks
  }

  /** `true` if the last evaluation time of a flag is not written. */
  get hasMarks(): boolean {
    return this.#newMarks.size > 0 || this.#marks.size > 0
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
    const { flagIds } = getOrInsert(this.#newMarks, `${environmentId} ${quarter}`, () => {
      return { environmentId, quarter, flagIds: new Set<string>() }
    })
    flagIds.add(flagId)
  }

  /** Writes the last evaluation times of flags. Rejects if the store cannot be written. */
  writeMarks(): Promise<void> {
    for (const marks of this.#newMarks.values()) this.#marks.add(marks)
    this.#newMarks.clear()
    return this.#marks.flush()
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

  /** Writes last evaluation times. Flags that are being changed are marked with the next ones. */
  async #writeMarks(marks: readonly Marks[]): Promise<undefined> {
    for (const { environmentId, quarter, flagIds } of marks) {
      const at = new Date(quarter).toISOString()
      const ids = [...flagIds]
      const skipped = new Set<string>()
      for (let start = 0; start < ids.length; start += FLAGS_A_CALL) {
        const call = ids.slice(start, start + FLAGS_A_CALL)
        for (const id of await this.#markAt(call, at)) skipped.add(id)
      }
      if (skipped.size > 0) this.#marks.add({ environmentId, quarter, flagIds: skipped })
    }
  }

  /** Marks flags, except those that the store refuses. Returns the ids of skipped flags. */
  async #markAt(flagIds: readonly string[], at: string): Promise<readonly string[]> {
    try {
      return await this.#storage.markEvaluated(flagIds, at)
    } catch (error) {
      if (!isFlagError(error) || error.code !== 'INVALID_REQUEST') throw error
      if (flagIds.length === 1) {
        this.#refusedMarks += 1
        this.#logger.error('The store refused the time of an evaluation', { cause: error })
        return []
      }
    }
    const middle = Math.ceil(flagIds.length / 2)
    const first = await this.#markAt(flagIds.slice(0, middle), at)
    return [...first, ...(await this.#markAt(flagIds.slice(middle), at))]
  }
}
