import { draft } from '../messages/en/draft.ts'
import type { Sentence } from '../messages/phrases/fragment.ts'
import { type Configuration, findById, isSame, type Rule } from './configuration.ts'
import { type Difference, type DifferenceOptions, movedIds } from './difference.ts'
import {
  conditionSentence,
  type Names,
  outcomeSentence,
  ruleSentence,
  shown,
  variationSentence,
} from './sentence.ts'

const { changes, sentences } = draft

/** Returns the changes of the rules as sentences: added, removed, moved and changed rules. */
export function rulesDifferences(
  before: Configuration,
  after: Configuration,
  { names }: DifferenceOptions,
): readonly Difference[] {
  const ids = (rules: readonly Rule[]) => rules.map(({ id }) => id)
  const [idsBefore, idsAfter] = [ids(before.targetingRules), ids(after.targetingRules)]
  const moved = new Set(movedIds(idsBefore, idsAfter))
  const removed = before.targetingRules
    .filter(({ id }) => !idsAfter.includes(id))
    .map((rule) => of(rule, changes.ruleRemoved(nameOf(rule), ruleSentence(rule, before, names))))
  const present = after.targetingRules.flatMap((rule, index) => {
    const known = findById(before.targetingRules, rule.id)
    if (known === undefined) {
      return [of(rule, changes.ruleAdded(nameOf(rule), index, ruleSentence(rule, after, names)))]
    }
    const position = idsBefore.indexOf(rule.id)
    const move = changes.ruleMoved(nameOf(rule), position, index)
    const edits = ruleChanges({ rule: known, in: before }, { rule, in: after }, names)
    return [
      ...(moved.has(rule.id) ? [of(rule, move)] : []),
      ...edits.map((sentence) => of(rule, changes.ruleOf(nameOf(rule), sentence))),
    ]
  })
  return [...removed, ...present]
}

interface PlacedRule {
  readonly rule: Rule
  readonly in: Configuration
}

function ruleChanges(before: PlacedRule, after: PlacedRule, names: Names): readonly Sentence[] {
  const [was, is] = [before.rule, after.rule]
  const segmentOf = ({ segmentId }: Rule): Sentence =>
    segmentId === null ? sentences.none : [shown(names.segment(segmentId), 'segment')]
  const found: Sentence[] = []
  if (was.name !== is.name) found.push(changes.renamed(nameOf(was), nameOf(is)))
  if (was.segmentId !== is.segmentId) found.push(changes.segment(segmentOf(was), segmentOf(is)))
  else if (was.kind !== is.kind) found.push(changes.kind(was.kind, is.kind))
  found.push(...conditionChanges(was.conditions, is.conditions, names))
  if (was.rolloutId !== is.rolloutId || was.variationId !== is.variationId) {
    found.push(changes.serves(outcomeOf(before, names), outcomeOf(after, names)))
  }
  return found
}

/** Returns what a rule serves: the shares of its rollout, else the variation. */
function outcomeOf({ rule, in: configuration }: PlacedRule, names: Names): Sentence {
  const isRollout = findById(configuration.rollouts, rule.rolloutId) !== undefined
  if (isRollout || rule.variationId === null) return outcomeSentence(rule, configuration, names)
  return variationSentence(rule.variationId, names)
}

/** Returns the changes of conditions as sentences. */
export function conditionChanges(
  before: Rule['conditions'],
  after: Rule['conditions'],
  names: Names,
): readonly Sentence[] {
  if (isSame(before, after)) return []
  const words = (condition: Rule['conditions'][number]) => conditionSentence(condition, names)
  const removed = before.filter((each) => !after.some((other) => isSame(each, other)))
  const added = after.filter((each) => !before.some((other) => isSame(each, other)))
  const [was, is] = [removed[0], added[0]]
  if (was && is && removed.length === 1 && added.length === 1) {
    return [changes.conditionChanged(words(was), words(is))]
  }
  const found = [
    ...removed.map((each) => changes.conditionRemoved(words(each))),
    ...added.map((each) => changes.conditionAdded(words(each))),
  ]
  return found.length === 0 ? [changes.conditionOrder] : found
}

function nameOf({ name }: Rule): Sentence {
  return [shown(name)]
}

function of({ id }: Rule, sentence: Sentence): Difference {
  return { sentence, field: { part: 'rule', id }, danger: null }
}
