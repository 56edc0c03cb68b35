import { createManagement } from '@ff/management/node'
import { createFlagServer, type SocketConnection, toSocketLike } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import { createExampleProject } from '@ff-examples/host-check'

const path = process.argv[2] ?? ''

/** The data of a socket. `connection` is set when the socket is open. */
interface SocketData {
  readonly headers: Headers
  connection?: SocketConnection
}

// #region embed
const flags = createFlagServer({
  ...sqlite({ path }),
  basePath: '/flags',
  management: createManagement(),
})

const server = Bun.serve<SocketData>({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 90, // A poll can take 61 seconds; the default is 10.
  fetch(request, server) {
    const { pathname } = new URL(request.url)
    if (pathname !== '/flags/ws/sdk') {
      return flags.fetch(request, { address: server.requestIP(request)?.address })
    }
    if (flags.admitSocket() > 0) return new Response(null, { status: 429 })
    if (server.upgrade(request, { data: { headers: request.headers } })) return
    return new Response(null, { status: 426 })
  },
  websocket: {
    maxPayloadLength: 80 * 1024,
    open(socket) {
      const { data, remoteAddress: address } = socket
      const header = (name: string) => data.headers.get(name) ?? undefined
      const standard = {
        get bufferedAmount() {
          return socket.getBufferedAmount()
        },
        get readyState() {
          return socket.readyState
        },
        send: (text: string) => socket.send(text),
        close: (code: number, reason: string) => socket.close(code, reason),
      }
      const client = { header, address, isEncrypted: false }
      data.connection = flags.acceptSocket(toSocketLike(standard), client)
    },
    message: ({ data }, text) => data.connection?.receive(text),
    close: ({ data }) => data.connection && flags.releaseSocket(data.connection),
  },
})
// #endregion

const project = await createExampleProject(flags)
console.log(`ready ${JSON.stringify({ url: `${server.url.origin}/flags`, project })}`)

process.on('SIGTERM', async () => {
  await flags.close()
  await server.stop(true)
  process.exit(0)
})
