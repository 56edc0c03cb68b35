import { FlagError } from '@ff/core'

const MAX_METHOD_LENGTH = 16
const MAX_PATH_LENGTH = 100

interface UnroutedRequest {
  readonly method: string
  /** The path, without the query. */
  readonly path: string
}

/**
 * Creates the `NOT_FOUND` error for a request that no endpoint handles. `advice` completes the
 * sentence.
 */
export function noRoute({ method, path }: UnroutedRequest, advice: string): FlagError {
  const shown = `${clip(method, MAX_METHOD_LENGTH)} ${clip(path, MAX_PATH_LENGTH)}`
  return new FlagError('NOT_FOUND', `No route ${shown}; ${advice}.`)
}

/** Creates the `NOT_FOUND` error for a request that is not below the base path of the server. */
export function outsideBasePath(request: UnroutedRequest, basePath: string): FlagError {
  return noRoute(request, `this server handles the paths below ${basePath}`)
}

/** Returns the start of a text, with visible ASCII characters only. */
function clip(text: string, maxLength: number): string {
  const start = text.slice(0, maxLength).replace(/[^\x21-\x7e]/g, '?')
  return text.length > maxLength ? `${start}…` : start
}
