import { compareCodePoints } from '@ff/core'
import { keyTaken } from '../ports/record-errors.ts'
import type { Records } from '../ports/records.ts'
import type { ContextQuery, ContextSample, ObservedAttributes, Page } from '../ports/storage.ts'
import {
  addContextSample,
  contextSampleName,
  mergeContextSamples,
} from '../usage/context-samples.ts'
import { frozenCopy } from './frozen-copy.ts'
import { isLiving, pageOf } from './memory-query.ts'
import type { Overlay } from './overlay.ts'

type ObservedContext = Records['observedContext']

/**
 * Adds samples to the observed contexts. Throws `CONFLICT`, and adds nothing, if the id of a new
 * record exists already.
 */
export function recordSamples(
  contexts: Overlay<ObservedContext>,
  samples: readonly ContextSample[],
): void {
  const merged = mergeContextSamples(samples)
  const hashes = new Set(merged.map(({ hash }) => hash))
  const alike = [...contexts.values()].filter((record) => hashes.has(record.hash))
  const known = new Map(alike.filter(isLiving).map((record) => [contextSampleName(record), record]))
  const seen = new Map<string, ObservedContext>()
  for (const sample of merged) {
    const record = known.get(contextSampleName(sample))
    const isNew = record === undefined
    if (isNew && (contexts.get(sample.id) ?? seen.get(sample.id)) !== undefined) throw keyTaken()
    const next = isNew ? sample : addContextSample(record, sample)
    seen.set(next.id, frozenCopy({ ...next, deletedAt: null }))
  }
  for (const [id, record] of seen) contexts.set(id, record)
}

/** Returns the page of observed contexts that a query selects from these living records. */
export function contextsOf(
  living: readonly ObservedContext[],
  { environmentId, seenFrom, after, limit, isCounted = true }: ContextQuery,
): Page<ObservedAttributes> {
  const range = { field: 'lastSeen', from: seenFrom } as const
  const query = {
    where: { environmentId },
    range,
    sort: { field: 'hash', direction: 'asc' },
  } as const
  const { data: seen, total } = pageOf('observedContext', living, query)
  const isAfter = (hash: string) => after === undefined || compareCodePoints(hash, after) > 0
  const data = seen
    .filter(({ hash }) => isAfter(hash))
    .slice(0, limit)
    .map(toAttributes)
  return { data, total: isCounted ? total : data.length }
}

function toAttributes(record: ObservedContext): ObservedAttributes {
  const { hash, kind, key, lastSeen, seenCount, reducedBy, settingsRevision, contextJson } = record
  const contextText = JSON.stringify(contextJson)
  return { hash, kind, key, lastSeen, seenCount, reducedBy, settingsRevision, contextText }
}
