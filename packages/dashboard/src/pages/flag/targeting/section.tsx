import type { ReactNode } from 'react'
import styles from './targeting.module.css'

/** The properties of `Section`. */
export interface SectionProps {
  readonly title: string
  /** The mark of a change. */
  readonly mark?: ReactNode
  readonly action?: ReactNode
  readonly children?: ReactNode
}

/** A part of the targeting: its heading, its action and its content. */
export function Section({ title, mark, action, children }: SectionProps) {
  return (
    <section className={styles.section} aria-label={title}>
      <header className={styles.heading}>
        <h2>{title}</h2>
        {mark}
        <span className={styles.space} />
        {action}
      </header>
      {children}
    </section>
  )
}
