import { randomUUID } from 'node:crypto'
import { FlagError } from '@ff/core'
import { MemoryChangeFeed } from '../memory/memory-change-feed.ts'
import type { Ports } from '../ports/capabilities.ts'
import { sqliteDialect } from '../sql/dialect.ts'
import { createSqlStorage } from '../sql/sql-storage.ts'
import { openDataFile } from '../sqlite/data-file.ts'
import { type SqliteChannel, SqliteDriver } from '../sqlite/sqlite-driver.ts'
import {
  type BareLink,
  type Failure,
  type Link,
  linkAbout,
  type PrimaryResponses,
  type ToPrimary,
  type ToWorker,
  type WorkerRequest,
} from './link.ts'

/** Creates all ports that a server needs, with a link to the primary for the same data file. */
export function workerCapabilities(path: string, link: BareLink): Ports {
  const primary = new WorkerEnd(linkAbout<ToPrimary, ToWorker>(path, link))
  const own = openDataFile(path, { readsOnly: true })
  const channel: SqliteChannel = {
    hasReader: true,
    isShared: true,
    write: (statements) => primary.request({ type: 'write', statements }),
    read: (statements) => own.read(statements),
    close: () => own.close(),
  }
  return {
    storage: createSqlStorage(new SqliteDriver(channel), sqliteDialect),
    changeFeed: {
      publish: (change) => primary.request({ type: 'publish', change }),
      subscribe: (listener) => primary.listeners.subscribe(listener),
    },
    rateLimiter: {
      lease: (key, window, amount) => primary.request({ type: 'lease', key, window, amount }),
    },
    instanceReports: {
      report: (instanceId, reports) => primary.request({ type: 'report', instanceId, reports }),
      withdraw: (instanceId, environmentIds) =>
        primary.request({ type: 'withdraw', instanceId, environmentIds }),
      list: (environmentId) => primary.request({ type: 'listReports', environmentId }),
    },
  }
}

interface Pending {
  readonly resolve: (response: PrimaryResponses[keyof PrimaryResponses]) => void
  readonly reject: (error: FlagError) => void
}

/** A worker's side of the link to the primary. */
class WorkerEnd {
  /** The change listeners of this process. */
  readonly listeners = new MemoryChangeFeed()
  readonly #link: Link<ToPrimary, ToWorker>
  readonly #pending = new Map<string, Pending>()
  #isOver = false

  constructor(link: Link<ToPrimary, ToWorker>) {
    this.#link = link
    link.onMessage((message) => this.#receive(message))
    link.onEnd(() => this.#giveUp())
  }

  /**
   * Sends a request and returns the response. Throws the `FlagError` of the primary, or
   * `UNAVAILABLE` if the primary has ended.
   */
  request<R extends WorkerRequest>(request: R): Promise<PrimaryResponses[R['type']]> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) throw primaryGone()
      const id = randomUUID()
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject })
      this.#link.send({ id, request })
    })
  }

  #receive(message: ToWorker): void {
    if ('change' in message) {
      this.listeners.notify(message.change)
      return
    }
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if ('failure' in message) pending?.reject(toFlagError(message.failure))
    else pending?.resolve(message.response)
  }

  #giveUp(): void {
    this.#isOver = true
    for (const { reject } of this.#pending.values()) reject(primaryGone())
    this.#pending.clear()
  }
}

function toFlagError({ code, message, cause }: Failure): FlagError {
  return new FlagError(code, message, { cause: new Error(cause) })
}

function primaryGone(): FlagError {
  return new FlagError('UNAVAILABLE', 'The primary process has ended.')
}
