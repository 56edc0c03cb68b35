import type { Convergence } from '@ff/protocol/management'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useProjectEvents } from '../../live/use-project-events.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi } from '../../session/use-session.ts'
import { type Delivery, type DeliveryReport, deliveryOf, reportOf } from './delivery.ts'

const LIMIT_MS = 60_000
const TICK_MS = 200
const POLL_MS = 2000

/** The version whose delivery is followed. */
export interface DeliveredVersion {
  readonly projectId: string
  readonly environmentId: string
  readonly version: number
}

/** The progress of a delivery. */
export interface DeliveryProgress {
  readonly delivery: Delivery
  readonly elapsedMs: number
  /** The time within which 99 % of the clients were reached; `undefined` if it is not known. */
  readonly reachedMs: number | undefined
  /** `true` after 60 seconds; the delivery is then no longer followed. */
  readonly isTimeOver: boolean
  readonly hasFailed: boolean
}

/**
 * Follows the delivery of a version, with the events of the project and, without them, by polling.
 * The component must have the version as its key.
 */
export function useDelivery(place: DeliveredVersion): DeliveryProgress {
  const { version, environmentId } = place
  const [event, setEvent] = useState<DeliveryReport>()
  useProjectEvents((each) => {
    if (each.event !== 'convergence' || each.data.environmentId !== environmentId) return
    setEvent({ version: each.data.version, total: each.data.total, isBegun: true })
  })
  const { data, error } = useConvergence(place)
  const answer = data && reportOf(data)
  const isEventUsed = event !== undefined && event.version >= version && !isEnded(version, answer)
  const report = isEventUsed ? event : answer
  const elapsedMs = useElapsed(isEnded(version, report))
  return {
    delivery: deliveryOf(version, report),
    elapsedMs,
    reachedMs: data?.version === version ? data.reached?.p99Ms : undefined,
    isTimeOver: elapsedMs >= LIMIT_MS,
    hasFailed: error !== null && report === undefined,
  }
}

function isEnded(version: number, report: DeliveryReport | undefined): boolean {
  const { status } = deliveryOf(version, report)
  return status === 'done' || status === 'replaced'
}

function useConvergence({ projectId, environmentId, version }: DeliveredVersion) {
  const api = useApi()
  const [start] = useState(Date.now)
  return useQuery<Convergence>({
    queryKey: queryKeys.convergence(projectId, environmentId),
    staleTime: 0,
    refetchInterval: ({ state }) => {
      const isOver = Date.now() - start > LIMIT_MS
      return isOver || isEnded(version, state.data && reportOf(state.data)) ? false : POLL_MS
    },
    queryFn: async ({ signal }) =>
      (await api.call('getConvergence', { params: { projectId, environmentId }, signal })).data,
  })
}

/** Returns the time since the component is shown, until `isStopped` or the limit. */
function useElapsed(isStopped: boolean): number {
  const [start] = useState(Date.now)
  const [elapsed, setElapsed] = useState(0)
  const isRunning = !isStopped && elapsed < LIMIT_MS
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => setElapsed(Date.now() - start), TICK_MS)
    return () => clearInterval(timer)
  }, [isRunning, start])
  return elapsed
}
