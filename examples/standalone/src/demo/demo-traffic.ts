import { type Cancel, type Clock, type FlagServer, type Logger, systemClock } from '@ff/server'
import { DEMO_PROJECT } from './demo-shop.ts'

const USERS = 500
const EVALUATIONS = 1200
const PER_SECOND = 20
const INTERVAL_MS = 1000 / PER_SECOND

const ENVIRONMENT = { project: DEMO_PROJECT.key, environment: 'live' } as const
const COUNTRIES = ['DE', 'US', 'FR', 'AT', 'NL', 'GB', 'ES'] as const

/** The invented users of the demo shop. Their keys begin with `demo-user-`. */
export const DEMO_USERS = Array.from({ length: USERS }, (_, n) => ({
  kind: 'user',
  key: `demo-user-${n + 1}`,
  plan: planOf(n),
  country: COUNTRIES[n % COUNTRIES.length] ?? '',
  beta: n % 10 === 3,
}))

/** Returns the plan of a user: one of 20 users has `enterprise`, four have `pro`. */
function planOf(n: number): string {
  if (n % 20 === 0) return 'enterprise'
  return n % 5 === 0 || n % 20 === 1 ? 'pro' : 'free'
}

interface DemoTraffic {
  readonly flags: Pick<FlagServer, 'allOrThrow'>
  readonly logger: Logger
  readonly clock?: Clock
}

/**
 * Evaluates all flags of the demo shop for invented users, 20 times per second for one minute, so
 * that its metrics and observed contexts have data. The evaluations are counted like all others.
 * Stops at the first failure, for example without the demo project. Returns a function that stops
 * it earlier. The timers do not keep the process alive.
 */
export function startDemoTraffic({ flags, logger, clock = systemClock }: DemoTraffic): Cancel {
  const startedAt = clock.monotonicNow()
  let cancel: Cancel = () => undefined
  let isStopped = false
  const evaluate = async (n: number): Promise<void> => {
    try {
      await flags.allOrThrow(ENVIRONMENT, DEMO_USERS[n % USERS] ?? {})
    } catch (cause) {
      if (!isStopped) logger.warn('The demo traffic has stopped', { ...ENVIRONMENT, cause })
      return
    }
    if (isStopped) return
    if (n + 1 < EVALUATIONS) schedule(n + 1)
    else logger.info('The demo traffic has ended', { ...ENVIRONMENT, evaluations: EVALUATIONS })
  }
  const schedule = (n: number): void => {
    // Relative to the start, so that late timers do not reduce the rate.
    const delayMs = startedAt + n * INTERVAL_MS - clock.monotonicNow()
    cancel = clock.schedule(delayMs, () => void evaluate(n))
  }
  schedule(0)
  return () => {
    isStopped = true
    cancel()
  }
}
