import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { relativeTime } from '../../components/relative-time.tsx'
import { Select } from '../../components/select.tsx'
import { messages } from '../../messages/messages.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi } from '../../session/use-session.ts'

const { playground: texts } = messages
const SHOWN = 50

/** The properties of `ObservedContextSelect`. */
export interface ObservedContextSelectProps {
  readonly environmentId: string
  readonly onChoose: (context: object) => void
}

/** The choice of a recently observed context. Not shown if there are none, or if they cannot be read. */
export function ObservedContextSelect({ environmentId, onChoose }: ObservedContextSelectProps) {
  const contexts = useObservedContexts(environmentId)
  if (contexts.length === 0) return null
  const now = Date.now()
  const choose = (id: string) => {
    const found = contexts.find((context) => context.id === id)
    if (found !== undefined) onChoose(found.contextJson as object)
  }
  return (
    <Select
      label={texts.observed}
      placeholder={texts.chooseObserved}
      options={contexts.map(({ id, contextJson, lastSeen }) => {
        return { id, name: texts.observedOption(nameOf(contextJson), relativeTime(lastSeen, now)) }
      })}
      value={null}
      onChange={choose}
    />
  )
}

function useObservedContexts(environmentId: string) {
  const api = useApi()
  const { project = '' } = useParams({ strict: false })
  const { data } = useQuery({
    queryKey: [...queryKeys.project(project), 'observedContexts', environmentId],
    enabled: environmentId !== '',
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = { environmentId, limit: SHOWN }
      return (await api.call('listObservedContexts', { query, signal })).data.data
    },
  })
  return data ?? []
}

/** Returns the kinds and keys of a context, such as "user user-42". */
function nameOf(context: unknown): string {
  const { kind, key, ...others } = context as Readonly<Record<string, unknown>>
  if (kind !== 'multi') return `${kind ?? ''} ${key ?? texts.noKey}`
  const parts = Object.entries(others) as [string, { readonly key?: unknown } | null][]
  return parts.map(([name, part]) => `${name} ${part?.key ?? texts.noKey}`).join(', ')
}
