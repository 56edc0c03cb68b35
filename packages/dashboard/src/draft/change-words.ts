import { draft } from '../messages/en/draft.ts'
import type { Sentence } from '../messages/phrases/fragment.ts'
import type { Rollout, Rule } from './configuration.ts'
import type { Conflict } from './merge.ts'
import type { Side, Sides } from './merge-fields.ts'
import {
  conditionsSentence,
  type Names,
  outcomeSentence,
  rolloutSentence,
  shown,
  shownList,
  variationSentence,
} from './sentence.ts'

const { conflicts, sentences } = draft

/** A conflict in words: its field, and the value of each side. */
export interface ConflictWords {
  readonly title: Sentence
  readonly before: Sentence
  readonly theirs: Sentence
  readonly yours: Sentence
}

/** Returns a conflict in words. */
export function conflictWords(conflict: Conflict, names: Names): ConflictWords {
  const side = (name: Side) => sideWords(conflict, name, names)
  const words = { before: side('before'), theirs: side('theirs'), yours: side('yours') }
  return { title: titleOf(conflict, names), ...words }
}

function titleOf(conflict: Conflict, names: Names): Sentence {
  if (conflict.kind === 'target')
    return conflicts.target(conflict.contextKind, [shown(conflict.key)])
  if (conflict.kind === 'prerequisite') {
    return conflicts.prerequisite(shown(names.flag(conflict.flagId)))
  }
  const title = conflicts[conflict.kind]
  if (typeof title !== 'function') return title
  const item = (conflict.yours ?? conflict.theirs ?? conflict.before) as Rule | Rollout
  return title([shown(item.name)])
}

function sideWords(conflict: Conflict, side: Side, names: Names): Sentence {
  switch (conflict.kind) {
    case 'isActive':
      return conflict[side] ? conflicts.on : conflicts.off
    case 'defaultVariation':
    case 'offVariation':
    case 'target':
      return variationWords(conflict, conflict[side], names)
    case 'prerequisite': {
      const variations = conflict[side]
      if (variations === null) return conflicts.removed
      const keys = variations.map((id) => names.variation(id, conflict.flagId))
      return shownList(keys, 'variation', 'or')
    }
    case 'rollout':
    case 'rolloutName':
    case 'rolloutBucketing':
    case 'rolloutShares':
      return rolloutWords(conflict.kind, conflict[side], names)
    default:
      return ruleWords(conflict, side, names)
  }
}

function variationWords({ kind }: Conflict, id: string | null, names: Names): Sentence {
  if (id !== null) return variationSentence(id, names)
  return kind === 'defaultVariation' ? sentences.defaultOfFlag : sentences.none
}

function rolloutWords(kind: string, rollout: Rollout | null, names: Names): Sentence {
  if (rollout === null) return conflicts.removed
  if (kind === 'rolloutName') return [shown(rollout.name)]
  if (kind !== 'rolloutBucketing') return rolloutSentence(rollout, names)
  const attribute = shown(rollout.bucketBy, 'attribute')
  return conflicts.bucketing(attribute, [shown(rollout.salt)], rollout.scheme)
}

type RuleConflict = Extract<Conflict, Sides<Rule | null>>

function ruleWords({ kind, rollouts, ...sides }: RuleConflict, side: Side, names: Names): Sentence {
  const rule = sides[side]
  if (rule === null) return conflicts.removed
  const used = rollouts?.[side]
  const serves = outcomeSentence(rule, { rollouts: used ? [used] : [] }, names)
  if (kind === 'ruleName') return [shown(rule.name)]
  if (kind === 'ruleServes') return serves
  const { segmentId } = rule
  if (kind === 'ruleSegment') {
    return segmentId === null ? sentences.none : [shown(names.segment(segmentId), 'segment')]
  }
  const words = conditionsSentence(kind === 'rule' ? rule : { ...rule, segmentId: null }, names)
  if (kind === 'rule')
    return words.length === 0 ? sentences.everyone(serves) : sentences.rule(words, serves)
  return words.length === 0 ? conflicts.noConditions : words
}
