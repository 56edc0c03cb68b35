import type { Convergence, Environment } from '@ff/protocol/management'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messages } from '../messages/messages.ts'
import { queryKeys } from '../queries/query-keys.ts'
import { useApi } from '../session/use-session.ts'

const INTERVAL_MS = 1000
const LIMIT_MS = 60_000

/** The number of live clients to which the newest version was sent, until it was sent to all. */
export function SwitchDelivery({ environment }: { readonly environment: Environment }) {
  const api = useApi()
  const [began] = useState(Date.now)
  const { id: environmentId, projectId } = environment
  const { data } = useQuery({
    queryKey: queryKeys.convergence(projectId, environmentId),
    staleTime: 0,
    queryFn: async ({ signal }): Promise<Convergence> => {
      const params = { projectId, environmentId }
      return (await api.call('getConvergence', { params, signal })).data
    },
    refetchInterval: ({ state }) =>
      state.data?.total.behind === 0 || Date.now() - began > LIMIT_MS ? false : INTERVAL_MS,
  })
  if (data === undefined) return null
  return <span>{deliveryText(data)}</span>
}

/** Returns in words to how many clients the newest version was sent. */
export function deliveryText({ total }: Pick<Convergence, 'total'>): string {
  const all = total.ws + total.poll
  const texts = messages.flagSwitch
  return all === 0 ? texts.sentNone : texts.sent(all - total.behind, all)
}
