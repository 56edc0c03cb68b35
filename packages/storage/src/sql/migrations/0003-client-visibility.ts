import type { Migration } from './migration.ts'

/** Columns for the visibility of flags to SDK keys of kind `client`, and for client versions. */
export const clientVisibility: Migration = {
  name: '0003-client-visibility',
  statements: ({ integer }) => [
    'alter table ff_flag add column client_visible boolean not null default true',
    'alter table ff_project add column new_flags_client_visible boolean not null default true',
    `alter table ff_version add column client_version ${integer}`,
  ],
}
