import type { Migration } from './migration.ts'

/** Columns for the summaries of flags, and an index for finding flags without a summary. */
export const flagSummaries: Migration = {
  name: '0005-flag-summaries',
  statements: ({ text }) => [
    `alter table ff_flag add column summary ${text}`,
    `alter table ff_flag add column marks ${text} not null default '[]'`,
    `alter table ff_flag add column unused_since ${text} not null default ''`,
    'update ff_flag set unused_since = coalesce(last_evaluated_at, created_at)',
    `create index ff_flag_without_summary
      on ff_flag (id) where summary is null and deleted_at is null`,
  ],
}
