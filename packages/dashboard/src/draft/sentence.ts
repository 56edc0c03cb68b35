import type { Condition } from '@ff/protocol/management'
import { draft } from '../messages/en/draft.ts'
import { type Fragment, phrase, type Sentence } from '../messages/phrases/fragment.ts'
import {
  type Configuration,
  type Prerequisite,
  type Rollout,
  type Rule,
  rolloutOf,
  type Target,
} from './configuration.ts'

/** The names that sentences show for ids. Each function returns the id itself if it is unknown. */
export interface Names {
  /** `flagId` is absent for variations of the edited flag. */
  readonly variation: (id: string, flagId?: string) => string
  readonly segment: (id: string) => string
  readonly flag: (id: string) => string
}

const { sentences } = draft

/** The number of items that a list in a sentence shows. */
const SHOWN_ITEMS = 2
/** The number of characters of a text in a sentence. */
const SHOWN_CHARACTERS = 60

/** Operators whose value is a list that is joined by "and". */
const AND_OPERATORS =
  /^((not_)?(in|in_ci|semver_in)|array_contains_all|array_contains_none|between)$/
/** Operators whose value is a list that is joined by "or". */
const OR_OPERATORS = /^((not_)?(contains|starts_with|ends_with)(_ci)?|(not_)?in_cidr|is_type)$/
const SEGMENT_OPERATORS = /^(not_)?in_segment$/
const FLAG_OPERATORS = /^flag_is(_not)?$/

/** Characters that are invisible, or that change the direction of the text around them. */
const HIDDEN_CHARACTERS = /[\p{Cc}\p{Cf}\u2028\u2029]/gu
/** Characters that join letters or emoji, and therefore are part of readable text. */
const JOINERS: ReadonlySet<string> = new Set(['\u200c', '\u200d'])

/** Returns a text as a fragment, shortened if it is long. Hidden characters are escaped. */
export function shown(text: string, kind: Fragment['kind'] = 'value'): Fragment {
  if (text === '') return { text: sentences.emptyText, kind }
  const characters = text.length <= SHOWN_CHARACTERS ? [] : Array.from(text)
  if (characters.length <= SHOWN_CHARACTERS) return { text: escaped(text), kind }
  const start = escaped(characters.slice(0, SHOWN_CHARACTERS).join(''))
  return { text: sentences.shortened(start, characters.length - SHOWN_CHARACTERS), kind }
}

