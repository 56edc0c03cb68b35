import type { Worker } from 'node:worker_threads'
import { FlagError } from '@ff/core'
import type { SqlStatement } from '../sql/sql-driver.ts'
import type { SqliteChannel, SqlRows } from './sqlite-driver.ts'
import { fromSqliteFailure, unusableFile } from './sqlite-errors.ts'

/** The options of a `WorkerChannel`. */
export interface WorkerChannelOptions {
  /** The path of the data file, for error messages. */
  readonly path: string
  /** `true` if the worker has a second connection for reading. */
  readonly hasReader: boolean
  /** Starts the worker. */
  readonly start: () => Worker
}

type Request =
  | { readonly type: 'write' | 'read'; readonly statements: readonly SqlStatement[] }
  | { readonly type: 'close' }

/** The worker's response to a request. It has one of the optional properties. */
interface Response {
  readonly id: number
  readonly rows?: SqlRows
  /** The message of the error that the request caused. */
  readonly failure?: string
  /** The reason why the file could not be opened. */
  readonly unusable?: string
}

interface Pending {
  readonly resolve: (rows: SqlRows) => void
  readonly reject: (error: unknown) => void
}

/**
 * A channel to connections in a worker thread, which the first request starts. Requests from the
 * same turn of the event loop are sent in one message, because a message is costly in both threads.
 */
export class WorkerChannel implements SqliteChannel {
  readonly hasReader: boolean
  readonly isShared = false
  readonly #path: string
  readonly #start: () => Worker
  readonly #pending = new Map<number, Pending>()
  /** The requests of the next message. */
  #unsent: (Request & { readonly id: number })[] = []
  #worker: Worker | undefined
  #failure: FlagError | undefined
  #nextId = 0

  constructor({ path, hasReader, start }: WorkerChannelOptions) {
    this.#path = path
    this.hasReader = hasReader
    this.#start = start
  }

  async write(statements: readonly SqlStatement[]): Promise<SqlRows> {
    return this.#request({ type: 'write', statements })
  }

  async read(statements: readonly SqlStatement[]): Promise<SqlRows> {
    return this.#request({ type: 'read', statements })
  }

  async close(): Promise<void> {
    if (this.#worker === undefined || this.#failure !== undefined) return
    await this.#request({ type: 'close' })
    await this.#worker.terminate()
  }

  #request(request: Request): Promise<SqlRows> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) throw this.#failure
      this.#worker ??= this.#started()
      const id = this.#nextId
      this.#nextId += 1
      // A worker without pending requests must not keep the process alive.
      if (this.#pending.size === 0) this.#worker.ref()
      this.#pending.set(id, { resolve, reject })
      // Waits until all pending microtasks have run, because they can add requests.
      if (this.#unsent.length === 0) queueMicrotask(() => process.nextTick(() => this.#send()))
      this.#unsent.push({ id, ...request })
    })
  }

  #send(): void {
    const requests = this.#unsent
    this.#unsent = []
    try {
      this.#worker?.postMessage(requests)
    } catch (cause) {
      for (const { id } of requests) {
        this.#pending.get(id)?.reject(cause)
        this.#pending.delete(id)
      }
    }
  }

  #started(): Worker {
    const worker = this.#start()
    worker.unref()
    worker.on('message', (responses: readonly Response[]) => {
      for (const response of responses) this.#settle(response)
    })
    worker.on('error', (error) => this.#fail(error))
    worker.on('exit', () => this.#fail())
    return worker
  }

  #settle({ id, rows, failure, unusable }: Response): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#worker?.unref()
    if (pending === undefined) return
    if (rows !== undefined) pending.resolve(rows)
    else if (unusable !== undefined) pending.reject(unusableFile(this.#path, unusable))
    else pending.reject(fromSqliteFailure(failure ?? 'the worker returned no reason'))
  }

  #fail(cause?: unknown): void {
    this.#failure ??= new FlagError('UNAVAILABLE', 'The store thread has stopped.', { cause })
    for (const { reject } of this.#pending.values()) reject(this.#failure)
    this.#pending.clear()
  }
}
