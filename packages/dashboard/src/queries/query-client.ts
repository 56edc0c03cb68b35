import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'

const MOST_RETRIES = 3

/** Creates the cache of server data. A refused request is not repeated; 429 and 503 wait as told. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: canRetry,
        retryDelay: delayOf,
        staleTime: 10_000,
        gcTime: 10 * 60_000,
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}

function canRetry(failures: number, error: Error): boolean {
  if (!(error instanceof ApiError) || failures >= MOST_RETRIES) return false
  return error.status === 429 || error.isUnavailable
}

function delayOf(failures: number, error: Error): number {
  const told = error instanceof ApiError ? error.retryAfter : undefined
  return told === undefined ? Math.min(1000 * 2 ** failures, 15_000) : told * 1000
}
