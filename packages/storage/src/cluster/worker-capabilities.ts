import { randomUUID } from 'node:crypto'
import { FlagError } from '@ff/core'
import { MemoryChangeFeed } from '../memory/memory-change-feed.ts'
import type { Capabilities } from '../ports/capabilities.ts'
import { sqliteDialect } from '../sql/dialect.ts'
import { createSqlStorage } from '../sql/sql-storage.ts'
import { openDataFile } from '../sqlite/data-file.ts'
import { type SqliteChannel, SqliteDriver } from '../sqlite/sqlite-driver.ts'
import {
  type Answers,
  type BareLink,
  type Failure,
  type Link,
  linkAbout,
  type Question,
  type ToPrimary,
  type ToWorker,
} from './link.ts'

/** Everything a server needs, by a link to the primary that serves the same data file. */
export function workerCapabilities(path: string, link: BareLink): Required<Capabilities> {
  const primary = new WorkerEnd(linkAbout<ToPrimary, ToWorker>(path, link))
  const own = openDataFile(path, { readsOnly: true })
  const channel: SqliteChannel = {
    hasReader: true,
    isShared: true,
    write: (statements) => primary.ask({ type: 'write', statements }),
    read: (statements) => own.read(statements),
    close: () => own.close(),
  }
  return {
    storage: createSqlStorage(new SqliteDriver(channel), sqliteDialect),
    changeFeed: {
      publish: (change) => primary.ask({ type: 'publish', change }),
      subscribe: (listener) => primary.listeners.subscribe(listener),
    },
    rateLimiter: {
      lease: (key, window, amount) => primary.ask({ type: 'lease', key, window, amount }),
    },
  }
}

interface Pending {
  readonly resolve: (answer: Answers[keyof Answers]) => void
  readonly reject: (error: FlagError) => void
}

/** A worker's end of the link to the primary. */
class WorkerEnd {
  /** The listeners of this process. */
  readonly listeners = new MemoryChangeFeed()
  readonly #link: Link<ToPrimary, ToWorker>
  readonly #pending = new Map<string, Pending>()
  #isOver = false

  constructor(link: Link<ToPrimary, ToWorker>) {
    this.#link = link
    link.onMessage((message) => this.#receive(message))
    link.onEnd(() => this.#giveUp())
  }

  /** Throws the primary's `FlagError`, or `UNAVAILABLE` when the primary is gone. */
  ask<Q extends Question>(question: Q): Promise<Answers[Q['type']]> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) throw primaryGone()
      const id = randomUUID()
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject })
      this.#link.send({ id, question })
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
    else pending?.resolve(message.answer)
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
  return new FlagError('UNAVAILABLE', 'The primary process is gone.')
}
