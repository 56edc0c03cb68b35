import type { Kind } from '../../ports/records.ts'
import { ACCOUNT_TABLES } from './account-tables.ts'
import { ACTIVITY_TABLES } from './activity-tables.ts'
import { CONFIGURATION_TABLES } from './configuration-tables.ts'
import type { TablesOf } from './table.ts'

/** One table for each kind of record, one column for each field. */
export const TABLES: TablesOf<Kind> = {
  ...CONFIGURATION_TABLES,
  ...ACCOUNT_TABLES,
  ...ACTIVITY_TABLES,
}
