import { OFREP_PATHS, SDK_PATHS } from '@ff/protocol/sdk'

/** The paths of the health and readiness probes. These paths need no token. */
export const PROBE_PATHS = { health: '/health', ready: '/ready' } as const

/** The path of the metrics for Prometheus. */
export const METRICS_PATH = '/metrics'

/** The path of one flag in OpenFeature's remote evaluation protocol (OFREP). */
export const OFREP_FLAG_TEMPLATE = `${OFREP_PATHS.flags}/{key}`
const OFREP_FLAG = `${OFREP_PATHS.flags}/`

const SDK_ROUTES: ReadonlySet<string> = new Set([
  ...Object.values(SDK_PATHS),
  ...Object.values(OFREP_PATHS),
])

/** The fixed paths that also exist with a slash at the end, with this slash. */
const WITH_SLASH: ReadonlySet<string> = new Set(
  [...Object.values(SDK_PATHS), ...Object.values(PROBE_PATHS), METRICS_PATH].map(
    (path) => `${path}/`,
  ),
)

/**
 * Returns a path in the form in which the server compares it. A client that joins a base URL that
 * ends with a slash and a path sends two slashes. Some probes send a slash at the end.
 */
export function canonicalPath(path: string): string {
  const start = path.startsWith('//') ? path.replace(/^\/+/, '/') : path
  return start.endsWith('/') && WITH_SLASH.has(start) ? start.slice(0, -1) : start
}

/** Returns the template of the path of an SDK endpoint; `undefined` if there is none. */
export function sdkTemplateOf(path: string): string | undefined {
  if (path.startsWith(OFREP_FLAG) && path.length > OFREP_FLAG.length) return OFREP_FLAG_TEMPLATE
  return SDK_ROUTES.has(path) ? path : undefined
}

/**
 * Returns `true` if a path belongs to the SDK endpoints, which have their own error format and CORS
 * headers and do not accept bearer tokens.
 */
export function isSdkPath(path: string): boolean {
  return path.startsWith('/evaluator/') || path.startsWith('/ws/') || isOfrepPath(path)
}

/** Returns `true` if a path belongs to OpenFeature's remote evaluation protocol. */
export function isOfrepPath(path: string): boolean {
  return path.startsWith('/ofrep/')
}
