import type { FetchResponse, OnEnd, Stop, SubscriptionResponse } from './transport.ts'

/** The global that all platforms have. */
declare const AbortController: new () => { readonly signal: unknown; abort(): void }

/** Sends a request. Calls `onResponse` for the status 200 or 304, otherwise `onEnd`. */
export function sendRequest(
  fetchWith: (signal: unknown) => Promise<FetchResponse>,
  onResponse: (response: SubscriptionResponse) => void,
  onEnd: OnEnd,
): Stop {
  const controller = new AbortController()
  let isStopped = false

  async function send(): Promise<void> {
    let status: number | undefined
    let retryAfter: unknown
    try {
      const response = await fetchWith(controller.signal)
      const { headers } = response
      status = response.status
      retryAfter = headers.get('retry-after')
      if (status === 200 || status === 304) {
        const body = status === 200 && (await response.json())
        if (!isStopped) onResponse({ status, headers, body })
        return
      }
    } catch {
      // A failed connection and an invalid body are failures without a status.
      status = undefined
    }
    if (!isStopped) onEnd(status, retryAfter)
  }

  void send()
  return () => {
    isStopped = true
    controller.abort()
  }
}
