import { connect } from 'node:net'
import { FlagError } from '@ff/core'

/** The time after which an operation without a result causes a request to the server. */
const PATIENCE_MS = 300
/** The time between two requests to a server that does not respond. */
const RETRY_MS = 100
/** The maximum time of the response to this request. */
const RESPONSE_WITHIN_MS = 1000

/** A request for encryption, to which a server responds with one byte before any log-in. */
const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47)

/** The codes of errors that occur instead of a response if the server cannot be reached at all. */
const NO_RESPONSE: readonly unknown[] = ['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH']

/** The address of a server: a host and a port, or the path of a socket. */
export type PostgresAddress = { readonly host: string; readonly port: number } | { path: string }

interface PostgresWatchOptions {
  readonly address: PostgresAddress
  /** The host, the port and the database, for messages. */
  readonly place: string
  /** Closes all connections. Called when the server no longer responds. */
  readonly disconnect: () => void
}

interface Pending {
  readonly fail: (error: FlagError) => void
  readonly since: number
}

/**
 * Notices that a server does not respond at all, for example because it is suspended or its network
 * is interrupted. Its operations then fail within two seconds instead of after the time limits of
 * statements, which must be long enough for slow statements.
 */
export class PostgresWatch {
  readonly #options: PostgresWatchOptions
  /** The operations without a result, the oldest first. */
  readonly #pending = new Set<Pending>()
  #timer: NodeJS.Timeout | undefined
  #isSilent = false
  #isStopped = false
  #outages = 0

  constructor(options: PostgresWatchOptions) {
    this.#options = options
  }

  /**
   * The number of times that the server has stopped to respond. If it has changed since an operation
   * began, the operation has failed for its caller.
   */
  get outages(): number {
    return this.#outages
  }

  /** Runs an operation. Throws `UNAVAILABLE` if the server does not respond. */
  during<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#isSilent) return Promise.reject(this.#silence())
    return new Promise((resolve, fail) => {
      const pending = { fail, since: performance.now() }
      this.#pending.add(pending)
      this.#timer ??= this.#checkAfter(PATIENCE_MS)
      operation()
        .then(resolve, fail)
        .finally(() => this.#pending.delete(pending))
    })
  }

  /** Stops all checks. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #checkAfter(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => void this.#check(), delayMs).unref()
  }

  async #check(): Promise<void> {
    const [oldest] = this.#pending
    if (this.#isSilent || (oldest && performance.now() - oldest.since >= PATIENCE_MS)) {
      const isSilent = !(await responds(this.#options.address))
      if (isSilent && !this.#isSilent) this.#failAll()
      this.#isSilent = isSilent
    }
    this.#timer = undefined
    if (this.#isStopped) return
    if (this.#isSilent) this.#timer = this.#checkAfter(RETRY_MS)
    else if (this.#pending.size > 0) this.#timer = this.#checkAfter(PATIENCE_MS)
  }

  #failAll(): void {
    this.#outages += 1
    for (const { fail } of this.#pending) fail(this.#silence())
    this.#pending.clear()
    this.#options.disconnect()
  }

  #silence(): FlagError {
    const message = `\`url\`: PostgreSQL at ${this.#options.place} does not respond.`
    return new FlagError('UNAVAILABLE', message)
  }
}

/** Returns `false` if a server neither responds nor refuses a connection in time. */
function responds(address: PostgresAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address).unref()
    const end = (hasResponded: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(hasResponded)
    }
    // After a pause of this process, a response that has arrived is read before the limit applies.
    const late = () => setImmediate(() => setImmediate(end, false))
    const timer = setTimeout(late, RESPONSE_WITHIN_MS).unref()
    socket.once('connect', () => socket.write(SSL_REQUEST))
    socket.once('data', () => end(true))
    socket.once('close', () => end(true))
    socket.once('error', (error: NodeJS.ErrnoException) => end(!NO_RESPONSE.includes(error.code)))
  })
}
