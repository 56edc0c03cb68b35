import { FlagError, isFlagError } from '@ff/core'
import { MemoryChangeFeed } from '../memory/memory-change-feed.ts'
import { MemoryRateLimiter } from '../memory/memory-rate-limiter.ts'
import { transactionEnded } from '../ports/record-errors.ts'
import type { SqlStatement } from '../sql/sql-driver.ts'
import { openDataFile } from '../sqlite/data-file.ts'
import { BEGIN } from '../sqlite/sqlite-connection.js'
import type { SqlRows } from '../sqlite/sqlite-driver.ts'
import { HeldTransaction, SharedWriter } from './held-transaction.ts'
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

const SILENCE_MS = 10_000

/** What workers share: the connection that writes to the data file, the feed, and the limiter. */
export class Primary {
  readonly changeFeed = new MemoryChangeFeed()
  readonly rateLimiter = new MemoryRateLimiter()
  readonly writer: SharedWriter
  /** How long a worker with an open transaction may say nothing, while all others wait for it. */
  readonly silenceMs: number
  readonly #path: string

  constructor(path: string, { silenceMs = SILENCE_MS }: { readonly silenceMs?: number } = {}) {
    this.#path = path
    this.silenceMs = silenceMs
    this.writer = new SharedWriter(openDataFile(path))
  }

  /** Answers a worker until it is gone. */
  serve(link: BareLink): void {
    new PrimaryEnd(linkAbout<ToWorker, ToPrimary>(this.#path, link), this)
  }

  /** Ends what was begun, then refuses everything. */
  close(): Promise<void> {
    return this.writer.close()
  }
}

/** The primary's end of the link to one worker. What a worker leaves open is rolled back. */
class PrimaryEnd {
  readonly #link: Link<ToWorker, ToPrimary>
  readonly #primary: Primary
  /** The newest transaction; a worker has one at a time. */
  #transaction: HeldTransaction | undefined
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
    })
  }

  async #receive({ id, question }: ToPrimary): Promise<void> {
    if (this.#isOver) return
    try {
      this.#link.send({ id, answer: await this.#answer(question) })
    } catch (error) {
      this.#link.send({ id, failure: toFailure(error) })
    }
  }

  async #answer(question: Question): Promise<Answers[keyof Answers]> {
    switch (question.type) {
      case 'write':
        return this.#write(question.statements)
      case 'publish':
        await this.#primary.changeFeed.publish(question.change)
        return undefined
      case 'lease':
        return this.#primary.rateLimiter.lease(question.key, question.window, question.amount)
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
    return { code: 'INTERNAL', message: 'The primary failed.', cause: String(error) }
  const { code, message, cause } = error
  return { code, message, cause: cause instanceof Error ? cause.message : 'none' }
}

function workerGone(): FlagError {
  return new FlagError('UNAVAILABLE', 'The transaction was rolled back: its process has ended.')
}
