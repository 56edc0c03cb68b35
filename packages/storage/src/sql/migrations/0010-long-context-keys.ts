import type { Migration } from './migration.ts'

/** An index for finding contexts by a key of any length. */
export const longContextKeys: Migration = {
  name: '0010-long-context-keys',
  statements: ({ longText }) => [
    'drop index if exists ff_observed_context_key',
    `create index ff_observed_context_key
      on ff_observed_context ${longText('"key"', 'environment_id')}`,
  ],
}
