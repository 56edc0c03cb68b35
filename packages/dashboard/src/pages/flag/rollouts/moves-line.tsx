import { SentenceText } from '../../../components/text/sentence-text.tsx'
import { findById, isSame, type Rollout } from '../../../draft/configuration.ts'
import { movesSentence } from '../../../draft/rollout-differences.ts'
import { rolloutMoves } from '../../../draft/rollout-moves.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { useEditing } from '../editing/editing.ts'
import styles from './rollouts.module.css'

/** What the change of a rollout does: "25 % → 30 %: another 5 % get true; no one loses it". */
export function MovesLine({ rollout }: { readonly rollout: Rollout }) {
  const { handle, names, now } = useEditing()
  const before = findById(handle.draft.base.rollouts, rollout.id)
  if (isSame(before, rollout)) return null
  const words = movesSentence(rolloutMoves(before, rollout, now), names)
  const [from, to] = [before?.percentage ?? null, rollout.percentage]
  const sentence =
    from !== null && to !== null && from !== to ? targeting.rollout.change(from, to, words) : words
  return (
    <p className={styles.moves} aria-live="polite">
      <SentenceText sentence={sentence} />
    </p>
  )
}
