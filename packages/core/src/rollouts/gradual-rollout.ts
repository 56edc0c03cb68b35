import type { GradualRolloutDefinition } from '../model/definition.ts'
import { parseTimestamp } from '../model/timestamp.ts'
import { BUCKETS } from './bucket.ts'

/** The schedule of a gradual rollout in whole buckets and milliseconds, so that it is exact. */
export interface GradualRollout {
  readonly variationId: string
  /** Epoch milliseconds of the first step. */
  readonly startAt: number
  readonly interval: number
  /** Buckets gained by each step. */
  readonly increment: number
  /** Buckets after the last step. */
  readonly target: number
  readonly steps: number
  /** Why the schedule cannot be followed. */
  readonly fault: GradualRolloutFault | undefined
}

/** Which part of a schedule is out of its bounds. */
export type GradualRolloutFault = 'start' | 'interval' | 'increment' | 'target'

const HOUR_MS = 3_600_000

/** Reads a schedule. Never throws; what is wrong is its `fault`. */
export function compileGradualRollout(definition: GradualRolloutDefinition): GradualRollout {
  const startAt = parseTimestamp(definition.startAt)
  const interval = Math.round(definition.intervalHours * HOUR_MS)
  const increment = Math.round(definition.increment * (BUCKETS / 100))
  const target = Math.round(definition.targetPercentage * (BUCKETS / 100))
  return {
    variationId: definition.variationId,
    startAt: startAt ?? 0,
    interval,
    increment,
    target,
    // At most one step for each bucket, however small the increment is.
    steps: Math.ceil(target / increment),
    fault: startAt === undefined ? 'start' : numberFault({ interval, increment, target }),
  }
}

function numberFault(
  gradual: Pick<GradualRollout, 'interval' | 'increment' | 'target'>,
): GradualRolloutFault | undefined {
  if (!Number.isSafeInteger(gradual.interval) || gradual.interval < 1) return 'interval'
  if (!Number.isSafeInteger(gradual.increment) || gradual.increment < 1) return 'increment'
  return gradual.target >= 0 && gradual.target <= BUCKETS ? undefined : 'target'
}

/** How many of a gradual rollout's steps lie at or before `now`. */
export function stepsTaken(gradual: GradualRollout, now: number): number {
  if (now < gradual.startAt) return 0
  return Math.min(gradual.steps, 1 + Math.floor((now - gradual.startAt) / gradual.interval))
}

/** The timestamps of all steps of all the gradual rollouts, ascending, each once. */
export function timestampsOf(gradualRollouts: readonly GradualRollout[]): readonly number[] {
  const timestamps = new Float64Array(
    gradualRollouts.reduce((total, { steps }) => total + steps, 0),
  )
  let length = 0
  for (const { startAt, interval, steps } of gradualRollouts) {
    for (let step = 0; step < steps; step += 1) {
      timestamps[length] = startAt + step * interval
      length += 1
    }
  }
  // A typed array sorts by number, and many times faster than a list.
  const sorted = Array.from(timestamps.sort())
  return sorted.filter((timestamp, index) => timestamp !== sorted[index - 1])
}
