import { draft } from '../messages/en/draft.ts'
import type { Sentence } from '../messages/phrases/fragment.ts'
import { isSame, type Rollout } from './configuration.ts'
import type { Danger, Difference, DifferenceOptions } from './difference.ts'
import { type RolloutMoves, rolloutMoves } from './rollout-moves.ts'
import {
  type Names,
  rolloutSentence,
  sharesSentence,
  shown,
  variationSentence,
} from './sentence.ts'

const { changes, moves, sentences } = draft

/** The percentage of contexts from which on a change of a rollout is dangerous. */
export const MOST_PERCENTAGE = 50

/** Returns the changes of a rollout as sentences. */
export function rolloutDifferences(
  before: Rollout | undefined,
  after: Rollout | undefined,
  options: DifferenceOptions,
): readonly Difference[] {
  const known = after ?? before
  if (known === undefined || isSame(before, after)) return []
  const field = { part: 'rollout', id: known.id } as const
  const name = [shown(known.name)]
  if (after === undefined) return [{ sentence: changes.rolloutRemoved(name), field, danger: null }]
  if (before === undefined) {
    const sentence = changes.rolloutAdded(name, rolloutSentence(after, options.names))
    return [{ sentence, field, danger: null }]
  }
  const bucketing = bucketingChanges(before, after)
  const moved = rolloutMoves(before, after, options.now)
  const isMost = moved.movedPercentage > MOST_PERCENTAGE
  const reassigned: Danger | null = moved.isReassigned ? 'reassigned' : null
  const found = [
    ...nameChanges(before, after).map((sentence) => ({ sentence, danger: null })),
    ...bucketing.map((sentence) => ({ sentence, danger: reassigned })),
    ...sharesChanges({ before, after, moved }, options).map((sentence) => ({
      sentence,
      danger: isMost ? ('moves-most' as const) : null,
    })),
  ]
  return found.map(({ sentence, danger }) => {
    return { sentence: changes.rolloutOf(name, sentence), field, danger }
  })
}

function nameChanges(before: Rollout, after: Rollout): readonly Sentence[] {
  if (before.name === after.name) return []
  return [changes.renamed([shown(before.name)], [shown(after.name)])]
}

function bucketingChanges(before: Rollout, after: Rollout): readonly Sentence[] {
  const fields = ['bucketBy', 'salt', 'scheme'] as const
  return fields
    .filter((field) => before[field] !== after[field])
    .map((field) => {
      const kind = field === 'bucketBy' ? 'attribute' : 'value'
      return changes[field]([shown(before[field], kind)], [shown(after[field], kind)])
    })
}

interface ChangedRollout {
  readonly before: Rollout
  readonly after: Rollout
  readonly moved: RolloutMoves
}

/** Returns the change of the shares, in the shortest exact words. */
function sharesChanges(
  { before, after, moved }: ChangedRollout,
  { names }: DifferenceOptions,
): readonly Sentence[] {
  if (isSame(settingsOf(before), settingsOf(after))) return []
  const onlyPercentage = isSame(
    { ...settingsOf(before), percentage: null },
    { ...settingsOf(after), percentage: null },
  )
  if (onlyPercentage && before.percentage !== null && after.percentage !== null) {
    const percentages = {
      before: draft.percent(before.percentage),
      after: draft.percent(after.percentage),
    }
    const variation = after.variationId
    const name = variation === null ? sentences.none : variationSentence(variation, names)
    const share = changes.by(changes.share(percentages, name), shown(after.bucketBy, 'attribute'))
    return [moved.isReassigned ? share : changes.moving(share, movesSentence(moved, names))]
  }
  return [changes.shares(sharesSentence(before, names), sharesSentence(after, names))]
}

function settingsOf({
  id: _,
  name: __,
  bucketBy: ___,
  salt: ____,
  scheme: _____,
  ...rest
}: Rollout) {
  return rest
}

/** Returns what a change of a rollout does in words: "another 5 % get true; no one loses it". */
export function movesSentence(change: RolloutMoves, names: Names): Sentence {
  const { movedPercentage, isReassigned, isExact, shares } = change
  if (isReassigned) return moves.reassigned(movedPercentage)
  if (shares.length === 0) return isExact ? moves.unchanged : moves.unknown
  const served = shares.filter(({ variationId }) => variationId !== null)
  const parts = served.map(({ variationId, before, after }) => {
    const name = variationSentence(variationId ?? '', names)
    const difference = Math.abs(after - before)
    return after > before ? moves.gains(difference, name) : moves.loses(difference, name)
  })
  if (!isExact) return moves.atLeast(moves.all(parts))
  if (served.some(({ before, after }) => after < before)) return moves.all(parts)
  return moves.all([...parts, parts.length === 1 ? moves.noOneLoses : moves.noOneLosesAny])
}
