import type { Migration } from './migration.ts'

/**
 * Removes the environment from the index that finds contexts by a key. Few environments have contexts
 * with the same key, and the index needs half of the space.
 */
export const shorterContextKeyIndex: Migration = {
  name: '0014-shorter-context-key-index',
  statements: ({ longText }) => [
    'drop index ff_observed_context_key',
    `create index ff_observed_context_key on ff_observed_context ${longText('"key"')}`,
  ],
}
