import type { GradualRolloutDefinition } from '../model/definition.ts'
import { parseTimestamp } from '../model/timestamp.ts'
import { BUCKETS } from './bucket.ts'

/** The schedule of a gradual rollout, in whole buckets and milliseconds. */
export interface GradualRollout {
  readonly variationId: string
  /** Epoch milliseconds of the first step. */
  readonly startAt: number
  /** Milliseconds between two steps. */
  readonly interval: number
  /** The number of buckets that each step adds. */
  readonly increment: number
  /** The number of buckets after the last step. */
  readonly target: number
  /** The number of steps. */
  readonly steps: number
  /** The invalid part of the schedule. `undefined` if the schedule is valid. */
  readonly fault: GradualRolloutFault | undefined
}

/** The part of a schedule that is invalid. */
export type GradualRolloutFault = 'start' | 'interval' | 'increment' | 'target'

const HOUR_MS = 3_600_000

/** Compiles a schedule. Never throws; an invalid schedule has a `fault`. */
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
    // Not infinite if the schedule is valid, because each step adds at least one bucket.
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

/** Returns the number of steps of a gradual rollout at or before `now` (epoch milliseconds). */
export function stepsTaken(gradual: GradualRollout, now: number): number {
  if (now < gradual.startAt) return 0
  return Math.min(gradual.steps, 1 + Math.floor((now - gradual.startAt) / gradual.interval))
}

/** Returns the epoch milliseconds of a step. The first step has the number 1. */
export function stepTime({ startAt, interval }: GradualRollout, step: number): number {
  return startAt + (step - 1) * interval
}

/**
 * Returns the epoch milliseconds of the first step after `now`. `undefined` if there is no such
 * step, or if the schedule is invalid.
 */
export function nextStepAt(definition: GradualRolloutDefinition, now: number): number | undefined {
  const gradual = compileGradualRollout(definition)
  if (gradual.fault !== undefined) return undefined
  const taken = stepsTaken(gradual, now)
  return taken < gradual.steps ? stepTime(gradual, taken + 1) : undefined
}

/** Returns the distinct timestamps of all steps of the gradual rollouts, in ascending order. */
export function timestampsOf(gradualRollouts: readonly GradualRollout[]): readonly number[] {
  const timestamps = new Float64Array(
    gradualRollouts.reduce((total, { steps }) => total + steps, 0),
  )
  let length = 0
  for (const gradual of gradualRollouts) {
    for (let step = 1; step <= gradual.steps; step += 1) {
      timestamps[length] = stepTime(gradual, step)
      length += 1
    }
  }
  // A typed array sorts numerically, and many times faster than an array.
  const sorted = Array.from(timestamps.sort())
  return sorted.filter((timestamp, index) => timestamp !== sorted[index - 1])
}
