import type { ApiError, FieldIssue } from '../../api/api-error.ts'
import { messages } from '../../messages/messages.ts'
import styles from './impact.module.css'

const { impact } = messages.publishing
const NO_ISSUES: readonly FieldIssue[] = []
const PATH_OF_CHANGE = /^changes\.\d+\.?(?:configuration\.?)?/

/** Returns the faults of a draft that a preview has found. Their paths begin in the configuration. */
export function previewIssues(error: ApiError | undefined): readonly FieldIssue[] {
  if (error?.status !== 400) return NO_ISSUES
  return error.issues.map(({ path, message }) => {
    return { path: path.replace(PATH_OF_CHANGE, ''), message }
  })
}

/** Why there is no preview. Publishing stays possible. */
export function PreviewRefusal({ error }: { readonly error: ApiError }) {
  if (error.code === 'PREVIEW_WITHOUT_CONTEXTS') {
    return <p className={styles.muted}>{impact.withoutContexts}</p>
  }
  if (error.status !== 400) {
    return (
      <div className={styles.warning} role="status">
        <p>{impact.failed}</p>
        <p>{error.message}</p>
        {!error.isUnavailable && <p>{impact.failedHint}</p>}
      </div>
    )
  }
  const issues = previewIssues(error)
  return (
    <div className={styles.warning} role="status">
      <p>{impact.refused}</p>
      {issues.length === 0 ? <p>{error.message}</p> : <IssueList issues={issues} />}
    </div>
  )
}

/** Faults of fields as a list. */
export function IssueList({ issues }: { readonly issues: readonly FieldIssue[] }) {
  return (
    <ul className={styles.issues}>
      {issues.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          {path !== '' && <code>{path}</code>} {message}
        </li>
      ))}
    </ul>
  )
}
