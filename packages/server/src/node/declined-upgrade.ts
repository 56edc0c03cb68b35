import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

/** The arguments of Node's `upgrade` event. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** The first bytes after the head of the request. */
  readonly head: Buffer
}

/** The headers that only concern the upgrade. */
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings'])

/**
 * Serves the request of an upgrade as a usual request. A server may ignore an upgrade (RFC 9110,
 * 7.8), but Node emits no `request` event while a server has an `upgrade` listener. Therefore the
 * server receives the head without the upgrade, and the rest of the connection, as a new connection.
 */
export function serveWithoutUpgrade(server: Server, { request, socket, head }: Upgrade): void {
  socket.unshift(Buffer.concat([headWithoutUpgrade(request), head]))
  // A server of `node:https` serves the connections of this event.
  const isEncrypted = 'encrypted' in socket && socket.encrypted === true
  server.emit(isEncrypted ? 'secureConnection' : 'connection', socket)
}

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    const lowerName = name.toLowerCase()
    const kept = lowerName === 'connection' ? keptOptions(value) : value
    if (!UPGRADE_HEADERS.has(lowerName)) lines.push(`${name}: ${kept}`)
  }
  // Node has decoded the head as Latin-1.
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** Returns the options of a `Connection` header that do not concern the upgrade. */
function keptOptions(value: string): string {
  const options = value.split(',').map((option) => option.trim())
  return options.filter((option) => !UPGRADE_HEADERS.has(option.toLowerCase())).join(', ')
}
