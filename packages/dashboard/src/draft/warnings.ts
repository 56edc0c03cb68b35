import { draft } from '../messages/en/draft.ts'
import type { Sentence } from '../messages/phrases/fragment.ts'
import { type Configuration, findById, isSame, type Rule, rolloutOf } from './configuration.ts'
import { MOST_PERCENTAGE } from './rollout-differences.ts'
import { rolloutMoves, sharesAt } from './rollout-moves.ts'
import { shown, shownList } from './sentence.ts'

/** A warning about a draft. It does not prevent publishing. */
export interface Warning {
  readonly kind:
    | 'unreachable'
    | 'servesNothing'
    | 'weightsBelow'
    | 'movesMost'
    | 'reassigned'
    | 'newAttributes'
    | 'dependents'
  readonly sentence: Sentence
  readonly ruleId?: string
  readonly rolloutId?: string
}

/** What warnings are based on, besides the two configurations. */
export interface WarningOptions {
  /** Epoch milliseconds. */
  readonly now: number
  /** Attributes that other published rules read. */
  readonly knownAttributes?: readonly string[]
  /** The names of the flags of which this flag is a prerequisite. */
  readonly dependents?: readonly string[]
}

const { warnings } = draft

/** Returns the warnings about a draft: about all rules, and about what the draft changes. */
export function configurationWarnings(
  base: Configuration,
  current: Configuration,
  options: WarningOptions,
): readonly Warning[] {
  const { dependents = [], knownAttributes = [] } = options
  const attributes = newAttributes(base, current).filter((name) => !knownAttributes.includes(name))
  return [
    ...ruleWarnings(current),
    ...rolloutWarnings(base, current, options.now),
    ...(attributes.length === 0
      ? []
      : [
          {
            kind: 'newAttributes' as const,
            sentence: warnings.newAttributes(shownList(attributes, 'attribute')),
          },
        ]),
    ...(dependents.length === 0 || isSame(base, current)
      ? []
      : [{ kind: 'dependents' as const, sentence: warnings.dependents(shownList(dependents)) }]),
  ]
}

/** A rule that no context reaches, and the earlier rule that serves all of its contexts. */
export interface UnreachableRule {
  readonly ruleId: string
  readonly earlierId: string
  /** `everyone`: the earlier rule serves every context. */
  readonly reason: 'everyone' | 'same-conditions'
}

/** Returns the rules that no context can reach. */
export function unreachableRules(configuration: Configuration): readonly UnreachableRule[] {
  const complete: Rule[] = []
  const found: UnreachableRule[] = []
  for (const rule of configuration.targetingRules) {
    const all = complete.find(matchesEveryone)
    const earlier = all ?? complete.find((other) => isSame(matchOf(other), matchOf(rule)))
    if (earlier !== undefined) {
      const reason = all === undefined ? 'same-conditions' : 'everyone'
      found.push({ ruleId: rule.id, earlierId: earlier.id, reason })
    }
    if (servesAll(configuration, rule)) complete.push(rule)
  }
  return found
}

function matchesEveryone({ conditions, segmentId }: Rule): boolean {
  return conditions.length === 0 && segmentId === null
}

function matchOf({ conditions, segmentId }: Rule) {
  return { conditions, segmentId }
}

/** Returns `true` if a rule always serves a variation. A rollout skips contexts without a key. */
function servesAll(configuration: Configuration, rule: Rule): boolean {
  return rolloutOf(configuration, rule) === undefined && rule.variationId !== null
}

function ruleWarnings(configuration: Configuration): readonly Warning[] {
  const { targetingRules } = configuration
  const name = (id: string): Sentence => [shown(findById(targetingRules, id)?.name ?? id)]
  const unreachable = unreachableRules(configuration).map(({ ruleId, earlierId, reason }) => {
    const words = reason === 'everyone' ? 'unreachableAfterAll' : 'unreachableAfterSame'
    const sentence = warnings[words](name(ruleId), name(earlierId))
    return { kind: 'unreachable' as const, ruleId, sentence }
  })
  const empty = targetingRules
    .filter((rule) => rule.rolloutId === null && rule.variationId === null)
    .map(({ id }) => {
      return {
        kind: 'servesNothing' as const,
        ruleId: id,
        sentence: warnings.servesNothing(name(id)),
      }
    })
  return [...unreachable, ...empty]
}

function rolloutWarnings(
  base: Configuration,
  current: Configuration,
  now: number,
): readonly Warning[] {
  return current.rollouts.flatMap((rollout): Warning[] => {
    const { id: rolloutId, strategy } = rollout
    const name = [shown(rollout.name)]
    const moves = rolloutMoves(findById(base.rollouts, rolloutId), rollout, now)
    const found: Warning[] = []
    const rest = strategy === 'variant' ? (sharesAt(rollout, now).get(null) ?? 0) : 0
    if (rest > 0) {
      const sentence = warnings.weightsBelow(name, 100 - rest)
      found.push({ kind: 'weightsBelow', rolloutId, sentence })
    }
    if (moves.isReassigned) {
      found.push({ kind: 'reassigned', rolloutId, sentence: warnings.reassigned(name) })
    } else if (moves.movedPercentage > MOST_PERCENTAGE) {
      const sentence = warnings.movesMost(name, moves.movedPercentage)
      found.push({ kind: 'movesMost', rolloutId, sentence })
    }
    return found
  })
}

/** The attributes that every observed context contains if the application has sent them. */
const ALWAYS_OBSERVED = ['kind', 'key', 'user.key']

/** Returns the attributes that only the draft reads and observed contexts may lack, each once. */
export function newAttributes(base: Configuration, current: Configuration): readonly string[] {
  const known = new Set([...ALWAYS_OBSERVED, ...attributesIn(base)])
  return [...new Set(attributesIn(current))].filter((name) => name !== '' && !known.has(name))
}

/** Operators whose attribute is not an attribute of the context. */
const WITHOUT_ATTRIBUTE = new Set(['in_segment', 'not_in_segment', 'flag_is', 'flag_is_not'])

function attributesIn({ targetingRules, rollouts }: Configuration): readonly string[] {
  const conditions = targetingRules.flatMap((rule) => rule.conditions)
  const read = conditions.filter(({ operator }) => !WITHOUT_ATTRIBUTE.has(operator))
  return [...read.map(({ attribute }) => attribute), ...rollouts.map(({ bucketBy }) => bucketBy)]
}
