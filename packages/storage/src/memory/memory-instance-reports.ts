import {
  type InstanceReport,
  type InstanceReports,
  REPORT_LIFETIME_MS,
  type ReceivedReport,
} from '../ports/instance-reports.ts'

/** The time in milliseconds after which a report that was not replaced is deleted. */
const FORGET_AFTER_MS = 60_000

interface Row {
  readonly report: InstanceReport
  /** The time of receipt, in the milliseconds of `monotonicNow`. */
  readonly receivedAt: number
}

/** The reports of the instances that share one process. Deletes reports that are no longer sent. */
export class MemoryInstanceReports implements InstanceReports {
  readonly #monotonicNow: () => number
  /** The rows by environment, then by instance. */
  readonly #rows = new Map<string, Map<string, Row>>()
  /** The time of each running instance's last call of `report`. */
  readonly #running = new Map<string, number>()
  #sweptAt: number

  constructor(monotonicNow: () => number = () => performance.now()) {
    this.#monotonicNow = monotonicNow
    this.#sweptAt = monotonicNow()
  }

  async report(instanceId: string, reports: readonly InstanceReport[]): Promise<number> {
    const receivedAt = this.#monotonicNow()
    this.#running.set(instanceId, receivedAt)
    for (const [id, at] of this.#running) {
      if (receivedAt - at >= REPORT_LIFETIME_MS) this.#running.delete(id)
    }
    for (const report of reports) {
      const { environmentId } = report
      const rows = this.#rows.get(environmentId) ?? new Map<string, Row>()
      this.#rows.set(environmentId, rows.set(instanceId, { report, receivedAt }))
    }
    if (receivedAt - this.#sweptAt >= FORGET_AFTER_MS) this.#sweep(receivedAt)
    return this.#running.size
  }

  async withdraw(instanceId: string, environmentIds?: readonly string[]): Promise<void> {
    if (environmentIds === undefined) this.#running.delete(instanceId)
    for (const environmentId of environmentIds ?? [...this.#rows.keys()]) {
      const rows = this.#rows.get(environmentId)
      rows?.delete(instanceId)
      if (rows?.size === 0) this.#rows.delete(environmentId)
    }
  }

  async list(environmentId: string): Promise<readonly ReceivedReport[]> {
    const now = this.#monotonicNow()
    const rows = this.#rows.get(environmentId) ?? []
    return [...rows].map(([instanceId, { report, receivedAt }]) => {
      return { ...report, instanceId, ageMs: now - receivedAt }
    })
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [environmentId, rows] of this.#rows) {
      for (const [instanceId, { receivedAt }] of rows) {
        if (now - receivedAt >= FORGET_AFTER_MS) rows.delete(instanceId)
      }
      if (rows.size === 0) this.#rows.delete(environmentId)
    }
  }
}
