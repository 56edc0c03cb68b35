import type { Migration } from './migration.ts'

/** Removes the results of observed contexts, which are evaluated when they are read. */
export const noStoredResults: Migration = {
  name: '0012-no-stored-results',
  statements: () => ['alter table ff_observed_context drop column variation_results'],
}
