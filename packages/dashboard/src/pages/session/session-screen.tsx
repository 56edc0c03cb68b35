import type { ReactNode } from 'react'
import { usePageTitle } from '../../components/page.tsx'
import styles from './session.module.css'

/** The properties of `SessionScreen`. */
export interface SessionScreenProps {
  readonly title: string
  readonly children: ReactNode
}

/** A page without the layout of the application: one card with its heading. */
export function SessionScreen({ title, children }: SessionScreenProps) {
  usePageTitle(title)
  return (
    <main className={styles.screen}>
      <div className={styles.card}>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}
