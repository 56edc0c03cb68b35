import type { ExplainedFlag } from '@ff/protocol/management'
import { conditionSentence, shown } from '../draft/sentence.ts'
import { explanation } from '../messages/en/explanation.ts'
import type { Sentence } from '../messages/phrases/fragment.ts'

const { steps: words, reasons, errors } = explanation

/** A step of the evaluation of a flag. */
export type ExplanationStep = NonNullable<ExplainedFlag['steps']>[number]

/** The names that an explanation shows for ids. */
export interface ExplanationNames {
  /** Returns the name of a segment; the id itself if it is unknown. */
  readonly segment: (id: string) => string
}

/** A step in words: what was tested, and what was found. */
export interface StepWords {
  readonly sentence: Sentence
  readonly detail: Sentence | undefined
}

/** The place of a step in its explanation. */
export interface StepPlace {
  readonly flag: ExplainedFlag
  readonly names: ExplanationNames
  /** The position of a rule among the rules of the flag, counted from 1. */
  readonly rule: number
}

/** Returns a step in words. A step without fields of its own keeps the text of the server. */
export function stepWords(step: ExplanationStep, place: StepPlace): StepWords {
  switch (step.type) {
    case 'flag':
      return only(flagSentence(step, place.flag))
    case 'prerequisite':
      return only(prerequisiteSentence(step))
    case 'rule':
      return only(ruleSentence(step, place.rule))
    case 'condition':
      return conditionWords(step, place.names)
    case 'segment':
      return segmentWords(step, place.names)
    case 'rollout':
      return rolloutWords(step)
    case 'answer':
      return only(words.serves(servedSentence(step.variationKey), reasonSentence(place.flag)))
    default:
      return only(textSentence(step))
  }
}

/** Returns the reason of a result in words: "a rule matches". */
export function reasonSentence(flag: ExplainedFlag): Sentence {
  const reason = reasonOf(flag)
  if (flag.errorCode === undefined) return reason
  const error = errors[flag.errorCode]
  return flag.reason === 'ERROR' ? error : explanation.withError(reason, error)
}

function reasonOf({ reason, ruleId, prerequisiteKey }: ExplainedFlag): Sentence {
  if (prerequisiteKey !== undefined) return reasons.prerequisite(shown(prerequisiteKey))
  switch (reason) {
    case 'DISABLED':
      return reasons.disabled
    case 'TARGETING_MATCH':
      return ruleId === undefined ? reasons.target : reasons.rule
    case 'SPLIT':
      return reasons.rollout
    case 'STATIC':
      return reasons.static
    case 'ERROR':
      return reasons.error
    default:
      return reasons.default
  }
}

function only(sentence: Sentence): StepWords {
  return { sentence, detail: undefined }
}

function textSentence({ text }: ExplanationStep): Sentence {
  return [{ text, kind: 'plain' }]
}

function servedSentence(variationKey: string | null | undefined): Sentence {
  return variationKey == null ? words.nothing : [shown(variationKey, 'variation')]
}

function flagSentence(step: ExplanationStep, { reason }: ExplainedFlag): Sentence {
  if (step.outcome === 'held') return words.flagOn
  return reason === 'DISABLED' ? words.flagOff : textSentence(step)
}

function prerequisiteSentence(step: ExplanationStep): Sentence {
  if (step.flagKey === undefined) return textSentence(step)
  const sentence = step.outcome === 'held' ? words.prerequisiteMet : words.prerequisiteNotMet
  return sentence(shown(step.flagKey), servedSentence(step.variationKey))
}

function ruleSentence({ outcome }: ExplanationStep, rule: number): Sentence {
  if (outcome === 'held') return words.ruleMatches(rule)
  return outcome === 'skipped' ? words.ruleSkipped(rule) : words.ruleDoesNotMatch(rule)
}

function conditionWords(step: ExplanationStep, names: ExplanationNames): StepWords {
  const { attribute = '', operator = '', value = '', found, flagKey } = step
  const all = { ...names, variation: (id: string) => id, flag: (id: string) => id }
  const condition = { attribute, operator, value, negate: isNegated(step) }
  const sentence = conditionSentence(condition, all)
  if (flagKey !== undefined) {
    return { sentence, detail: words.flagServes(servedSentence(step.variationKey)) }
  }
  if (found === undefined) {
    const isSegment = operator === 'in_segment' || operator === 'not_in_segment'
    return { sentence, detail: isSegment ? undefined : textSentence(step) }
  }
  if (found === null) return { sentence, detail: words.missing }
  const detail = step.isInexact ? words.foundInexact : words.found
  return { sentence, detail: detail(shown(found)) }
}

/** The negation of a condition is only in its text, in front of the attribute and the operator. */
function isNegated({ attribute = '', operator = '', text }: ExplanationStep): boolean {
  return text.startsWith(`not ${[attribute, operator].filter((part) => part !== '').join(' ')} `)
}

function segmentWords(step: ExplanationStep, names: ExplanationNames): StepWords {
  const { segmentId = '', outcome, text } = step
  const sentence = outcome === 'held' ? words.inSegment : words.notInSegment
  const known = names.segment(segmentId)
  if (known === segmentId) return only([{ text, kind: 'plain' }])
  return { sentence: sentence(shown(known, 'segment')), detail: textSentence(step) }
}

function rolloutWords(step: ExplanationStep): StepWords {
  const { attribute = '', found, bucket, range, variationKey } = step
  const name = shown(attribute, 'attribute')
  if (bucket === undefined || found == null) return only(words.rolloutWithoutKey(name))
  const key = shown(found)
  if (range === undefined) {
    return { sentence: words.rolloutServesNothing(name, key), detail: words.inNoRange(bucket) }
  }
  return {
    sentence: words.rolloutServes(name, key, servedSentence(variationKey)),
    detail: words.inRange(bucket, range.from, range.to),
  }
}
