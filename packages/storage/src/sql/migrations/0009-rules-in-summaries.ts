import type { Migration } from './migration.ts'

/** Removes the summaries of flags, which are derived again, with what the rules serve. */
export const rulesInSummaries: Migration = {
  name: '0009-rules-in-summaries',
  statements: () => ['update ff_flag set summary = null'],
}
