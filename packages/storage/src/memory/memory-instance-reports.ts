import type { InstanceReport, InstanceReports, ReceivedReport } from '../ports/instance-reports.ts'

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
  #sweptAt: number

  constructor(monotonicNow: () => number = () => performance.now()) {
    this.#monotonicNow = monotonicNow
    this.#sweptAt = monotonicNow()
  }

  async report(instanceId: string, reports: readonly InstanceReport[]): Promise<void> {
    const receivedAt = this.#monotonicNow()
    for (const report of reports) {
      const { environmentId } = report
      const rows = this.#rows.get(environmentId) ?? new Map<string, Row>()
      this.#rows.set(environmentId, rows.set(instanceId, { report, receivedAt }))
    }
    if (receivedAt - this.#sweptAt >= FORGET_AFTER_MS) this.#sweep(receivedAt)
  }

  async withdraw(
    instanceId: string,
    environmentIds: Iterable<string> = [...this.#rows.keys()],
  ): Promise<void> {
    for (const environmentId of environmentIds) {
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
