import type { Flag, FlagMetrics } from '@ff/protocol/management'
import { countUniqueUsers } from '@ff/server/plane'
import type { EvaluationTotal } from '@ff/storage'
import { defineQuery, type ReadableStorage } from '../changes/use-case.ts'
import { loadVariations } from '../flags/variations.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

type CountsQuery = Parameters<ReadableStorage['loadEvaluationCounts']>[0]

/** The measured values of 24 hours. */
type Day = Awaited<ReturnType<typeof loadDay>>

/** The use cases of flag metrics. */
export const flagMetricsUseCases = {
  /**
   * Returns the usage of a flag in one environment over the last 24 hours, including the current
   * minute, and the change from the 24 hours before.
   */
  getFlagMetrics: defineQuery('getFlagMetrics', {
    load: ({ params: { flagId }, query: { environmentId } }) => ({ flagId, environmentId }),
    async run({ storage, now, flag, environment }) {
      const end = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS
      const dayUntil = (time: number) => ({
        environmentId: environment.id,
        flagId: flag.id,
        from: new Date(time - DAY_MS).toISOString(),
        to: new Date(time).toISOString(),
      })
      const today = await loadDay(storage, dayUntil(end))
      const before = await loadDay(storage, dayUntil(end - DAY_MS))
      const variationPerformance = await performanceOf(storage, flag, today)
      return { ...compare(today, before), variationPerformance }
    },
  }),
}

async function loadDay(storage: ReadableStorage, query: CountsQuery) {
  const totals = await storage.loadEvaluationCounts(query)
  const evaluations = countOf(totals)
  const errors = countOf(totals.filter(({ reason }) => reason === 'ERROR'))
  const isUsed = evaluations > 0
  // Rounded down, so that it is below 100 if any evaluation failed.
  const successRate = isUsed ? Math.floor(((evaluations - errors) * 10_000) / evaluations) / 100 : 0
  return {
    totals,
    evaluations,
    /** The number of `evaluations` that were reported with a client key. */
    clientReported: countOf(totals.filter(({ source }) => source === 'client')),
    users: isUsed ? Math.min(await countUniqueUsers(storage, query), evaluations) : 0,
    /** The percentage of evaluations without an error, rounded down to two decimals. */
    successRate,
    errorRate: isUsed ? round(100 - successRate) : 0,
    /** The average duration of an evaluation. */
    milliseconds: isUsed ? sum(totals.map(({ micros }) => micros)) / evaluations / 1000 : 0,
  }
}

function compare(now: Day, before: Day): Omit<FlagMetrics, 'variationPerformance'> {
  const of = (measure: Exclude<keyof Day, 'totals'>) => {
    return { value: now[measure], change: changeOf(now[measure], before[measure]) }
  }
  return {
    totalEvaluations: of('evaluations'),
    uniqueUsers: of('users'),
    successRate: { ...of('successRate'), value: `${now.successRate}%` },
    errorRate: { ...of('errorRate'), value: `${now.errorRate}%` },
    avgResponseTime: { ...of('milliseconds'), value: millisecondsText(now.milliseconds) },
    clientReported: of('clientReported'),
  }
}

/**
 * Returns the evaluations of each variation of the flag, sorted by `orderIndex`, without deleted
 * variations.
 */
async function performanceOf(
  storage: ReadableStorage,
  flag: Flag,
  { totals, evaluations: all }: Day,
): Promise<FlagMetrics['variationPerformance']> {
  const variations = await loadVariations(storage, flag.id)
  return variations.map(({ id, key, name }) => {
    const evaluations = countOf(totals.filter(({ variationId }) => variationId === id))
    return { key, name, evaluations, percentage: all === 0 ? 0 : round((evaluations / all) * 100) }
  })
}

/** Returns the change in percent of `before`; 100 if only `before` is 0, and 0 if both are 0. */
function changeOf(now: number, before: number): number {
  if (before === 0) return now === 0 ? 0 : 100
  return round(((now - before) / before) * 100)
}

/** Formats a duration with two decimals, or with two significant digits if it is below 0.01. */
function millisecondsText(value: number): string {
  return `${value < 0.01 ? Number(value.toPrecision(2)) : round(value)}ms`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

function countOf(totals: readonly EvaluationTotal[]): number {
  return sum(totals.map(({ count }) => count))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
