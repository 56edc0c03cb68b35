import type { Worker } from 'node:worker_threads'
import { FlagError } from '@ff/core'
import type { SqlStatement } from '../sql/sql-driver.ts'
import type { SqliteChannel, SqlRows } from './sqlite-driver.ts'
import { fromSqliteFailure, unusableFile } from './sqlite-errors.ts'

/** The options of a `WorkerChannel`. */
export interface WorkerChannelOptions {
  readonly path: string
  /** Whether the worker has a second connection, for reading. */
  readonly hasReader: boolean
  readonly start: () => Worker
}

type Request =
  | { readonly type: 'write' | 'read'; readonly statements: readonly SqlStatement[] }
  | { readonly type: 'close' }

/** The worker's answer; `unusable` says why the file could not even be opened. */
interface Answer {
  readonly id: number
  readonly rows?: SqlRows
  readonly failure?: string
  readonly unusable?: string
}

interface Pending {
  readonly resolve: (rows: SqlRows) => void
  readonly reject: (error: unknown) => void
}

/**
 * Connections that live in a worker, which is started by the first request. Requests that are
 * made together travel together, because every message costs both threads a turn.
 */
export class WorkerChannel implements SqliteChannel {
  readonly hasReader: boolean
  readonly isShared = false
  readonly #path: string
  readonly #start: () => Worker
  readonly #pending = new Map<number, Pending>()
  /** What leaves once nothing goes on any more but by waiting. */
  #leaving: (Request & { readonly id: number })[] = []
  #worker: Worker | undefined
  #failure: FlagError | undefined
  #nextId = 0

  constructor({ path, hasReader, start }: WorkerChannelOptions) {
    this.#path = path
    this.hasReader = hasReader
    this.#start = start
  }

  async write(statements: readonly SqlStatement[]): Promise<SqlRows> {
    return this.#ask({ type: 'write', statements })
  }

  async read(statements: readonly SqlStatement[]): Promise<SqlRows> {
    return this.#ask({ type: 'read', statements })
  }

  async close(): Promise<void> {
    if (this.#worker === undefined || this.#failure !== undefined) return
    await this.#ask({ type: 'close' })
    await this.#worker.terminate()
  }

  #ask(request: Request): Promise<SqlRows> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) throw this.#failure
      this.#worker ??= this.#started()
      const id = this.#nextId
      this.#nextId += 1
      // Only a worker with pending requests may keep the process alive.
      if (this.#pending.size === 0) this.#worker.ref()
      this.#pending.set(id, { resolve, reject })
      // After everything that goes on without waiting for anything has asked for what it needs.
      if (this.#leaving.length === 0) queueMicrotask(() => process.nextTick(() => this.#send()))
      this.#leaving.push({ id, ...request })
    })
  }

  #send(): void {
    const requests = this.#leaving
    this.#leaving = []
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
    worker.on('message', (answers: readonly Answer[]) => {
      for (const answer of answers) this.#settle(answer)
    })
    worker.on('error', (error) => this.#fail(error))
    worker.on('exit', () => this.#fail())
    return worker
  }

  #settle({ id, rows, failure, unusable }: Answer): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#worker?.unref()
    if (pending === undefined) return
    if (rows !== undefined) pending.resolve(rows)
    else if (unusable !== undefined) pending.reject(unusableFile(this.#path, unusable))
    else pending.reject(fromSqliteFailure(failure ?? 'the worker gave no reason'))
  }

  #fail(cause?: unknown): void {
    this.#failure ??= new FlagError('UNAVAILABLE', 'The store has stopped.', { cause })
    for (const { reject } of this.#pending.values()) reject(this.#failure)
    this.#pending.clear()
  }
}
