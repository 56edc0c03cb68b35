import { connect, createServer } from 'node:net'
import { startListening } from './postgres-store.ts'
import type { RedisProcess } from './redis-process.ts'

/** A proxy in front of a Redis server. */
export interface RedisProxy {
  /** The URL of the server through the proxy. */
  readonly url: string
  /** Returns the number of connections that were opened. */
  readonly connections: () => number
  /** Discards all further responses on the present connections. */
  readonly silence: () => void
}

/** Starts a proxy for a Redis server, which is closed after the test. */
export async function openRedisProxy({ port }: RedisProcess): Promise<RedisProxy> {
  const stops: (() => void)[] = []
  const proxy = createServer((client) => {
    const connection = connect(port, '127.0.0.1')
    client.pipe(connection).pipe(client)
    stops.push(() => connection.unpipe(client))
    for (const socket of [client, connection]) socket.on('error', () => undefined)
    client.on('close', () => connection.destroy())
  })
  return {
    url: `redis://127.0.0.1:${await startListening(proxy)}`,
    connections: () => stops.length,
    silence: () => {
      for (const stop of stops) stop()
    },
  }
}
