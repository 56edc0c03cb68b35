import process from 'node:process'
import { createManagement } from '@ff/management/node'
import { createFlagServer, toSocketLike } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import { createExampleProject } from '@ff-examples/host-check'

const path = process.argv[2] ?? ''

// #region embed
const flags = createFlagServer({
  ...sqlite({ path }),
  basePath: '/flags',
  management: createManagement(),
})

const server = Deno.serve({ hostname: '127.0.0.1', port: 0 }, (request, { remoteAddr }) => {
  const address = remoteAddr.hostname
  const { pathname } = new URL(request.url)
  if (pathname !== '/flags/ws/sdk') return flags.fetch(request, { address })
  if (flags.admitSocket() > 0) return new Response(null, { status: 429 })
  if (request.headers.get('upgrade') !== 'websocket') return new Response(null, { status: 426 })
  const { socket, response } = Deno.upgradeWebSocket(request)
  const header = (name: string) => request.headers.get(name) ?? undefined
  const client = { header, address, isEncrypted: false }
  socket.onopen = () => {
    const connection = flags.acceptSocket(toSocketLike(socket), client)
    socket.onmessage = ({ data }) => connection.receive(data)
    socket.onclose = () => flags.releaseSocket(connection)
  }
  return response
})
// #endregion

const project = await createExampleProject(flags)
const url = `http://127.0.0.1:${server.addr.port}/flags`
console.log(`ready ${JSON.stringify({ url, project })}`)

process.on('SIGTERM', async () => {
  await flags.close()
  await server.shutdown()
  process.exit(0)
})
