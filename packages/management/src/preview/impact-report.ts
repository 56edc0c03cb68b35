import { compareCodePoints, type EvaluationReason, jsonEquals } from '@ff/core'
import type { Preview } from '@ff/protocol/management'
import {
  type FlagImpact,
  type Impact,
  latest,
  type MaybeOutcome,
  type Transition,
} from './impact.ts'

/** The maximum number of moves of a flag in a report. */
const MOST_MOVES = 100
/** The maximum numbers of moves and of examples in a report. */
const MOST_MOVES_TOGETHER = 5000
const MOST_EXAMPLES = 10_000

type FlagReport = Preview['flags'][number]
type Move = FlagReport['moves'][number]

interface ReportOptions {
  /** The number of contexts that were evaluated. */
  readonly evaluated: number
  /** The maximum number of examples of each move. */
  readonly examples: number
}

/**
 * Returns the reports of all flags, those with the most changed contexts first. The caller can pause
 * the work at each `yield`.
 */
export function* impactReport(
  { flags }: Impact,
  options: ReportOptions,
): Generator<undefined, FlagReport[]> {
  const reports: FlagReport[] = []
  for (const flag of flags) {
    reports.push(flagReport(flag, options))
    yield
  }
  reports.sort((a, b) => b.changed - a.changed || compareCodePoints(a.key, b.key))
  limitSize(reports)
  return reports
}

/** Removes the moves and examples above the limits, those of the last flags first. */
function limitSize(reports: readonly FlagReport[]): void {
  let moves = MOST_MOVES_TOGETHER
  let examples = MOST_EXAMPLES
  for (const report of reports) {
    report.moves = report.moves.slice(0, moves)
    moves -= report.moves.length
    for (const move of report.moves) {
      move.examples = move.examples.slice(0, examples)
      examples -= move.examples.length
    }
  }
}

function flagReport(
  { key, before, after, undetermined, transitions }: FlagImpact,
  options: ReportOptions,
): FlagReport {
  const changes = transitions.filter(isChange)
  const reasons = transitions.filter((each) => !isChange(each) && isOtherReason(each))
  const moves = movesOf(changes, options).sort(byContexts)
  return {
    flagId: (after ?? before)?.definition.id ?? '',
    key,
    changed: contextsOf(changes),
    reasonOnly: contextsOf(reasons),
    undetermined,
    before: splitOf(transitions, (each) => each.before),
    after: splitOf(transitions, (each) => each.after),
    moves: moves.slice(0, MOST_MOVES),
  }
}

/** Returns `true` if another variation is served, or another value of the same variation. */
function isChange({ before, after }: Transition): boolean {
  if (before === after) return false
  const [was, becomes] = [before?.variation, after?.variation]
  return was?.key !== becomes?.key || !jsonEquals(was?.value ?? null, becomes?.value ?? null)
}

function isOtherReason({ before, after }: Transition): boolean {
  return reasonOf(before) !== reasonOf(after) || ruleOf(before) !== ruleOf(after)
}

/** Merges transitions between the same variations, with the same reasons and the same rule. */
function movesOf(
  transitions: readonly Transition[],
  { evaluated, examples }: ReportOptions,
): Move[] {
  const groups = new Map<string, Transition[]>()
  for (const each of transitions) {
    const name = JSON.stringify([
      variationOf(each.before),
      variationOf(each.after),
      reasonOf(each.before),
      reasonOf(each.after),
      ruleOf(each.after),
    ])
    groups.set(name, [...(groups.get(name) ?? []), each])
  }
  return [...groups.values()].map((group) => {
    const [{ before, after } = {}] = group
    const contexts = contextsOf(group)
    return {
      from: variationOf(before),
      to: variationOf(after),
      contexts,
      evaluations: group.reduce((sum, each) => sum + each.evaluations, 0),
      share: Math.round((contexts / Math.max(1, evaluated)) * 10_000) / 100,
      fromReason: reasonOf(before),
      toReason: reasonOf(after),
      toRuleId: ruleOf(after),
      examples: [
        ...latest(
          group.flatMap((each) => each.examples),
          examples,
        ),
      ],
    }
  })
}

function splitOf(
  transitions: readonly Transition[],
  outcomeOf: (transition: Transition) => MaybeOutcome,
): FlagReport['before'] {
  const contexts = new Map<string | null, number>()
  for (const each of transitions) {
    const key = variationOf(outcomeOf(each))
    contexts.set(key, (contexts.get(key) ?? 0) + each.contexts)
  }
  return [...contexts]
    .map(([variationKey, count]) => ({ variationKey, contexts: count }))
    .sort((a, b) => compareCodePoints(a.variationKey ?? '', b.variationKey ?? ''))
}

function contextsOf(transitions: readonly Transition[]): number {
  return transitions.reduce((sum, { contexts }) => sum + contexts, 0)
}

function byContexts(left: Move, right: Move): number {
  const nameOf = ({ examples: _, ...move }: Move) => JSON.stringify(move)
  return right.contexts - left.contexts || compareCodePoints(nameOf(left), nameOf(right))
}

function variationOf(outcome: MaybeOutcome): string | null {
  return outcome?.variation?.key ?? null
}

/** Returns the reason; that of an unknown flag if the flag set does not have the flag. */
function reasonOf(outcome: MaybeOutcome): EvaluationReason {
  return outcome?.explanation.reason ?? 'ERROR'
}

function ruleOf(outcome: MaybeOutcome): string | null {
  return outcome?.explanation.ruleId ?? null
}
