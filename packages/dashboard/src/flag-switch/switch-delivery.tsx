import type { Convergence, Environment } from '@ff/protocol/management'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { messages } from '../messages/messages.ts'
import { type Delivery, deliveryOf, reportOf } from '../publishing/delivery/delivery.ts'
import { queryKeys } from '../queries/query-keys.ts'
import { useApi } from '../session/use-session.ts'

/** The interval of the first seconds, and of the time after them. */
const [FAST_MS, SLOW_MS] = [250, 1000]
const FAST_LIMIT_MS = 5000
const LIMIT_MS = 60_000

/** The properties of `SwitchDelivery`. */
export interface SwitchDeliveryProps {
  readonly environment: Pick<Environment, 'id' | 'projectId'>
}

/** The number of live clients to which the newest version was sent, until it was sent to all. */
export function SwitchDelivery({ environment }: SwitchDeliveryProps) {
  const api = useApi()
  const [began] = useState(Date.now)
  const id = useId()
  const { id: environmentId, projectId } = environment
  const { data } = useQuery({
    // A response to an earlier switch says nothing about this one.
    queryKey: [...queryKeys.convergence(projectId, environmentId), began, id],
    gcTime: 0,
    queryFn: async ({ signal }): Promise<Convergence> => {
      const params = { projectId, environmentId }
      return (await api.call('getConvergence', { params, signal })).data
    },
    refetchInterval: ({ state }) => {
      const elapsed = Date.now() - began
      if (elapsed > LIMIT_MS || newestDelivery(state.data).status === 'done') return false
      return elapsed < FAST_LIMIT_MS ? FAST_MS : SLOW_MS
    },
  })
  const text = deliveryText(newestDelivery(data))
  return text === undefined ? null : <span>{text}</span>
}

function newestDelivery(data: Convergence | undefined): Delivery {
  return data === undefined ? { status: 'waiting' } : deliveryOf(data.version, reportOf(data))
}

/** Returns in words to how many clients a version was sent; `undefined` until the delivery begins. */
function deliveryText(delivery: Delivery): string | undefined {
  const texts = messages.flagSwitch
  if (delivery.status === 'sending') return texts.sent(delivery.sent, delivery.all)
  if (delivery.status !== 'done') return undefined
  return delivery.all === 0 ? texts.sentNone : texts.sent(delivery.all, delivery.all)
}
