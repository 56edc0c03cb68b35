import { compareCodePoints, type EvaluationContext, type FlagSet } from '@ff/core'
import { changedFlags } from '@ff/core/changes'
import { prepareExplanations } from '@ff/core/explain'
import type { Preview, PreviewQuestion } from '@ff/protocol/management'
import { runInTimeSlices, type TimeSliceQueue } from '@ff/server/plane'
import type { ObservedAttributes, Records } from '@ff/storage'
import type { DraftServices } from './draft-changes.ts'
import { Impact } from './impact.ts'
import { impactReport } from './impact-report.ts'
import { ObservedSample } from './observed-sample.ts'
import type { PublishedFlagSets } from './published-flag-sets.ts'

/** The time of evaluation after which a preview returns what it has evaluated so far. */
const LONGEST_EVALUATION_MS = 2000
/** The maximum number of flags that a preview evaluates. */
const MOST_FLAGS = 1000
/** The number of different transitions that limits the memory of a preview. */
const MOST_TRANSITIONS = 100_000
/** The maximum number of unknown attributes that a preview names. */
const MOST_UNKNOWN = 100
const HOUR_MS = 60 * 60_000

/** Both sides of a comparison. */
export interface Sides {
  readonly published: FlagSet
  readonly draft: FlagSet
}

interface Tools extends DraftServices {
  readonly flagSets: PublishedFlagSets
  readonly slices: TimeSliceQueue
}

interface ImpactQuestion {
  readonly question: PreviewQuestion
  readonly environment: Records['environment']
  /** The time of all evaluations. */
  readonly at: string
  /** The start of the preview, in milliseconds of the monotonic clock. */
  readonly startedAt: number
}

/** Evaluates both sides for a sample of the observed contexts, in time slices. */
export async function evaluateImpact(
  { storage, clock, flagSets, slices }: Tools,
  { published, draft }: Sides,
  { question, environment, at, startedAt }: ImpactQuestion,
): Promise<Preview> {
  const { windowHours = 24, maxContexts = 10_000, examples = 5 } = question
  const changed = changedFlags(published, draft)
  const flagKeys = changed.slice(0, MOST_FLAGS)
  const sides = { published, draft, flagKeys }
  const impact = new Impact({ ...sides, now: Date.parse(at), examples })
  const seenFrom = new Date(clock.now() - windowHours * HOUR_MS).toISOString()
  const sample = new ObservedSample({
    ...{ storage, flagSets, environment, seenFrom, maxContexts },
    ...sides,
  })
  const until = clock.monotonicNow() + LONGEST_EVALUATION_MS
  const isOver = () => clock.monotonicNow() >= until || impact.size >= MOST_TRANSITIONS
  const seen = new Seen()
  for await (const page of sample.pages()) {
    if (seen.evaluated === 0) await runInTimeSlices(prepare(sides, page), slices)
    await runInTimeSlices(addPage(page, { sample, impact, seen, isOver }), slices)
    if (isOver()) break
  }
  const { evaluated, evaluations, oldest } = seen
  const { inWindow } = sample
  const report = impactReport(impact, { evaluated, examples })
  const flags = await runInTimeSlices(report, slices)
  const isSample = evaluated < inWindow
  const isCut = isOver() && evaluated < Math.min(inWindow, maxContexts)
  const unknown = [...impact.unknownAttributes].sort(compareCodePoints)
  return {
    ...{ version: published.version, at, flags },
    contexts: { inWindow, evaluated, isSample, oldest, evaluations },
    unknownAttributes: unknown.slice(0, MOST_UNKNOWN),
    complete: !isCut && flagKeys.length === changed.length,
    tookMs: Math.round(clock.monotonicNow() - startedAt),
  }
}

/** The totals of the evaluated contexts. */
class Seen {
  evaluated = 0
  evaluations = 0
  /** The earliest `lastSeen`; `null` if no context was evaluated. */
  oldest: string | null = null

  add({ lastSeen, seenCount }: ObservedAttributes): void {
    this.evaluated += 1
    this.evaluations += seenCount
    if (this.oldest === null || lastSeen < this.oldest) this.oldest = lastSeen
  }
}

interface PageTools {
  readonly sample: ObservedSample
  readonly impact: Impact
  readonly seen: Seen
  readonly isOver: () => boolean
}

/** Evaluates the contexts of a page until the preview is over. */
function* addPage(
  page: readonly ObservedAttributes[],
  { sample, impact, seen, isOver }: PageTools,
): Generator<undefined, void> {
  for (const observed of page) {
    if (isOver()) return
    impact.add(sample.toContext(observed))
    seen.add(observed)
    yield
  }
}

/** Parses the long values of all conditions, which would otherwise take long in one evaluation. */
function* prepare(
  { published, draft, flagKeys }: Sides & { readonly flagKeys: readonly string[] },
  [first]: readonly ObservedAttributes[],
): Generator<undefined, void> {
  const context = JSON.parse(first?.contextText ?? '{}') as EvaluationContext
  yield* prepareExplanations(published, flagKeys, context)
  yield* prepareExplanations(draft, flagKeys, context)
}
