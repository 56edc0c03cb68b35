import type { Migration } from './migration.ts'

/**
 * Columns for the settings of environments, and for the comments of changes. Default environments
 * become production environments. The environments of a project are ordered by their creation; of
 * those that were created together, the default environment is the first.
 */
export const environmentSettings: Migration = {
  name: '0004-environment-settings',
  statements: ({ text, integer }) => [
    'alter table ff_environment add column is_production boolean not null default false',
    'alter table ff_environment add column comment_required boolean not null default false',
    `alter table ff_environment add column order_index ${integer} not null default 0`,
    'update ff_environment set is_production = is_default',
    `update ff_environment set order_index = (
      select count(*) from ff_environment other
      where other.project_id = ff_environment.project_id and other.deleted_at is null and (
        other.created_at < ff_environment.created_at or (
          other.created_at = ff_environment.created_at and (
            other.is_default > ff_environment.is_default or (
              other.is_default = ff_environment.is_default and
              other."key" < ff_environment."key")))))
      where deleted_at is null`,
    `alter table ff_audit_event add column comment ${text}`,
    `alter table ff_scheduled_change add column comment ${text}`,
  ],
}
