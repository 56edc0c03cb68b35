/// <reference types="node" />
import type { ClientSocketConstructor } from '../transports/transport.ts'

/**
 * Returns the `WebSocket` of the platform, otherwise that of the package `ws`; `undefined` if the
 * package is not installed. Node has a `WebSocket` from version 22.
 */
export function nodeWebSocket(): ClientSocketConstructor | undefined {
  const { WebSocket: own } = globalThis as unknown as {
    readonly WebSocket?: ClientSocketConstructor
  }
  if (own !== undefined) return own
  // Bundlers replace the function `createRequire` if it is imported.
  const { createRequire } = process.getBuiltinModule('node:module')
  // A CommonJS bundle has a file name instead of a URL. Other bundles can have the URL of a file that
  // exists only where they were built. Then `ws` is that of the main script. The working directory is
  // not searched, because it can be untrusted.
  const bases = [() => __filename, () => import.meta.url, () => process.argv[1]]
  for (const base of bases) {
    try {
      // `typeof __filename` is no check: webpack replaces it by a constant, also in ES modules.
      return createRequire(base() as string)('ws') as ClientSocketConstructor
    } catch {
      // There is no such base, or the package is not installed there.
    }
  }
  return undefined
}
