import type { FlagSet } from '@ff/core'
import { changedByGradualRollouts, changedFlags, nextTimestamp } from '@ff/core/changes'
import type { Alarms, Clock } from '../connection/alarms.ts'
import type { ValueSource } from '../values/flag-detail.ts'
import { callListeners, type Listeners } from './listeners.ts'
import type { LocalEvaluator } from './local-evaluator.ts'

/** The flag set in use, and the listeners for its changes. */
export interface FlagSetState {
  readonly evaluator: LocalEvaluator
  readonly listeners: Listeners
  readonly alarms: Alarms
  readonly clock: Clock
  /** The time up to which listeners were called for gradual rollouts, in epoch milliseconds. */
  steppedAt: number
}

/** The name of the alarm for the next step of a gradual rollout. */
export const STEP = 'gradual rollout'
/** The clock of the system can change, so that a step may be due earlier than planned. */
const MAX_STEP_DELAY_MS = 3_600_000

/** Replaces the flag set, and calls the listeners if flags can have other values. */
export function useFlagSet(state: FlagSetState, after: FlagSet, source: ValueSource): void {
  const { evaluator, listeners } = state
  const before = evaluator.flagSet
  evaluator.flagSet = after
  evaluator.source = source
  if (before === after) return
  followSteps(state)
  if (listeners.functions.size === 0) return
  callListeners(listeners, before ? changedFlags(before, after) : [...after.flags.keys()])
}

/** Calls the listeners at the next step of a gradual rollout. Does nothing without listeners. */
export function followSteps(state: FlagSetState): void {
  const { evaluator, listeners, alarms, clock, steppedAt } = state
  const { flagSet } = evaluator
  alarms.clear(STEP)
  if (flagSet === undefined || listeners.functions.size === 0) return
  const next = nextTimestamp(flagSet, steppedAt)
  if (next === undefined) return
  const delayMs = Math.max(0, next - clock.now())
  alarms.set(STEP, Math.min(delayMs, MAX_STEP_DELAY_MS), () => {
    const now = clock.now()
    const changed = changedByGradualRollouts(flagSet, steppedAt, now)
    state.steppedAt = now
    followSteps(state)
    callListeners(listeners, changed)
  })
}
