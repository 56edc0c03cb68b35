import { FlagError, isFlagError } from '@ff/core'
import { MemoryChangeFeed } from '../memory/memory-change-feed.ts'
import { MemoryInstanceReports } from '../memory/memory-instance-reports.ts'
import { MemoryRateLimiter } from '../memory/memory-rate-limiter.ts'
import { transactionEnded } from '../ports/record-errors.ts'
import type { SqlStatement } from '../sql/sql-driver.ts'
import { openDataFile } from '../sqlite/data-file.ts'
import { BEGIN } from '../sqlite/sqlite-connection.js'
import type { SqlRows } from '../sqlite/sqlite-driver.ts'
import { HeldTransaction, SharedWriter } from './held-transaction.ts'
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

/** The default of `silenceMs`. */
const SILENCE_MS = 10_000

/**
 * The shared resources of all workers: the writing connection, change feed, rate limiter and
 * instance reports.
 */
export class Primary {
  readonly changeFeed = new MemoryChangeFeed()
  readonly rateLimiter = new MemoryRateLimiter()
  readonly instanceReports = new MemoryInstanceReports()
  readonly writer: SharedWriter
  /**
   * The time, in milliseconds, after which an open transaction without further statements is rolled
   * back, because it blocks the transactions of all other workers.
   */
  readonly silenceMs: number
  readonly #path: string

  constructor(path: string, { silenceMs = SILENCE_MS }: { readonly silenceMs?: number } = {}) {
    this.#path = path
    this.silenceMs = silenceMs
    this.writer = new SharedWriter(openDataFile(path))
  }

  /** Responds to the requests of a worker until the worker ends. */
  serve(link: BareLink): void {
    new PrimaryEnd(linkAbout<ToWorker, ToPrimary>(this.#path, link), this)
  }

  /** Waits for open transactions and closes the data file. */
  close(): Promise<void> {
    return this.writer.close()
  }
}

/**
 * The primary's side of the link to one worker. When the worker ends, its open transaction is
 * rolled back and its instance reports are removed.
 */
class PrimaryEnd {
  readonly #link: Link<ToWorker, ToPrimary>
  readonly #primary: Primary
  /** The newest transaction. A worker has only one transaction at a time. */
  #transaction: HeldTransaction | undefined
  /** The instances that have reported through this link. */
  readonly #instanceIds = new Set<string>()
  #isOver = false

  constructor(link: Link<ToWorker, ToPrimary>, primary: Primary) {
    this.#link = link
    this.#primary = primary
    const subscribed = primary.changeFeed.subscribe((change) => link.send({ change }))
    link.onMessage((message) => void this.#receive(message))
    link.onEnd(() => {
      this.#isOver = true
      void subscribed.then((unsubscribe) => unsubscribe())
      this.#transaction?.lose(workerGone()).catch(() => undefined)
      for (const id of this.#instanceIds) void primary.instanceReports.withdraw(id)
    })
  }

  async #receive({ id, request }: ToPrimary): Promise<void> {
    if (this.#isOver) return
    try {
      this.#link.send({ id, response: await this.#respond(request) })
    } catch (error) {
      this.#link.send({ id, failure: toFailure(error) })
    }
  }

  async #respond(request: WorkerRequest): Promise<PrimaryResponses[keyof PrimaryResponses]> {
    switch (request.type) {
      case 'write':
        return this.#write(request.statements)
      case 'publish':
        await this.#primary.changeFeed.publish(request.change)
        return undefined
      case 'lease':
        return this.#primary.rateLimiter.lease(request.key, request.window, request.amount)
      case 'report':
        this.#instanceIds.add(request.instanceId)
        return this.#primary.instanceReports.report(request.instanceId, request.reports)
      case 'withdraw':
        await this.#primary.instanceReports.withdraw(request.instanceId, request.environmentIds)
        return undefined
      case 'listReports':
        return this.#primary.instanceReports.list(request.environmentId)
    }
  }

  async #write(statements: readonly SqlStatement[]): Promise<SqlRows> {
    if (statements[0]?.sql === BEGIN) {
      this.#transaction = new HeldTransaction(this.#primary.writer, this.#primary.silenceMs)
    }
    if (this.#transaction === undefined) throw transactionEnded()
    return this.#transaction.write(statements)
  }
}

function toFailure(error: unknown): Failure {
  if (!isFlagError(error))
    return { code: 'INTERNAL', message: 'The primary process failed.', cause: String(error) }
  const { code, message, cause } = error
  return { code, message, cause: cause instanceof Error ? cause.message : 'none' }
}

function workerGone(): FlagError {
  return new FlagError('UNAVAILABLE', 'The transaction was rolled back: its worker has ended.')
}
