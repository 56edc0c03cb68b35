import type { Environment, EvaluationQuestion } from '@ff/protocol/management'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi } from '../../session/use-session.ts'

const DELAY_MS = 300

/** Evaluates the flags of an environment for a context, shortly after the last change. */
export function useEvaluation(
  environment: Environment | undefined,
  question: EvaluationQuestion | undefined,
) {
  const api = useApi()
  const { id = '', projectId = '' } = environment ?? {}
  const body = useSettled(question)
  return useQuery({
    queryKey: [...queryKeys.evaluation(projectId, id), body],
    enabled: id !== '' && body !== undefined,
    placeholderData: keepPreviousData,
    // A context is not kept longer than the page shows it.
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const input = { params: { projectId, environmentId: id }, body: body ?? NO_QUESTION, signal }
      return (await api.call('explainEvaluation', input)).data
    },
  })
}

const NO_QUESTION: EvaluationQuestion = { context: {} }

/** Returns the last value that has not changed for a short time; the first value at once. */
function useSettled(question: EvaluationQuestion | undefined): EvaluationQuestion | undefined {
  const text = JSON.stringify(question)
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), DELAY_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled === undefined ? undefined : (JSON.parse(settled) as EvaluationQuestion)
}
