import { draft } from '../../messages/en/draft.ts'
import type { Sentence } from '../../messages/phrases/fragment.ts'
import { type Names, variationSentence } from '../sentence.ts'
import type { RolloutMoves } from './rollout-moves.ts'

const { moves } = draft

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
