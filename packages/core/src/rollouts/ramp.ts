import type { GradualRolloutDefinition } from '../model/definition.ts'
import { parseInstant } from '../model/instant.ts'
import { BUCKETS } from './bucket.ts'

/** The schedule of a gradual rollout in whole buckets and milliseconds, so that it is exact. */
export interface Ramp {
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
  readonly fault: RampFault | undefined
}

/** Which part of a schedule is out of its bounds. */
export type RampFault = 'start' | 'interval' | 'increment' | 'target'

const HOUR_MS = 3_600_000

/** Reads a schedule. Never throws; what is wrong is its `fault`. */
export function compileRamp(definition: GradualRolloutDefinition): Ramp {
  const startAt = parseInstant(definition.startAt)
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

function numberFault(ramp: Pick<Ramp, 'interval' | 'increment' | 'target'>): RampFault | undefined {
  if (!Number.isSafeInteger(ramp.interval) || ramp.interval < 1) return 'interval'
  if (!Number.isSafeInteger(ramp.increment) || ramp.increment < 1) return 'increment'
  return ramp.target >= 0 && ramp.target <= BUCKETS ? undefined : 'target'
}

/** How many of a ramp's steps lie at or before `now`. */
export function stepsTaken(ramp: Ramp, now: number): number {
  if (now < ramp.startAt) return 0
  return Math.min(ramp.steps, 1 + Math.floor((now - ramp.startAt) / ramp.interval))
}

/** The instants of all steps of all the ramps, ascending, each once. */
export function instantsOf(ramps: readonly Ramp[]): readonly number[] {
  const instants = new Float64Array(ramps.reduce((total, { steps }) => total + steps, 0))
  let length = 0
  for (const { startAt, interval, steps } of ramps) {
    for (let step = 0; step < steps; step += 1) {
      instants[length] = startAt + step * interval
      length += 1
    }
  }
  // A typed array sorts by number, and many times faster than a list.
  const sorted = Array.from(instants.sort())
  return sorted.filter((instant, index) => instant !== sorted[index - 1])
}
