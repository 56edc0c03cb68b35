import { sha256 } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import { type NoIds, organizationOf } from '../access/paths.ts'
import { completed } from '../changes/change-event.ts'
import { defineChange, defineQuery } from '../changes/use-case.ts'
import { given, rangeOf } from '../requests/filters.ts'
import { listPage } from '../requests/pages.ts'
import { inexactAttributes } from './inexact-attributes.ts'

/** The id of an environment or an organization; no id for the whole installation. */
type ObservedIds = { readonly environmentId: string } | { readonly orgId: string } | NoIds

const DEFAULT_LIMIT = 20

/** Evaluates stored contexts at a time, in epoch milliseconds, for `variationResults`. */
export interface ContextEvaluation {
  of(contexts: readonly Records['observedContext'][], now: number): Promise<readonly string[]>
}

/** Creates the use cases of observed contexts. */
export function createObservedContextUseCases(results: ContextEvaluation) {
  return {
    /**
     * Returns one page of the contexts that were evaluated, most recently seen first. Without
     * `environmentId`, returns the contexts of the actor's organization or, for the role `platform`,
     * of all organizations.
     */
    listObservedContexts: defineQuery('listObservedContexts', {
      load: ({ query: { environmentId } }, actor): ObservedIds => {
        return environmentId === undefined ? organizationOf(actor) : { environmentId }
      },
      async run({ storage, organization, query, now }) {
        const { environmentId, kind, success, limit = DEFAULT_LIMIT } = query
        const orgId = environmentId === undefined ? organization?.id : undefined
        const where = given({ environmentId, orgId, kind, evaluationSuccess: success })
        const range = rangeOf<'observedContext'>('lastSeen', query)
        const list = { where, range, sortBy: 'lastSeen', direction: 'desc' } as const
        const read = { ...list, query: { page: query.page, limit } }
        const { data, meta } = await listPage(storage, 'observedContext', read)
        const variationResults = await results.of(data, now)
        const resources = data.map((record, index) => {
          const inexact = inexactAttributes(record.contextJson)
          const resource = { ...record, variationResults: variationResults[index] ?? '{}' }
          return inexact.length === 0 ? resource : { ...resource, inexactAttributes: inexact }
        })
        return { data: resources, meta }
      },
    }),

    /**
     * Permanently deletes the observed contexts with a user key in an environment, and returns their
     * number. Another instance can still write contexts that it observed within the last seconds.
     */
    forgetObservedContexts: defineChange('forgetObservedContexts', {
      load: ({ query: { environmentId } }) => ({ environmentId }),
      async run({ writer, environment: { id }, query: { key } }) {
        const deleted = await writer.forgetContexts({ environmentId: id, key })
        const before = { keyHash: await sha256(`${id}:${key}`), contexts: deleted }
        return completed('observed_context.forgotten', { before }, { id, result: { deleted } })
      },
    }),
  }
}
