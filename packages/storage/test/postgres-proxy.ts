import { connect, createServer } from 'node:net'
import { startListening } from './postgres-store.ts'

/** A proxy in front of a PostgreSQL server. */
export interface PostgresProxy {
  /** The URL of the database through the proxy. */
  readonly url: string
  /**
   * Returns the number of round trips. Requests of a connection that are sent before a response
   * arrives belong to one round trip.
   */
  readonly count: () => number
}

/**
 * Starts a proxy for the server of a URL, which is closed after the test. Each packet to the server
 * is delayed by `delayMs`, as if a round trip took so much longer.
 */
export async function openPostgresProxy(url: string, delayMs = 0): Promise<PostgresProxy> {
  const { hostname, port } = new URL(url)
  let trips = 0
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: Number(port), host: hostname, noDelay: true })
    let isWaiting = false
    client.on('data', (packet) => {
      if (!isWaiting) trips += 1
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
  return { url: own.href, count: () => trips }
}
