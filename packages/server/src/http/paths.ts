import { SDK_PATHS } from '@ff/protocol/sdk'

/** The paths of the health and readiness probes. These paths need no token. */
export const PROBE_PATHS = { health: '/health', ready: '/ready' } as const

/** The paths of all SDK endpoints. */
export const SDK_ROUTES: ReadonlySet<string> = new Set(Object.values(SDK_PATHS))

/**
 * Returns `true` if a path belongs to the SDK endpoints, which have their own error format and CORS
 * headers and do not accept bearer tokens.
 */
export function isSdkPath(path: string): boolean {
  return path.startsWith('/evaluator/') || path.startsWith('/ws/')
}
