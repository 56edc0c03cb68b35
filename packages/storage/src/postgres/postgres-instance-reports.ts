import type { InstanceReport, InstanceReports, ReceivedReport } from '../ports/instance-reports.ts'
import { plain } from '../sql/sql-driver.ts'
import { PeriodicRemoval } from './periodic-removal.ts'
import type { PostgresDriver } from './postgres-driver.ts'

/**
 * The statement that creates the table of the reports. The table is unlogged, because instances
 * repeat their reports every few seconds.
 */
export const INSTANCE_REPORT_TABLE = `create unlogged table if not exists ff_instance_report (
  environment_id text collate "C" not null, instance_id text collate "C" not null,
  received_at timestamptz not null, report text not null,
  primary key (environment_id, instance_id))`

const REPORT = `
  insert into ff_instance_report (environment_id, instance_id, received_at, report)
  select element.value ->> 'environmentId', $1, clock_timestamp(), cast(element.value as text)
  from json_array_elements(cast($2 as json)) as element (value)
  on conflict (environment_id, instance_id) do update set
    received_at = excluded.received_at, report = excluded.report`

const LIST = `
  select instance_id, report,
    extract(epoch from clock_timestamp() - received_at) * 1000 as age_ms
  from ff_instance_report where environment_id = $1`

const WITHDRAW_ALL = 'delete from ff_instance_report where instance_id = $1'

const WITHDRAW = `${WITHDRAW_ALL}
  and environment_id in (select json_array_elements_text(cast($2 as json)))`

/** Removes reports that their instance no longer replaces. */
const REMOVE_OLD = plain(`
  delete from ff_instance_report where received_at < clock_timestamp() - interval '1 minute'`)

/** The reports of all instances with the same database, which measures their age. */
export class PostgresInstanceReports implements InstanceReports {
  readonly #driver: PostgresDriver
  readonly #removal = new PeriodicRemoval(REMOVE_OLD)

  constructor(driver: PostgresDriver) {
    this.#driver = driver
  }

  async report(instanceId: string, reports: readonly InstanceReport[]): Promise<void> {
    if (reports.length === 0) return
    // One statement cannot replace a row twice.
    const last = new Map(reports.map((each) => [each.environmentId, each]))
    const parameters = [instanceId, JSON.stringify([...last.values()])]
    await this.#driver.write([{ sql: REPORT, parameters }, ...this.#removal.due()])
  }

  async withdraw(instanceId: string, environmentIds?: readonly string[]): Promise<void> {
    const statement =
      environmentIds === undefined
        ? { sql: WITHDRAW_ALL, parameters: [instanceId] }
        : { sql: WITHDRAW, parameters: [instanceId, JSON.stringify(environmentIds)] }
    await this.#driver.write([statement])
  }

  async list(environmentId: string): Promise<readonly ReceivedReport[]> {
    const list = { sql: LIST, parameters: [environmentId] }
    const [rows = []] = await this.#driver.reader.run([list])
    return rows.map(({ instance_id: instanceId, report, age_ms: ageMs }) => {
      const parsed: InstanceReport = JSON.parse(String(report))
      return { ...parsed, instanceId: String(instanceId), ageMs: Math.max(0, Number(ageMs)) }
    })
  }
}
