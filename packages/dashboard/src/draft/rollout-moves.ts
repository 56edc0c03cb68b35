import type { Rollout } from './configuration.ts'

/** What a change of a rollout does to the contexts that its rules match, in percent. */
export interface RolloutMoves {
  /** The percentage of contexts that receive another variation. */
  readonly movedPercentage: number
  /** `true` if every context gets a new bucket, because salt, attribute or scheme changed. */
  readonly isReassigned: boolean
  /**
   * `false` if the figure is the minimum. The exact figure then depends on the present buckets of
   * the rollout, or on those before its last change, which publishing can restore.
   */
  readonly isExact: boolean
  /** The changed shares. A `variationId` of `null` means that the next rule is tried. */
  readonly shares: readonly ShareChange[]
}

/** The share of a variation before and after a change, in percent. */
export interface ShareChange {
  readonly variationId: string | null
  readonly before: number
  readonly after: number
}

/** The number of buckets of a rollout. */
const BUCKETS = 100_000
const HOUR_MS = 3_600_000
const OWN_SCHEME = 'ff'

type Sizes = ReadonlyMap<string | null, number>

/**
 * Returns what a change of a rollout does at `now` (epoch milliseconds). Without `before` or
 * `after`, the rollout is new or removed, and its shares are compared with none.
 */
export function rolloutMoves(
  before: Rollout | undefined,
  after: Rollout | undefined,
  now: number,
): RolloutMoves {
  const [sizesBefore, sizesAfter] = [sizesOf(before, now), sizesOf(after, now)]
  const isReassigned = before !== undefined && after !== undefined && isReshuffled(before, after)
  const owners = [...new Set([...sizesBefore.keys(), ...sizesAfter.keys()])]
  const shares = owners.map((variationId) => ({
    variationId,
    before: toPercent(sizesBefore.get(variationId) ?? 0),
    after: toPercent(sizesAfter.get(variationId) ?? 0),
  }))
  const moved = isReassigned ? reshuffled(sizesBefore, sizesAfter) : grown(sizesBefore, sizesAfter)
  return {
    movedPercentage: toPercent(moved),
    isReassigned,
    isExact: isReassigned || isDetermined(before, after, [sizesBefore, sizesAfter]),
    shares: shares.filter((share) => share.before !== share.after),
  }
}

/** Returns the shares of a rollout at `now` in percent. Contexts without a share are `null`. */
export function sharesAt(rollout: Rollout, now: number): ReadonlyMap<string | null, number> {
  return new Map([...sizesOf(rollout, now)].map(([id, size]) => [id, toPercent(size)]))
}

/** A step of a gradual rollout: the share that its variation has from a time on. */
export interface GradualStep {
  /** Epoch milliseconds. */
  readonly at: number
  readonly percentage: number
}

/**
 * Returns the steps of a gradual rollout, at most `limit` of them, the last one included. Empty if
 * the schedule is incomplete. Without a start, the first step is at `now`.
 */
export function gradualSteps(rollout: Rollout, now: number, limit = 200): readonly GradualStep[] {
  const schedule = scheduleOf(rollout, now)
  if (schedule === undefined) return []
  const { target, increment, startAt, interval } = schedule
  const count = Math.ceil(target / increment)
  const stride = Math.max(1, Math.ceil(count / limit))
  const steps: GradualStep[] = []
  for (let step = count; step >= 1; step -= stride) {
    const size = Math.min(target, increment * step)
    steps.unshift({ at: startAt + (step - 1) * interval, percentage: toPercent(size) })
  }
  return steps
}

/** Returns `true` if a change gives every context a new bucket. */
function isReshuffled(before: Rollout, after: Rollout): boolean {
  if (before.salt !== after.salt || before.bucketBy !== after.bucketBy) return true
  if (before.scheme !== after.scheme) return true
  // Other systems can use another hash if a rollout has several variations.
  const isSplit = ({ strategy }: Rollout) => strategy === 'variant'
  return before.scheme !== OWN_SCHEME && isSplit(before) !== isSplit(after)
}

/** Returns `true` if the shares alone determine which contexts a change moves. */
function isDetermined(
  before: Rollout | undefined,
  after: Rollout | undefined,
  [sizesBefore, sizesAfter]: readonly [Sizes, Sizes],
): boolean {
  const isScheduled = (rollout: Rollout | undefined) => rollout?.strategy === 'gradual'
  if (isScheduled(before) === isScheduled(after)) return true
  if (sizesBefore.size === 1 || sizesAfter.size === 1) return true
  // Only a gradual rollout has fixed buckets: it always starts at the first one.
  return isScheduled(before) && grown(sizesBefore, sizesAfter) === 0
}

function sizesOf(rollout: Rollout | undefined, now: number): Sizes {
  const sizes = new Map<string | null, number>()
  const add = (id: string | null, size: number) => sizes.set(id, (sizes.get(id) ?? 0) + size)
  for (const { variationId, size } of rollout === undefined ? [] : partsOf(rollout, now)) {
    if (size > 0) add(variationId, size)
  }
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  if (total < BUCKETS) add(null, BUCKETS - total)
  return sizes
}

function partsOf(rollout: Rollout, now: number) {
  const { strategy, variationId, percentage, variants } = rollout
  if (strategy === 'variant') {
    return (variants ?? []).map(({ variationId: id, weight }) => {
      return { variationId: id, size: toBuckets(weight) }
    })
  }
  const size = strategy === 'percentage' ? toBuckets(percentage ?? 0) : gradualSize(rollout, now)
  return [{ variationId, size }]
}

function gradualSize(rollout: Rollout, now: number): number {
  const schedule = scheduleOf(rollout, now)
  if (schedule === undefined || now < schedule.startAt) return 0
  const steps = 1 + Math.floor((now - schedule.startAt) / schedule.interval)
  return Math.min(schedule.target, schedule.increment * steps)
}

function scheduleOf({ targetPercentage, increment, intervalHours, startAt }: Rollout, now: number) {
  if (targetPercentage === null || increment === null || intervalHours === null) return undefined
  const interval = Math.round(intervalHours * HOUR_MS)
  const schedule = {
    target: toBuckets(targetPercentage),
    increment: toBuckets(increment),
    interval,
  }
  const start = startAt === null ? now : Date.parse(startAt)
  const isValid = schedule.increment >= 1 && interval >= 1 && Number.isFinite(start)
  return isValid ? { ...schedule, startAt: start } : undefined
}

/** Returns the number of buckets that change hands if as few as possible do. */
function grown(before: Sizes, after: Sizes): number {
  let buckets = 0
  for (const [id, size] of after) buckets += Math.max(0, size - (before.get(id) ?? 0))
  return buckets
}

/** Returns the expected number of buckets that change hands if all contexts get new buckets. */
function reshuffled(before: Sizes, after: Sizes): number {
  let kept = 0
  for (const [id, size] of before) kept += (size / BUCKETS) * ((after.get(id) ?? 0) / BUCKETS)
  return Math.round((1 - kept) * BUCKETS)
}

function toBuckets(percentage: number): number {
  return Math.round(percentage * (BUCKETS / 100))
}

function toPercent(buckets: number): number {
  return buckets / (BUCKETS / 100)
}
