import type { Environment, EvaluationQuestion, ExplainedEvaluation } from '@ff/protocol/management'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { exactTime } from '../../components/relative-time.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { messages } from '../../messages/messages.ts'
import { FlagResults } from './flag-results.tsx'
import styles from './playground.module.css'
import { useEvaluation } from './use-evaluation.ts'

const { playground: texts } = messages

/** The properties of `EvaluationResult`. */
export interface EvaluationResultProps {
  readonly environment: Environment
  /** `undefined` if the context has a fault. */
  readonly context: object | undefined
}

/** The result of every flag for the context. */
export function EvaluationResult({ environment, context }: EvaluationResultProps) {
  const { version, at } = useSearch({ from: '/layout/p/$project/playground' })
  const question: EvaluationQuestion | undefined = context && {
    context,
    ...(version === undefined ? {} : { version }),
    ...(at === undefined ? {} : { at }),
  }
  const { data, error, refetch } = useEvaluation(environment, question)
  if (context === undefined) return <EmptyState sentence={texts.faulty} />
  if (error !== null) return <Refusal error={error} onRetry={() => refetch()} />
  if (data === undefined) return <Skeleton />
  if (data.flags.length === 0) return <EmptyState sentence={texts.noFlags} />
  return <Flags evaluation={data} environment={environment} question={question} />
}

interface FlagsProps {
  readonly evaluation: ExplainedEvaluation
  readonly environment: Environment
  readonly question: EvaluationQuestion | undefined
}

function Flags({ evaluation, environment, question }: FlagsProps) {
  const [search, setSearch] = useState('')
  const { flags, version, at } = evaluation
  const words = search.trim().toLowerCase()
  const found = flags.filter(({ flagKey }) => flagKey.toLowerCase().includes(words))
  return (
    <>
      <div className={styles.filter}>
        <SearchField label={texts.search} value={search} onChange={setSearch} />
        <span className={styles.hint} aria-live="polite">
          {texts.count(found.length, flags.length)}
        </span>
        <span className={styles.hint}>
          {texts.evaluatedAt(version)}, <time dateTime={at}>{exactTime(at)}</time>
        </span>
      </div>
      {found.length === 0 ? (
        <EmptyState sentence={texts.noMatch} />
      ) : (
        <FlagResults flags={found} environment={environment} question={question} />
      )}
    </>
  )
}

interface RefusalProps {
  readonly error: Error
  readonly onRetry: () => void
}

/** The refusal of the context, with the faults of its parts. */
function Refusal({ error, onRetry }: RefusalProps) {
  const issues = error instanceof ApiError ? error.issues : []
  return (
    <>
      <ErrorState title={texts.refused} error={error} onRetry={onRetry} />
      {issues.length > 0 && (
        <ul className={styles.issues}>
          {issues.map(({ path, message }) => (
            <li key={`${path} ${message}`}>{texts.faultAt(path, message)}</li>
          ))}
        </ul>
      )}
    </>
  )
}
