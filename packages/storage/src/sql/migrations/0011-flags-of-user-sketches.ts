import type { Migration } from './migration.ts'

/**
 * Columns for the flags to which a sketch of users applies. They are null in the sketches of earlier
 * releases and in those of single flags.
 */
export const flagsOfUserSketches: Migration = {
  name: '0011-flags-of-user-sketches',
  statements: ({ text, integer }) => [
    `alter table ff_user_sketch add column key_kind ${text}`,
    `alter table ff_user_sketch add column first_version ${integer}`,
    `alter table ff_user_sketch add column last_version ${integer}`,
  ],
}
