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
  const text = useSettled(JSON.stringify(question))
  return useQuery({
    // As an object, the key would not differ between contexts with and without `__proto__`.
    queryKey: [...queryKeys.evaluation(projectId, id), text],
    enabled: id !== '' && text !== undefined,
    placeholderData: keepPreviousData,
    // A context is not kept longer than the page shows it.
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const body = JSON.parse(text ?? '{"context":{}}') as EvaluationQuestion
      const input = { params: { projectId, environmentId: id }, body, signal }
      return (await api.call('explainEvaluation', input)).data
    },
  })
}

/** Returns the last text that has not changed for a short time; the first text at once. */
function useSettled(text: string | undefined): string | undefined {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), DELAY_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
