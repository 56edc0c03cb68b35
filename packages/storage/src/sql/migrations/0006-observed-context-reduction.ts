import type { Migration } from './migration.ts'

/**
 * Columns for the rules by which observed contexts were reduced, and for the attributes that they
 * keep in addition. The version that reduced an existing context is unknown, which is stored as 0.
 */
export const observedContextReduction: Migration = {
  name: '0006-observed-context-reduction',
  statements: ({ text, integer }) => [
    `alter table ff_observed_context add column reduced_by ${integer} default 0`,
    `alter table ff_observed_context add column settings_revision ${integer} not null default 0`,
    `alter table ff_environment add column kept_attributes ${text} not null default '[]'`,
    `alter table ff_environment add column kept_since ${text} not null default '[]'`,
    // Both indexes contain all columns that the sampling of contexts needs.
    `create index ff_observed_context_sample
      on ff_observed_context (environment_id, hash, last_seen, id) where deleted_at is null`,
    'drop index ff_observed_context_seen',
    `create index ff_observed_context_seen
      on ff_observed_context (environment_id, last_seen) where deleted_at is null`,
  ],
}
