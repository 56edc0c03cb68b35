import {
  createRequestFlags,
  type RequestFlagsOptions,
  type RequestWithFlags,
} from './request-flags.ts'

export type { RequestFlagsOptions, RequestWithFlags } from './request-flags.ts'

/** A middleware of Express and compatible frameworks. */
export type RequestFlagsMiddleware<Request> = (
  request: Request,
  response: unknown,
  next: () => void,
) => void

/**
 * Creates a middleware that adds `request.flags`: the flags for the context of the request. A request
 * that reads no flag costs nothing. Neither the middleware nor a flag throws.
 *
 * @example
 * declare global {
 *   namespace Express {
 *     interface Request { readonly flags: FlagClientOf<typeof shopFlags> }
 *   }
 * }
 * app.use(requestFlags({ client, contextOf: (request: Request) => ({ kind: 'user', key: request.userId }) }))
 */
export function requestFlags<Values, Request extends RequestWithFlags<Values>>(
  options: RequestFlagsOptions<Values, Request>,
): RequestFlagsMiddleware<Request> {
  const flagsOf = createRequestFlags(options)
  return (request, _response, next) => {
    Object.defineProperty(request, 'flags', { configurable: true, get: () => flagsOf(request) })
    next()
  }
}
