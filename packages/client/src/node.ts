import type { FlagClient, FlagClientOptions } from './client-interface.ts'
import type { Transport } from './connection/ladder.ts'
import { createFlagClient as createClient } from './flag-client.ts'
import { createLocalClient as createLocal } from './local-client.ts'
import type { LocalClient, LocalClientOptions } from './local-client-interface.ts'
import { diskCache } from './node/disk-cache.ts'
import { createWarner } from './node/warnings.ts'
import { nodeWebSocket } from './node/web-socket.ts'
import type { ClientSocketConstructor } from './transports/transport.ts'
import { reportTo } from './values/reporting.ts'
import type { FlagCache } from './values/value-cache.ts'

export type { FlagClient, FlagClientOptions } from './client-interface.ts'
export type { FlagSetSource } from './local/flag-set-sources.ts'
export type { LocalDetail } from './local/local-detail.ts'
export type { LocalClient, LocalClientOptions, LocalStatus } from './local-client-interface.ts'
export { diskCache } from './node/disk-cache.ts'
export { fileSource } from './node/file-source.ts'

/** Options in which `cache` can also be the path of a folder. */
type WithFolder<Options> = Omit<Options, 'cache'> & {
  /** The folder of a disk cache, or another store. By default, nothing is stored. */
  readonly cache?: string | FlagCache
}

/** The options of `createFlagClient` in Node. */
export type NodeFlagClientOptions<Values> = WithFolder<FlagClientOptions<Values>>

/** The options of `createLocalClient` in Node. */
export type NodeLocalClientOptions<Values> = WithFolder<LocalClientOptions<Values>>

/**
 * Creates the same client as `createFlagClient` of `@ff/client`, with a disk cache, and with the
 * `WebSocket` of the package `ws` if Node has none. If there is neither, `onError` receives an error.
 * Without `onError`, errors are warnings on the console.
 */
export function createFlagClient<Values>(
  options: NodeFlagClientOptions<Values>,
): FlagClient<Values> {
  const all = withDefaults(options ?? {})
  const client = createClient<Values>(all)
  reportMissingSocket(all)
  return client
}

/**
 * Creates the same client as `createLocalClient` of `@ff/client/local`, with a disk cache, and with
 * the `WebSocket` of the package `ws` if Node has none. Without `onError`, errors are warnings on the
 * console.
 */
export function createLocalClient<Values>(
  options: NodeLocalClientOptions<Values>,
): LocalClient<Values> {
  const all = withDefaults(options ?? {})
  const client = createLocal<Values>(all)
  if (all.sources?.includes('server') !== false) reportMissingSocket(all)
  return client
}

interface ReplaceableParts {
  readonly cache?: string | FlagCache
  readonly transport?: Transport | 'auto'
  readonly webSocket?: ClientSocketConstructor
  readonly onError?: (error: unknown) => void
}

const NO_WEB_SOCKET =
  'There is no WebSocket: install the package `ws`, or pass `webSocket`. Without it, the transport `auto` uses long-polls.'

function withDefaults<Options extends ReplaceableParts>({ cache, ...rest }: Options) {
  const { onError = createWarner() } = rest
  const webSocket = rest.webSocket ?? nodeWebSocket()
  return {
    ...rest,
    onError,
    ...(cache !== undefined && { cache: typeof cache === 'string' ? diskCache(cache) : cache }),
    ...(webSocket && { webSocket }),
  }
}

/** Reports once that a client which needs a `WebSocket` has none. */
function reportMissingSocket({ transport = 'auto', webSocket, onError }: ReplaceableParts): void {
  if (webSocket || (transport !== 'auto' && transport !== 'socket')) return
  // The application may use its client in `onError`, and it has no client yet.
  queueMicrotask(() => reportTo(onError)(new Error(NO_WEB_SOCKET)))
}
