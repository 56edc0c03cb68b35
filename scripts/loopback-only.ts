import { type LookupFunction, Server, Socket } from 'node:net'

/*
 * A set-up file of all tests: sockets of a test process listen on and connect to loopback addresses
 * only, so that no test depends on a network or is reachable from one.
 */

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+|localhost)$/

/** Hosts that belong to no machine, so that listening on them fails. */
const NOWHERE = /^192\.0\.2\.\d+$|\.invalid$/

interface Target {
  readonly host?: string
  readonly path?: string
  readonly fd?: number
  lookup?: LookupFunction
}

/** Present if this process is restricted. Without isolation, this file runs for each test file. */
const RESTRICTED = Symbol.for('ff.loopback-only')

/** Returns the target of `listen` and `connect`, which Node accepts in several forms. */
function targetOf([first, second]: readonly unknown[]): Target {
  // Node passes the arguments of internal calls as an array in an array.
  if (Array.isArray(first)) return targetOf(first)
  if (typeof first === 'object' && first !== null) return first
  if (typeof first === 'string' && Number.isNaN(Number(first))) return { path: first }
  return typeof second === 'string' ? { host: second } : {}
}

/** Returns a function that resolves names to loopback addresses only. */
function toLoopbackOnly(lookup: LookupFunction): LookupFunction {
  return (host, options, callback) =>
    lookup(host, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found]
      const other = addresses.find((address) => !LOOPBACK.test(address))
      if (error !== null || other === undefined) callback(error, found, family)
      else callback(notLoopback(other), found, family)
    })
}

function notLoopback(host: string): Error {
  return new Error(`A test must connect to a loopback address (got ${host}).`)
}

/** Restricts the sockets of this process. */
function restrict(): void {
  const { listen } = Server.prototype
  Server.prototype.listen = function (this: Server, ...parameters: unknown[]) {
    const { host, path, fd } = targetOf(parameters)
    const isLocal = path !== undefined || fd !== undefined || LOOPBACK.test(host ?? '')
    if (!isLocal && !NOWHERE.test(host ?? '')) {
      throw new Error(`A test must listen on a loopback address (got ${host ?? 'all addresses'}).`)
    }
    return Reflect.apply(listen, this, parameters)
  } as typeof listen

  const { connect } = Socket.prototype
  Socket.prototype.connect = function (this: Socket, ...parameters: unknown[]) {
    const target = targetOf(parameters)
    const { host = 'localhost', path, lookup } = target
    // A test that resolves names itself chooses the address later.
    if (lookup !== undefined) target.lookup = toLoopbackOnly(lookup)
    else if (path === undefined && !LOOPBACK.test(host)) throw notLoopback(host)
    return Reflect.apply(connect, this, parameters)
  } as typeof connect
}

if (!Reflect.has(globalThis, RESTRICTED)) restrict()
Reflect.set(globalThis, RESTRICTED, true)
