import type { Fetch, OnEnd, Stop, SubscriptionResponse } from './transport.ts'

/** The global that all platforms have. */
declare const AbortController: new () => { readonly signal: unknown; abort(): void }

/** The problem of a response with other content than that of a flag server. */
export const UNEXPECTED = '200, but not JSON of a flag server'

/** Sends a request. Calls `onResponse` for the status 200 or 304, otherwise `onEnd`. */
export function sendRequest(
  fetch: Fetch,
  url: string,
  request: Parameters<Fetch>[1],
  onResponse: (response: SubscriptionResponse) => void,
  onEnd: OnEnd,
): Stop {
  const controller = new AbortController()
  let isStopped = false

  async function send(): Promise<void> {
    let status: number | undefined
    let retryAfter: unknown
    let problem = 'cannot reach'
    try {
      const response = await fetch(url, { ...request, signal: controller.signal })
      const { headers } = response
      status = response.status
      retryAfter = headers.get('retry-after')
      if (status === 200 || status === 304) {
        problem = UNEXPECTED
        const body = status === 200 && (await response.json())
        if (!isStopped) onResponse({ status, headers, body })
        return
      }
      // The query can contain secrets, and differs from one redirect to the next.
      const target = headers.get('location')?.replace(/[?#].*/, '')
      problem = `${status}`
      if (status === 403) problem += ': is the kind of the SDK key right?'
      if (status === 404) problem += ': is the base path right?'
      if (target) problem += `, redirected to ${target}`
    } catch (error) {
      // A failed connection and an invalid body are failures without a status.
      status = undefined
      const code = (error as { readonly cause?: { readonly code?: unknown } })?.cause?.code
      if (typeof code === 'string') problem = `cannot reach (${code})`
    }
    if (!isStopped) onEnd({ problem, code: status, retryAfter })
  }

  void send()
  return () => {
    isStopped = true
    controller.abort()
  }
}
