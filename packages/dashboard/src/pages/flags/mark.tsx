import { classNames } from '../../style/class-names.ts'
import styles from './flags.module.css'

/** The properties of `Mark`. */
export interface MarkProps {
  readonly kind: 'plain' | 'draft'
  readonly text: string
  /** What the mark means, as a sentence. */
  readonly hint: string
}

/** A small label with its meaning on hover and for screen readers. */
export function Mark({ kind, text, hint }: MarkProps) {
  return (
    <span className={classNames(styles.mark, kind === 'draft' && styles.draft)} title={hint}>
      {text}
      <span className="visually-hidden"> ({hint})</span>
    </span>
  )
}
