import type { ApiCalls, Storage } from '@ff/storage'
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
 * requests of this instance are added to its own rows in the store. The times are written to the
 * records of the flags, whose revisions stay the same, because usage is not a change of
 * configuration. Instances wait neither for each other nor for changes of the organization, and
 * changes do not wait for them.
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

  /** Writes last evaluation times. Flags that are being changed are marked with the next ones. */
  async #writeMarks(marks: readonly Mark[]): Promise<undefined> {
    const byQuarter = new Map<number, Map<string, Mark>>()
    for (const mark of marks) {
      getOrInsert(byQuarter, mark.quarter, () => new Map<string, Mark>()).set(mark.flagId, mark)
    }
    for (const [quarter, byFlag] of byQuarter) {
      const at = new Date(quarter).toISOString()
      for (const flagId of await this.#storage.markEvaluated([...byFlag.keys()], at)) {
        const skipped = byFlag.get(flagId)
        if (skipped !== undefined) this.marks.add(skipped)
      }
    }
  }
}
