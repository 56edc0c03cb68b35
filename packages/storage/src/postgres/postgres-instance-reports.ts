import {
  type InstanceReport,
  type InstanceReports,
  REPORT_LIFETIME_MS,
  type ReceivedReport,
} from '../ports/instance-reports.ts'
import { plain, type SqlStatement } from '../sql/sql-driver.ts'
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

/** The statement that creates the table of the running instances, with their last reports. */
export const INSTANCE_TABLE = `create unlogged table if not exists ff_instance (
  instance_id text collate "C" primary key, received_at timestamptz not null)`

/** Notes that an instance is running, and counts all running instances. */
const NOTE = `
  with noted as (
    insert into ff_instance (instance_id, received_at) values ($1, clock_timestamp())
    on conflict (instance_id) do update set received_at = excluded.received_at)
  select count(*) + 1 as running from ff_instance where instance_id <> $1
    and received_at > clock_timestamp() - interval '${REPORT_LIFETIME_MS} milliseconds'`

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

const STOP = 'delete from ff_instance where instance_id = $1'

const WITHDRAW_ALL = 'delete from ff_instance_report where instance_id = $1'

const WITHDRAW = `${WITHDRAW_ALL}
  and environment_id in (select json_array_elements_text(cast($2 as json)))`

/** Removes reports that their instance no longer replaces. */
const REMOVE_OLD_REPORTS = plain(`
  delete from ff_instance_report where received_at < clock_timestamp() - interval '1 minute'`)

/** Removes instances that have ended without withdrawing their reports. */
const REMOVE_OLD_INSTANCES = plain(`
  delete from ff_instance where received_at < clock_timestamp() - interval '1 minute'`)

/** The reports of all instances with the same database, which measures their age. */
export class PostgresInstanceReports implements InstanceReports {
  readonly #driver: PostgresDriver
  readonly #removals = [REMOVE_OLD_REPORTS, REMOVE_OLD_INSTANCES].map((statement) => {
    return new PeriodicRemoval(statement)
  })

  constructor(driver: PostgresDriver) {
    this.#driver = driver
  }

  async report(instanceId: string, reports: readonly InstanceReport[]): Promise<number> {
    const note = { sql: NOTE, parameters: [instanceId] }
    const removals = this.#removals.flatMap((removal) => removal.due())
    const [rows] = await this.#driver.write([note, ...toReports(instanceId, reports), ...removals])
    return Number(rows?.[0]?.running ?? 1)
  }

  async withdraw(instanceId: string, environmentIds?: readonly string[]): Promise<void> {
    const ofInstance = [WITHDRAW_ALL, STOP].map((sql) => ({ sql, parameters: [instanceId] }))
    const some = { sql: WITHDRAW, parameters: [instanceId, JSON.stringify(environmentIds)] }
    await this.#driver.write(environmentIds === undefined ? ofInstance : [some])
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

/** Returns the statement that stores reports; nothing if there are none. */
function toReports(
  instanceId: string,
  reports: readonly InstanceReport[],
): readonly SqlStatement[] {
  if (reports.length === 0) return []
  // One statement cannot replace a row twice.
  const last = new Map(reports.map((each) => [each.environmentId, each]))
  return [{ sql: REPORT, parameters: [instanceId, JSON.stringify([...last.values()])] }]
}
