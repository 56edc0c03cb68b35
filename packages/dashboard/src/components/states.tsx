import type { ReactNode } from 'react'
import { ApiError } from '../api/api-error.ts'
import { messages } from '../messages/messages.ts'
import { Button } from './button.tsx'
import styles from './page.module.css'

/** The properties of `EmptyState`. */
export interface EmptyStateProps {
  readonly sentence: string
  readonly action?: ReactNode
  /** Code that creates the first item. */
  readonly snippet?: string
}

/** The content of a list without items: one sentence, one button, one snippet. */
export function EmptyState({ sentence, action, snippet }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <p>{sentence}</p>
      {action}
      {snippet !== undefined && <pre className={styles.snippet}>{snippet}</pre>}
    </div>
  )
}

/** The properties of `ErrorState`. */
export interface ErrorStateProps {
  /** What failed, as a sentence. */
  readonly title: string
  readonly error: unknown
  /** What was not done, as a sentence. */
  readonly notDone?: string
  readonly onRetry?: () => void
}

/** What failed, why, what was not done, "Try again", and the id of the request. */
export function ErrorState({ title, error, notDone, onRetry }: ErrorStateProps) {
  const known = error instanceof ApiError ? error : undefined
  const isMissing = known?.status === 404
  const reason = isMissing ? messages.errors.notFound : (known?.message ?? messages.errors.unknown)
  return (
    <div className={styles.state} role="alert">
      <h2>{title}</h2>
      <p>{reason}</p>
      {notDone !== undefined && <p>{notDone}</p>}
      {onRetry !== undefined && <Button onPress={onRetry}>{messages.errors.tryAgain}</Button>}
      {known?.requestId !== undefined && (
        <p className={styles.muted}>{messages.errors.requestId(known.requestId)}</p>
      )}
    </div>
  )
}

/** The shape of a list or a form while it is loaded. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  const keys = Array.from({ length: rows }, (_, index) => `row-${index}`)
  return (
    <div className={styles.skeleton} role="status">
      <span className="visually-hidden">{messages.components.loading}</span>
      {keys.map((key) => (
        <div key={key} className={styles.skeletonRow} />
      ))}
    </div>
  )
}
