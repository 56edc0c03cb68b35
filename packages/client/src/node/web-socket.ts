/// <reference types="node" />
import { createRequire } from 'node:module'
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
  try {
    return createRequire(import.meta.url)('ws') as ClientSocketConstructor
  } catch {
    return undefined
  }
}
