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
  /**
   * Returns the context of a request. It is called when a flag of the request is first read. If it
   * throws or returns no valid context, `onError` of the client receives the error, and the flags of
   * the request have their fallbacks.
   */
  readonly contextOf: (request: Request) => EvaluationContext
}

/**
 * Returns a function that returns the flags of a request: the same object each time. Their values do
 * not change during the request. Throws a `TypeError` if an option has the wrong type.
 */
export function createRequestFlags<Values, Request extends RequestWithFlags<Values>>({
  client,
  contextOf,
}: RequestFlagsOptions<Values, Request>): (request: Request) => FlagClient<Values> {
  if (typeof client?.for !== 'function') throw new TypeError('`client` must be a local client')
  if (typeof contextOf !== 'function') throw new TypeError('`contextOf` must be a function')
  const views = new WeakMap<Request, FlagClient<Values>>()
  return (request) => {
    let view = views.get(request)
    if (view === undefined) {
      view = client.for(() => contextOf(request))
      view.freeze()
      views.set(request, view)
    }
    return view
  }
}
