import { connect, createServer, type Socket } from 'node:net'
import { startListening } from './postgres-store.ts'

/** A proxy in front of a PostgreSQL server. */
export interface PostgresProxy {
  /** The URL of the database through the proxy. */
  readonly url: string
  /**
   * Starts to count round trips. The returned function returns those of the busiest connection.
   * Requests that are sent before a response arrives, or within the delay, belong to one round trip.
   */
  readonly watch: () => () => number
}

/**
 * Starts a proxy for the server of a URL, which is closed after the test. Each packet to the server
 * is delayed by `delayMs`, as if a round trip took so much longer.
 */
export async function openPostgresProxy(url: string, delayMs = 0): Promise<PostgresProxy> {
  const { hostname, port } = new URL(url)
  const trips: number[] = []
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: Number(port), host: hostname, noDelay: true })
    const place = trips.push(0) - 1
    let isWaiting = false
    let begunAt = Number.NEGATIVE_INFINITY
    client.on('data', (packet) => {
      if (!isWaiting && performance.now() - begunAt >= delayMs) {
        trips[place] = (trips[place] ?? 0) + 1
        begunAt = performance.now()
      }
      isWaiting = true
      if (delayMs === 0) server.write(packet)
      else setTimeout(() => server.write(packet), delayMs)
    })
    client.on('end', () => setTimeout(() => server.end(), delayMs))
    server.on('data', () => {
      isWaiting = false
    })
    server.pipe(client)
    client.on('error', () => server.destroy())
    server.on('error', () => client.destroy())
  })
  const own = Object.assign(new URL(url), { port: await startListening(proxy) })
  const watch = () => {
    const before = [...trips]
    return () => Math.max(0, ...trips.map((count, place) => count - (before[place] ?? 0)))
  }
  return { url: own.href, watch }
}

/** A proxy whose server can stop responding. */
export interface FreezingProxy {
  /** The URL of the database through the proxy. */
  readonly url: string
  /** Holds back all data in both directions, also on connections that are opened now. */
  readonly freeze: () => void
  /** Passes on the data that was held back. */
  readonly thaw: () => void
}

/** Starts a proxy for the server of a URL, which is closed after the test. */
export async function openFreezingProxy(url: string): Promise<FreezingProxy> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: Number(port), host: hostname, noDelay: true })
    const pair = [client, server] as const
    for (const [from, to] of [pair, [server, client] as const]) {
      sockets.add(from)
      from.on('data', (packet) => to.write(packet))
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('error', () => to.destroy())
      if (isFrozen) from.pause()
    }
  })
  const own = Object.assign(new URL(url), { port: await startListening(proxy) })
  const setFrozen = (isNowFrozen: boolean) => {
    isFrozen = isNowFrozen
    for (const socket of sockets) isFrozen ? socket.pause() : socket.resume()
  }
  return { url: own.href, freeze: () => setFrozen(true), thaw: () => setFrozen(false) }
}
