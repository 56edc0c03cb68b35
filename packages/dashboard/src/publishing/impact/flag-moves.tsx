import { use, useState } from 'react'
import { VariationChip } from '../../components/variation-chip.tsx'
import { messages } from '../../messages/messages.ts'
import { useFlag } from '../../queries/use-queries.ts'
import styles from './impact.module.css'
import { MoveExamples } from './move-examples.tsx'
import { PreviewDraftContext } from './preview-draft.ts'
import type { FlagImpact, Move } from './use-preview.ts'

const { impact } = messages.publishing

/** The properties of `FlagMoves`. */
export interface FlagMovesProps {
  readonly flag: FlagImpact
  /** `true` if the preview has no other flag. */
  readonly isOnly: boolean
  readonly isFirst: boolean
}

/** The moves of one flag: one row for each, which opens its examples. */
export function FlagMoves({ flag, isOnly, isFirst }: FlagMovesProps) {
  const [isOpen, setOpen] = useState(isFirst)
  if (isOnly) return <MoveList flag={flag} />
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles.flag}>
        <bdi>{impact.flag(flag.key, flag.changed)}</bdi>
      </summary>
      {isOpen && <MoveList flag={flag} />}
    </details>
  )
}

function MoveList({ flag }: { readonly flag: FlagImpact }) {
  const { projectId } = use(PreviewDraftContext)
  const { data } = useFlag(projectId, flag.flagId)
  const variations = data?.data.variations ?? []
  const indexOf = (key: string | null) => {
    const index = variations.findIndex((variation) => variation.key === key)
    // Before the flag is loaded, and for deleted variations, the order is that of the preview.
    return index >= 0 ? index : Math.max(0, orderIn(flag).indexOf(key))
  }
  if (flag.moves.length === 0) return null
  return (
    <ul className={styles.moves} aria-label={impact.moves(flag.key)}>
      {flag.moves.map((move) => (
        <li
          key={JSON.stringify([move.from, move.to, move.fromReason, move.toReason, move.toRuleId])}
        >
          <MoveRow {...{ move, indexOf }} flagKey={flag.key} />
        </li>
      ))}
    </ul>
  )
}

function orderIn({ before, after }: FlagImpact): readonly (string | null)[] {
  return [...new Set([...before, ...after].map(({ variationKey }) => variationKey))].sort()
}

interface MoveRowProps {
  readonly move: Move
  readonly indexOf: (key: string | null) => number
  readonly flagKey: string
}

function MoveRow({ move, indexOf, flagKey }: MoveRowProps) {
  const [isOpen, setOpen] = useState(false)
  const { from, to, contexts, share, fromReason, toReason, examples } = move
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles.move}>
        <span className={styles.chips}>
          <VariationChip name={from ?? impact.noVariation} index={indexOf(from)} />
          <span className={styles.arrow} aria-hidden="true" />
          <span className="visually-hidden">{impact.becomes}</span>
          <VariationChip name={to ?? impact.noVariation} index={indexOf(to)} />
        </span>
        <span className={styles.count}>{impact.moveCount(contexts, share)}</span>
        <span className={styles.reason}>
          {impact.reasonChange(impact.reasons[fromReason], impact.reasons[toReason])}
        </span>
      </summary>
      {isOpen && <MoveExamples {...{ examples, flagKey }} />}
    </details>
  )
}
