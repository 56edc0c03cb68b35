import { defineFlags, text } from '@ff/core/flag-types'
import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createFlagClient } from '../../src/index.ts'
import { createLocalClient } from '../../src/local.ts'

/** The longest time until all clients have the last version, beyond the longest delay of a retry. */
export const CONVERGED_WITHIN_MS = 60_000

const flags = defineFlags({ counter: text('fallback') })
const context = { kind: 'user', key: 'user-1' }
const webSocket = WebSocket as never

/** A client of a drill, whatever its kind. */
export interface ObservedClient {
  value(): string
  version(): number
  close(): void
  /** The highest number and version that the client has shown. */
  highest: { count: number; version: number }
}

/** Creates a client that receives values over this transport. */
export function remoteClient(
  { url, sdkKey }: { readonly url: string; readonly sdkKey: string },
  transport: 'socket' | 'long-poll',
): ObservedClient {
  const client = createFlagClient({ url, sdkKey, flags, context, transport, webSocket })
  const value = () => client.value('counter')
  const version = () => client.status.version
  return { value, version, close: () => client.close(), highest: { count: 0, version: 0 } }
}

/** Creates a client that evaluates flags itself. */
export function localClient(server: { readonly url: string; readonly sdkKey: string }) {
  const client = createLocalClient({ ...server, flags, webSocket })
  const value = () => client.value('counter', context)
  const version = () => client.status.version
  return { value, version, close: () => client.close(), highest: { count: 0, version: 0 } }
}

/**
 * Fails the test if one of the clients shows a fallback, an older value or an older version, until
 * the test ends, which closes the clients.
 */
export function observeUntilTheEnd(clients: readonly ObservedClient[]): void {
  const watching = setInterval(() => clients.forEach(observe), 5)
  onTestFinished(() => {
    clearInterval(watching)
    for (const client of clients) client.close()
  })
}

function observe(client: ObservedClient): void {
  const shown = { count: countIn(client.value()), version: client.version() }
  const { highest } = client
  if (!(shown.count >= highest.count && shown.version >= highest.version)) {
    throw new Error(
      `A client shows ${client.value()} in version ${shown.version} after ${JSON.stringify(highest)}`,
    )
  }
  client.highest = shown
}

/** Returns the number in `value 7`; NaN for a fallback. */
export function countIn(value: string): number {
  return Number(/^value (\d+)$/.exec(value)?.[1])
}

/** Waits until all clients show a number. */
export async function converge(clients: readonly ObservedClient[], count: number): Promise<void> {
  const deadline = performance.now() + CONVERGED_WITHIN_MS
  const isBehind = (client: ObservedClient) => countIn(client.value()) !== count
  while (clients.some(isBehind)) {
    if (performance.now() > deadline) {
      expect(
        clients.filter(isBehind).map((client) => client.value()),
        'late clients',
      ).toEqual([])
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
