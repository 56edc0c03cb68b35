import type { ApiError } from '../api/api-error.ts'
import { messages } from '../messages/messages.ts'
import { IssueList } from './impact/preview-refusal.tsx'
import type { PublishState } from './publish-state.ts'
import styles from './publishing.module.css'

const { review: words } = messages.publishing

/** What is known after a request that did not publish the draft, or may not have. */
export function ReviewOutcome({ state }: { readonly state: PublishState }) {
  return (
    <div role="alert">
      {state.phase === 'publishing' && <p className={styles.muted}>{words.publishing}</p>}
      {state.phase === 'reviewing' && state.refusal !== undefined && (
        <Refusal error={state.refusal} />
      )}
      {state.phase === 'unknown' && (
        <div className={styles.refusal}>
          <p className={styles.strong}>{words.unknown}</p>
          <p>{state.reason.message}</p>
          <p>{words.unknownHint}</p>
        </div>
      )}
    </div>
  )
}

function Refusal({ error }: { readonly error: ApiError }) {
  const { status, message, issues, requestId } = error
  return (
    <div className={styles.refusal}>
      <p className={styles.strong}>{words.refused}</p>
      {issues.length > 0 ? (
        <>
          <p>{words.fields}</p>
          <IssueList issues={issues} />
        </>
      ) : (
        <p>{status === 404 ? words.missing : message}</p>
      )}
      {requestId !== undefined && (
        <p className={styles.muted}>{messages.errors.requestId(requestId)}</p>
      )}
    </div>
  )
}
