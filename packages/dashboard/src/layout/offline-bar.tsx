import { type Query, type QueryFilters, useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { ApiError } from '../api/api-error.ts'
import { messages } from '../messages/messages.ts'
import styles from './layout.module.css'

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

const RETRY_MS = 5000
const FAILED: QueryFilters = { type: 'active', predicate: isFailed }

/** A query with `meta.isOptional` can take too long or be refused although the server is available. */
function isFailed({ state, meta }: Query): boolean {
  const error = state.error ?? state.fetchFailureReason
  if (!(error instanceof ApiError)) return false
  return meta?.['isOptional'] === true ? error.code === 'UNREACHABLE' : error.isUnavailable
}

/**
 * Returns the time of the oldest data that could not be loaded again, 0 if there is no data;
 * `undefined` while the server can be reached. While it is defined, nothing can be published.
 */
export function useOfflineSince(): number | undefined {
  const cache = useQueryClient().getQueryCache()
  const read = () => {
    const failed = cache.findAll(FAILED)
    if (failed.length === 0) return undefined
    return Math.min(...failed.map(({ state }) => state.dataUpdatedAt))
  }
  return useSyncExternalStore((listener) => cache.subscribe(listener), read)
}

/** Loads failed data again at intervals: one query, and the others once it has succeeded. */
function useRecovery(isOffline: boolean): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    if (!isOffline) return
    const recover = async () => {
      const [first] = queryClient.getQueryCache().findAll(FAILED)
      if (first === undefined || document.visibilityState !== 'visible') return
      const { queryKey } = first
      await queryClient.refetchQueries({ queryKey, exact: true }, { cancelRefetch: false })
      if (!isFailed(first)) await queryClient.refetchQueries(FAILED)
    }
    const timer = setInterval(() => void recover(), RETRY_MS)
    return () => clearInterval(timer)
  }, [isOffline, queryClient])
}

/** A bar that says that the server cannot be reached, and how old the data of the page is. */
export function OfflineBar() {
  const since = useOfflineSince()
  useRecovery(since !== undefined)
  if (since === undefined) return null
  const { offline, offlineWithoutData } = messages.errors
  return (
    <div className={styles.offline} role="status">
      {since === 0 ? offlineWithoutData : offline(time.format(since))}
    </div>
  )
}
