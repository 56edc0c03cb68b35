import type { ExplainedEvaluation, ExplainedFlag } from '@ff/protocol/management'
import { useQuery } from '@tanstack/react-query'
import { use } from 'react'
import type { Api } from '../../api/api.ts'
import { messages } from '../../messages/messages.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi } from '../../session/use-session.ts'
import { classNames } from '../../style/class-names.ts'
import styles from './impact.module.css'
import { type PreviewDraft, PreviewDraftContext } from './preview-draft.ts'
import { type Example, WINDOW_HOURS } from './use-preview.ts'

const { impact } = messages.publishing
const KEPT_MS = 30_000
const MOST_LISTED = 100

/** The properties of `ExampleExplanation`. */
export interface ExampleExplanationProps {
  readonly example: Example
  readonly flagKey: string
}

/** Why a context gets its result now, and why it gets another one with the draft. */
export function ExampleExplanation({ example, flagKey }: ExampleExplanationProps) {
  const { data, error, isPending } = useExplanations(example, flagKey)
  if (isPending) {
    return (
      <p className={styles.muted} role="status">
        {impact.explanationLoading}
      </p>
    )
  }
  if (error !== null) {
    return (
      <p className={styles.warning} role="alert">
        {impact.explanationFailed} {error.message}
      </p>
    )
  }
  if (data === null) return <p className={styles.muted}>{impact.contextMissing}</p>
  return (
    <div className={styles.sides}>
      <Side title={impact.whyNow} hint={impact.whyNowHint} evaluation={data.published} />
      <Side title={impact.whyThen} hint={impact.whyThenHint} evaluation={data.draft} />
    </div>
  )
}

interface SideProps {
  readonly title: string
  readonly hint: string
  readonly evaluation: ExplainedEvaluation | null
}

function Side({ title, hint, evaluation }: SideProps) {
  const flag = evaluation?.flags[0]
  return (
    <section className={styles.side} aria-label={title}>
      <p className={styles.sideTitle}>
        {title} <span className={styles.muted}>({hint})</span>
      </p>
      {flag === undefined ? <p>{impact.flagMissing}</p> : <StepList steps={flag.steps ?? []} />}
    </section>
  )
}

type Step = NonNullable<ExplainedFlag['steps']>[number]

function outcomeWords({ outcome }: Step): string {
  if (outcome === 'held') return impact.stepHeld
  return outcome === 'skipped' ? impact.stepSkipped : impact.stepNotHeld
}

function StepList({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <ol className={styles.steps}>
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the steps of an evaluation never move
        <li key={index}>
          <span className={classNames(styles.step, step.outcome !== 'held' && styles.muted)}>
            <bdi>{step.text}</bdi>
            <span className="visually-hidden"> ({outcomeWords(step)})</span>
          </span>
          {step.steps !== undefined && <StepList steps={step.steps} />}
        </li>
      ))}
    </ol>
  )
}

function useExplanations(example: Example, flagKey: string) {
  const api = useApi()
  const draft = use(PreviewDraftContext)
  const { projectId, environmentId, changes } = draft
  const place = queryKeys.evaluation(projectId, environmentId)
  return useQuery({
    queryKey: [...place, 'explanation', example, flagKey, JSON.stringify(changes)],
    gcTime: KEPT_MS,
    queryFn: ({ signal }) => explain(api, draft, { example, flagKey, signal }),
  })
}

interface Question extends ExampleExplanationProps {
  readonly signal: AbortSignal
}

/** Loads the explanations of both sides; `null` if the context is not stored any more. */
async function explain(api: Api, draft: PreviewDraft, question: Question) {
  const { projectId, environmentId, changes } = draft
  const { example, flagKey, signal } = question
  const { kind, key, lastSeen } = example
  // The preview names only the key. The attributes are those of the stored context.
  const query = { environmentId, kind, from: lastSeen, limit: MOST_LISTED }
  const exact = await api.call('listObservedContexts', {
    query: { ...query, to: lastSeen },
    signal,
  })
  const later = exact.data.data.some((each) => keyOf(each.contextJson, kind) === key)
    ? exact
    : await api.call('listObservedContexts', { query, signal })
  const found = later.data.data.find((each) => keyOf(each.contextJson, kind) === key)
  if (found === undefined) return null
  const body = {
    changes: [...(changes ?? [])],
    windowHours: WINDOW_HOURS,
    explain: { context: found.contextJson, flagKey },
  }
  const { data } = await api.call('previewChanges', {
    params: { projectId, environmentId },
    body,
    signal,
  })
  return data.explanations ?? null
}

/** Returns the key of a stored context of one kind, also within a context of several kinds. */
function keyOf(context: unknown, kind: string): unknown {
  if (!isObject(context)) return undefined
  if ('key' in context) return context['key']
  const part = Object.hasOwn(context, kind) ? context[kind] : undefined
  return isObject(part) ? part['key'] : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
