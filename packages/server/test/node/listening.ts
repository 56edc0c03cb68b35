import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server that is listening. */
export interface Listening {
  readonly server: Server
  /** `http://127.0.0.1:port`, without a slash at the end. */
  readonly url: string
  readonly port: number
  close(): Promise<void>
}

/** Starts an HTTP server on a free loopback port. */
export async function listen(listener?: RequestListener): Promise<Listening> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    server,
    url: `http://127.0.0.1:${port}`,
    port,
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
