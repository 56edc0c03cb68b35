import fc from 'fast-check'
import type { ContextSample } from '../../ports/storage.ts'
import type { ApiCalls, EvaluationCount, EvaluationTotal } from '../../ports/usage.ts'
import { newContextSample } from '../samples/context-samples.ts'
import {
  anyText,
  command,
  environment,
  id,
  key,
  nullable,
  parent,
  type SessionCommand,
  time,
} from './model-values.ts'

const count: fc.Arbitrary<EvaluationCount> = fc.record({
  environmentId: environment,
  flagId: id,
  minute: time,
  variationId: nullable(key),
  reason: fc.constantFrom('STATIC' as const, 'SPLIT' as const),
  source: fc.constantFrom('rest' as const, 'sdk' as const, 'client' as const),
  instanceId: fc.constantFrom('', 'instance-1', 'instance-2'),
  count: fc.integer({ min: 1, max: 1000 }),
  micros: fc.nat(),
})

const apiCalls: fc.Arbitrary<ApiCalls> = fc.record({
  organizationId: parent,
  instanceId: fc.constantFrom('instance-1', 'instance-2'),
  calls: fc.integer({ min: 1, max: 1000 }),
})

const contextSample: fc.Arbitrary<ContextSample> = fc
  .record({
    id: fc.oneof(fc.uuid(), id),
    environmentId: environment,
    hash: key,
    kind: anyText,
    key: anyText,
    contextJson: fc.dictionary(anyText, fc.oneof(anyText, fc.array(anyText))),
    firstSeen: time,
    lastSeen: time,
    seenCount: fc.integer({ min: 1, max: 9 }),
    evaluationSuccess: fc.boolean(),
    source: fc.constantFrom('poll' as const, 'ws' as const),
    reducedBy: nullable(fc.integer({ min: 0, max: 9 })),
    settingsRevision: fc.integer({ min: 1, max: 9 }),
  })
  .map(newContextSample)

/** Generates commands that write and read evaluation counts, API calls and context samples. */
export const usageCommands: fc.Arbitrary<SessionCommand> = fc.oneof(
  fc
    .array(count, { maxLength: 8 })
    .map((counts) =>
      command('addEvaluationCounts', counts, (session) => session.addEvaluationCounts(counts)),
    ),
  fc
    .array(contextSample, { maxLength: 6 })
    .map((contextSamples) =>
      command('recordContextSamples', contextSamples, (session) =>
        session.recordContextSamples(contextSamples),
      ),
    ),
  fc
    .record(
      {
        environmentId: environment,
        seenFrom: time,
        after: key,
        limit: fc.integer({ min: 1, max: 3 }),
        isCounted: fc.boolean(),
      },
      { requiredKeys: ['environmentId', 'seenFrom', 'limit'] },
    )
    .map((query) => command('loadContexts', query, (session) => session.loadContexts(query))),
  time.map((minute) =>
    command('dropEvaluationCounts', minute, (session) => session.dropEvaluationCounts(minute)),
  ),
  fc
    .record({ environmentId: environment, flagId: id, from: time, to: time })
    .map((query) =>
      command('loadEvaluationCounts', query, async (session) =>
        inOrder(await session.loadEvaluationCounts(query)),
      ),
    ),
  fc
    .tuple(fc.array(id, { maxLength: 3 }), time)
    .map(([ids, at]) =>
      command('markEvaluated', [ids, at], (session) => session.markEvaluated(ids, at)),
    ),
  fc
    .array(apiCalls, { maxLength: 4 })
    .map((calls) => command('addApiCalls', calls, (session) => session.addApiCalls(calls))),
  parent.map((orgId) => command('takeApiCalls', orgId, (session) => session.takeApiCalls(orgId))),
  fc
    .option(fc.array(parent, { maxLength: 2 }), { nil: undefined })
    .map((ids) =>
      command('loadApiCalls', ids, async (session) =>
        [...(await session.loadApiCalls(ids))].sort(),
      ),
    ),
)

/** Returns totals as sorted text, because stores return them in no particular order. */
export function inOrder(totals: readonly EvaluationTotal[]): readonly string[] {
  return totals.map((total) => JSON.stringify(Object.entries(total).sort())).sort()
}
