import type { Migration } from './migration.ts'

/** A table for leases. The times are epoch milliseconds by the clock of the database. */
export const leases: Migration = {
  name: '0008-leases',
  statements: ({ text, integer }) => [
    `create table ff_lease (
      name ${text} primary key, holder ${text} not null, expires_at ${integer} not null)`,
  ],
}
