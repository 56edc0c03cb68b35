import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigError } from './config/config-error.ts'
import type { Config } from './config.ts'

type Place = Pick<Config, 'host' | 'port'>

/** The length of the accept queue; large enough for many clients that reconnect at once. */
const MAX_BACKLOG = 4096

/** Starts to listen and returns the URL. Throws `ConfigError` if the address is not available. */
export async function listen(server: Server, place: Place): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refusal(place, error)))
    server.listen({ ...place, backlog: MAX_BACKLOG }, resolve)
  })
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${name}:${address.port}`
}

/**
 * Returns the URL of a later `listen`, with a free port for port 0. Throws `ConfigError` if the
 * address is not available.
 */
export async function findUrl(place: Place): Promise<string> {
  const server = createServer()
  const url = await listen(server, place)
  await new Promise((resolve) => server.close(resolve))
  return url
}

function refusal({ host, port }: Place, error: NodeJS.ErrnoException): ConfigError {
  const { code } = error
  switch (code) {
    case 'EADDRINUSE':
      return new ConfigError(`Port ${port} is in use; set PORT.`)
    case 'EACCES':
      return new ConfigError(`Port ${port} requires more permissions; set PORT to 1024 or higher.`)
    case 'EADDRNOTAVAIL':
      return new ConfigError(`HOST "${host}" is not an address of this machine; ${HOST_ADVICE}`)
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError(`HOST "${host}" is not a known name or address; ${HOST_ADVICE}`)
    default:
      return new ConfigError(`The server cannot listen on HOST "${host}" (${code}); ${HOST_ADVICE}`)
  }
}

const HOST_ADVICE = 'set it to 127.0.0.1, or to 0.0.0.0 for all addresses.'
