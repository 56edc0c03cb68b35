import type { Flag, FlagMetrics } from '@ff/protocol/management'
import { countUniqueUsers } from '@ff/server/plane'
import type { EvaluationTotal } from '@ff/storage'
import { defineQuery, type ReadableStorage } from '../changes/use-case.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** What was counted in 24 hours. */
interface Day {
  readonly totals: readonly EvaluationTotal[]
  readonly evaluations: number
  /** Those of `evaluations` that were reported with a client key. */
  readonly clientReported: number
  readonly errors: number
  readonly users: number
  /** Of all evaluations together. */
  readonly micros: number
}

/** The use cases of flag metrics. */
export const flagMetricsUseCases = {
  /**
   * How a flag was used in one environment of its project over the last 24 hours, this minute
   * included, and how that differs from the 24 hours before.
   */
  getFlagMetrics: defineQuery('getFlagMetrics', {
    load: ({ params: { flagId }, query: { environmentId } }) => ({ flagId, environmentId }),
    async run({ storage, now, flag, environment }) {
      const end = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS
      const place = { environmentId: environment.id, flagId: flag.id }
      const today = await loadDay(storage, { ...place, end })
      const before = await loadDay(storage, { ...place, end: end - DAY_MS })
      const variationPerformance = await performanceOf(storage, flag, today)
      return { ...compare(today, before), variationPerformance }
    },
  }),
}

interface DayQuery {
  readonly environmentId: string
  readonly flagId: string
  /** Epoch milliseconds. */
  readonly end: number
}

async function loadDay(storage: ReadableStorage, { end, ...place }: DayQuery): Promise<Day> {
  const query = {
    ...place,
    from: new Date(end - DAY_MS).toISOString(),
    to: new Date(end).toISOString(),
  }
  const totals = await storage.loadEvaluationCounts(query)
  return {
    totals,
    evaluations: countOf(totals),
    clientReported: countOf(totals.filter(({ source }) => source === 'client')),
    errors: countOf(totals.filter(({ reason }) => reason === 'ERROR')),
    users: await countUniqueUsers(storage, query),
    micros: sum(totals.map(({ micros }) => micros)),
  }
}

function compare(now: Day, before: Day): Omit<FlagMetrics, 'variationPerformance'> {
  const of = (measure: (day: Day) => number) => {
    const value = measure(now)
    return { value, change: changeOf(value, measure(before)) }
  }
  const text = (measure: (day: Day) => number, write: (value: number) => string) => {
    const { value, change } = of(measure)
    return { value: write(value), change }
  }
  return {
    totalEvaluations: of(({ evaluations }) => evaluations),
    uniqueUsers: of(({ users }) => users),
    successRate: text(successRateOf, percentText),
    errorRate: text(
      (day) => (day.evaluations === 0 ? 0 : round(100 - successRateOf(day))),
      percentText,
    ),
    avgResponseTime: text(millisecondsOf, millisecondsText),
    clientReported: of(({ clientReported }) => clientReported),
  }
}

/** Every living variation, in its order. */
async function performanceOf(
  storage: ReadableStorage,
  flag: Flag,
  { totals, evaluations: all }: Day,
): Promise<FlagMetrics['variationPerformance']> {
  const { data } = await storage.list('variation', {
    where: { flagId: flag.id },
    sort: { field: 'orderIndex', direction: 'asc' },
  })
  return data.map(({ id, key, name }) => {
    const evaluations = countOf(totals.filter(({ variationId }) => variationId === id))
    return { key, name, evaluations, percentage: all === 0 ? 0 : round((evaluations / all) * 100) }
  })
}

/** In percent, rounded down: as long as anything fails it is less than 100. */
function successRateOf({ evaluations, errors }: Day): number {
  return evaluations === 0 ? 0 : Math.floor(((evaluations - errors) * 10_000) / evaluations) / 100
}

function millisecondsOf({ evaluations, micros }: Day): number {
  return evaluations === 0 ? 0 : micros / evaluations / 1000
}

/** In percent of what was before. */
function changeOf(now: number, before: number): number {
  if (before === 0) return now === 0 ? 0 : 100
  return round(((now - before) / before) * 100)
}

function percentText(value: number): string {
  return `${value}%`
}

/** Two decimals, or two digits of what is less than a hundredth. */
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
