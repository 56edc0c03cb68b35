import type { AddressInfo } from 'node:net'
import { createGateway } from './gateway.ts'

const { TARGET = 'http://127.0.0.1:4400', HOST = '127.0.0.1', PORT = '4500' } = process.env
const MAX_CONNECTIONS = 20_000

if (!/^https?:\/\//.test(TARGET) || !URL.canParse(TARGET)) {
  console.error(`TARGET must be the URL of a flag server, such as http://127.0.0.1:4400.`)
  process.exit(1)
}
if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) {
  console.error(`PORT must be between 0 and 65535 (got "${PORT}").`)
  process.exit(1)
}

const server = createGateway({
  target: TARGET.replace(/\/$/, ''),
  warn: (line) => console.warn(line),
})
server.maxConnections = MAX_CONNECTIONS
server.listen({ host: HOST, port: Number(PORT) }, () => {
  const { address, port } = server.address() as AddressInfo
  console.log(`The gateway to ${TARGET} listens at http://${address}:${port}`)
})
