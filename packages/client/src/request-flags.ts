import type { EvaluationContext } from '@ff/core'
import type { FlagClient } from './client-interface.ts'
import type { LocalClient } from './local-client-interface.ts'

/**
 * A request with the flags of the client. The application declares them in the request of its
 * framework.
 */
export interface RequestWithFlags<Values> {
  readonly flags: FlagClient<Values>
}

/** The client that evaluates the flags of requests, and the context of each request. */
export interface RequestFlagsOptions<Values, Request> {
  readonly client: Pick<LocalClient<Values>, 'for'>
  /** Returns the context of a request. It is called when a flag of the request is first read. */
  readonly contextOf: (request: Request) => EvaluationContext
  /**
   * Receives errors of `contextOf`. The flags of the request then have their fallbacks. By default,
   * the errors are not reported.
   */
  readonly onError?: (error: unknown) => void
}

/**
 * Returns a function that returns the flags of a request: the same object each time. Their values do
 * not change during the request.
 */
export function createRequestFlags<Values, Request extends RequestWithFlags<Values>>({
  client,
  contextOf,
  onError,
}: RequestFlagsOptions<Values, Request>): (request: Request) => FlagClient<Values> {
  const views = new WeakMap<Request, FlagClient<Values>>()
  return (request) => {
    let view = views.get(request)
    if (view === undefined) {
      view = client.for(contextIn(request))
      view.freeze()
      views.set(request, view)
    }
    return view
  }

  function contextIn(request: Request): EvaluationContext {
    try {
      return contextOf(request)
    } catch (error) {
      onError?.(error)
      // Not a context, so that each flag has its fallback with `INVALID_CONTEXT`.
      return undefined as never
    }
  }
}
