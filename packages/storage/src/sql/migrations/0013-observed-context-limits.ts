import type { Migration } from './migration.ts'

/**
 * Adds the limits of observed contexts to plans, and removes the ids from the index that samples
 * use, which then needs less space.
 */
export const observedContextLimits: Migration = {
  name: '0013-observed-context-limits',
  statements: ({ integer }) => [
    `alter table ff_plan add column max_observed_contexts ${integer}`,
    `alter table ff_plan add column max_observed_context_bytes ${integer}`,
    'drop index ff_observed_context_sample',
    `create index ff_observed_context_sample
      on ff_observed_context (environment_id, hash, last_seen) where deleted_at is null`,
  ],
}
