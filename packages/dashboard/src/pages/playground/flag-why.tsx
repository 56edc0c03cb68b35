import type { Environment, EvaluationQuestion, ExplainedFlag } from '@ff/protocol/management'
import { Skeleton } from '../../components/states.tsx'
import { ExplanationTree } from '../../explanation/explanation-tree.tsx'
import { messages } from '../../messages/messages.ts'
import { useSegments } from '../../queries/use-queries.ts'
import styles from './playground.module.css'
import { useEvaluation } from './use-evaluation.ts'

const { playground: texts } = messages

/** The properties of `FlagWhy`. */
export interface FlagWhyProps {
  readonly id: string
  readonly flag: ExplainedFlag
  readonly environment: Environment
  readonly question: EvaluationQuestion | undefined
}

/** Why the context gets its result. Steps that the response left out are requested alone. */
export function FlagWhy({ id, flag, environment, question }: FlagWhyProps) {
  const segments = useSegments(environment.projectId)
  const { flagKey } = flag
  const isComplete = flag.steps !== null
  const alone = useEvaluation(
    environment,
    isComplete || !question ? undefined : { ...question, flagKey },
  )
  const explained = isComplete ? flag : alone.data?.flags[0]
  const segment = (segmentId: string) =>
    segments.data?.data.find((each) => each.id === segmentId)?.name ?? segmentId
  return (
    <section id={id} className={styles.why} aria-label={texts.why(flagKey)}>
      <pre className={styles.value}>{JSON.stringify(flag.value, null, 2)}</pre>
      {explained === undefined ? (
        <Skeleton rows={2} />
      ) : (
        <ExplanationTree flag={explained} names={{ segment }} />
      )}
    </section>
  )
}
