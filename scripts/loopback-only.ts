import { Server, Socket } from 'node:net'

/*
 * A set-up file of all tests: sockets of a test process listen on and connect to loopback addresses
 * only, so that no test depends on a network or is reachable from one.
 */

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+|localhost)$/

interface Target {
  readonly host?: string
  readonly path?: string
  readonly fd?: number
}

/** Returns the target of `listen` and `connect`, which Node accepts in several forms. */
function targetOf([first, second]: readonly unknown[]): Target {
  // Node passes the arguments of internal calls as an array in an array.
  if (Array.isArray(first)) return targetOf(first)
  if (typeof first === 'object' && first !== null) return first
  if (typeof first === 'string' && Number.isNaN(Number(first))) return { path: first }
  return typeof second === 'string' ? { host: second } : {}
}

const { listen } = Server.prototype
Server.prototype.listen = function (this: Server, ...parameters: unknown[]) {
  const { host, path, fd } = targetOf(parameters)
  if (path === undefined && fd === undefined && !LOOPBACK.test(host ?? '')) {
    throw new Error(`A test must listen on a loopback address (got ${host ?? 'all addresses'}).`)
  }
  return Reflect.apply(listen, this, parameters)
} as typeof listen

const { connect } = Socket.prototype
Socket.prototype.connect = function (this: Socket, ...parameters: unknown[]) {
  const { host = 'localhost', path } = targetOf(parameters)
  if (path === undefined && !LOOPBACK.test(host)) {
    throw new Error(`A test must connect to a loopback address (got ${host}).`)
  }
  return Reflect.apply(connect, this, parameters)
} as typeof connect