function escaped(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, (character) => {
    if (JOINERS.has(character)) return character
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}

/** Returns a list of texts in words, shortened with a count: "pro, team and 48 more". */
export function shownList(
  texts: readonly string[],
  kind: Fragment['kind'] = 'value',
  joined: 'and' | 'or' = 'and',
): Sentence {
  if (texts.length === 0) return sentences.none
  const isShort = texts.length <= SHOWN_ITEMS + 1
  const visible = isShort ? texts : texts.slice(0, SHOWN_ITEMS)
  const items: Sentence[] = visible.map((text) => [shown(text, kind)])
  if (isShort) return draft.list(items, joined)
  const rest = sentences.more(texts.length - SHOWN_ITEMS)
  return draft.list([...items, [{ text: rest, kind: 'plain' }]], joined)
}

/** Returns a condition in words: "plan is one of pro and team". */
export function conditionSentence(condition: Condition, names: Names): Sentence {
  const words = sentences.condition(condition.operator, condition.negate === true)
  return words([shown(condition.attribute, 'attribute')], valueSentence(condition, names))
}

function valueSentence({ operator, value }: Condition, names: Names): Sentence {
  if (AND_OPERATORS.test(operator)) return shownList(listOf(value))
  if (OR_OPERATORS.test(operator)) return shownList(listOf(value), 'value', 'or')
  if (FLAG_OPERATORS.test(operator)) return shownList(listOf(value), 'variation', 'or')
  if (SEGMENT_OPERATORS.test(operator)) {
    const segments = listOf(value).map((id) => names.segment(id))
    return shownList(segments, 'segment', 'or')
  }
  return operator === 'modulo' ? remainderSentence(value) : [shown(value)]
}

function remainderSentence(value: string): Sentence {
  const [divisor, remainder, ...rest] = value.split('|')
  if (divisor === undefined || remainder === undefined || rest.length > 0) return [shown(value)]
  return sentences.remainder(shown(remainder), shown(divisor))
}

/** Returns the items of a list operator's value: of a JSON array, else the text itself. */
export function listOf(value: string): readonly string[] {
  if (!value.trimStart().startsWith('[')) return [value]
  try {
    const parsed: unknown = JSON.parse(value)
    if (!Array.isArray(parsed)) return [value]
    return parsed.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
  } catch {
    // A list that is still being typed is shown as it is.
    return [value]
  }
}

/** Returns the conditions and the segment of a rule in words. Empty if every context matches. */
export function conditionsSentence(
  { conditions, segmentId }: Pick<Rule, 'conditions' | 'segmentId' | 'kind'>,
  names: Names,
): Sentence {
  const parts = conditions.map((condition) => conditionSentence(condition, names))
  if (segmentId !== null) {
    parts.push(sentences.inSegment(shown(names.segment(segmentId), 'segment')))
  }
  return draft.list(parts)
}

/** Returns a rule in words: "If plan is pro → true for 25 %, by user.key". */
export function ruleSentence(rule: Rule, configuration: Configuration, names: Names): Sentence {
  const outcome = outcomeSentence(rule, configuration, names)
  const conditions = conditionsSentence(rule, names)
  return conditions.length === 0 ? sentences.everyone(outcome) : sentences.rule(conditions, outcome)
}

/** Returns what a rule serves in words. */
export function outcomeSentence(
  rule: Rule,
  configuration: Pick<Configuration, 'rollouts'>,
  names: Names,
): Sentence {
  const rollout = rolloutOf(configuration, rule)
  if (rollout !== undefined) return rolloutSentence(rollout, names)
  return rule.variationId === null
    ? sentences.nothingServed
    : variationSentence(rule.variationId, names)
}

/** Returns the name of a variation. */
export function variationSentence(id: string, names: Names): Sentence {
  return [shown(names.variation(id), 'variation')]
}

/** Returns a rollout in words: "true for 25 %, by user.key". */
export function rolloutSentence(rollout: Rollout, names: Names): Sentence {
  return sentences.bucketedBy(sharesSentence(rollout, names), shown(rollout.bucketBy, 'attribute'))
}

/** Returns the shares of a rollout in words, without the attribute. */
export function sharesSentence(rollout: Rollout, names: Names): Sentence {
  const { strategy, variants, variationId, percentage } = rollout
  if (strategy === 'variant') {
    const shares = (variants ?? []).map(({ variationId: id, weight }) =>
      sentences.share(variationSentence(id, names), weight),
    )
    return shares.length === 0 ? sentences.incomplete : draft.list(shares)
  }
  if (variationId === null) return sentences.incomplete
  const variation = variationSentence(variationId, names)
  if (strategy === 'gradual') return gradualSentence(rollout, variation)
  return percentage === null ? sentences.incomplete : sentences.share(variation, percentage)
}

function gradualSentence(rollout: Rollout, variation: Sentence): Sentence {
  const { targetPercentage, increment, intervalHours, startAt } = rollout
  if (targetPercentage === null || increment === null || intervalHours === null) {
    return sentences.incomplete
  }
  const words = sentences.gradual(variation, targetPercentage, increment, intervalHours)
  return startAt === null ? words : sentences.startingAt(words, startAt)
}

/** Returns the targets of one variation in words: "user user-1, user-2 and 3 more → true". */
export function targetSentence({ kind, keys, variationId }: Target, names: Names): Sentence {
  return sentences.target(kind, shownList(keys), shown(names.variation(variationId), 'variation'))
}

/** Returns a prerequisite in words: "flag checkout serves on or beta". */
export function prerequisiteSentence(
  { flagId, variationIds }: Prerequisite,
  names: Names,
): Sentence {
  const keys = variationIds.map((id) => names.variation(id, flagId))
  return sentences.prerequisite(shown(names.flag(flagId)), shownList(keys, 'variation', 'or'))
}

/** Returns the state of a flag in words: "On: everyone gets true" or "Off: everyone gets false". */
export function stateSentence(
  { state, targetingRules }: Pick<Configuration, 'state' | 'targetingRules'>,
  names: Names,
): Sentence {
  const { isActive, defaultVariationId, offVariationId, targets } = state
  const served = isActive ? defaultVariationId : (offVariationId ?? defaultVariationId)
  const variation = served === null ? sentences.defaultOfFlag : variationSentence(served, names)
  if (!isActive) return sentences.stateOff(variation)
  const hasRules = targetingRules.length + targets.length > 0
  return hasRules ? sentences.stateOnWithRules(variation) : sentences.stateOn(variation)
}

/** Returns the conditions of a segment in words, joined by its operator. */
export function segmentSentence({ rules, logicalOp }: SegmentConditions, names: Names): Sentence {
  if (rules.length === 0) return sentences.none
  const parts = rules.map((condition) => conditionSentence(condition, names))
  const words = draft.list(parts, sentences.segmentRule[logicalOp])
  return logicalOp === 'NOT' ? sentences.segmentNone(words) : phrase`${words}`
}

interface SegmentConditions {
  readonly rules: readonly Condition[]
  readonly logicalOp: 'AND' | 'OR' | 'NOT'
}
