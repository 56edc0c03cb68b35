import { FlagError, isFlagError } from '@ff/core'
import type { ChangeFeed } from '../ports/change-feed.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'
import { transactionEnded } from '../ports/record-errors.ts'
import type { SqlDriver } from '../sql/sql-driver.ts'
import { HeldTransaction } from './held-transaction.ts'
import type { Answers, Failure, Link, Question, ToPrimary, ToWorker } from './link.ts'

/** How long a worker with an open transaction may say nothing, while all others wait for it. */
const SILENCE_MS = 10_000

/** What the primary has, and lets its workers use. */
export interface PrimaryPorts {
  readonly driver: SqlDriver
  readonly changeFeed: ChangeFeed
  readonly rateLimiter: RateLimiter
  readonly silenceMs?: number
}

/** The primary's end of the link to one worker. What a worker leaves open is rolled back. */
export class PrimaryEnd {
  readonly #link: Link<ToWorker, ToPrimary>
  readonly #ports: PrimaryPorts
  readonly #transactions = new Map<string, HeldTransaction>()
  #isOver = false

  constructor(link: Link<ToWorker, ToPrimary>, ports: PrimaryPorts) {
    this.#link = link
    this.#ports = ports
    const subscribed = ports.changeFeed.subscribe((change) => link.send({ change }))
    link.onMessage((message) => void this.#receive(message))
    link.onEnd(() => {
      this.#isOver = true
      void subscribed.then((unsubscribe) => unsubscribe())
      for (const held of this.#transactions.values()) void held.undo(workerGone())
    })
  }

  async #receive({ id, question }: ToPrimary): Promise<void> {
    if (this.#isOver) return
    try {
      this.#link.send({ id, answer: await this.#answer(id, question) })
    } catch (error) {
      this.#link.send({ id, failure: toFailure(error) })
    }
  }

  async #answer(id: string, question: Question): Promise<Answers[keyof Answers]> {
    switch (question.type) {
      case 'begin':
        return this.#begin(id, question.lock)
      case 'run':
        return this.#held(question.transaction).run(question)
      case 'end':
        return this.#end(question)
      case 'publish':
        await this.#ports.changeFeed.publish(question.change)
        return undefined
      case 'lease':
        return this.#ports.rateLimiter.lease(question.key, question.window, question.amount)
    }
  }

  /** The question's id is the transaction's name from now on. */
  async #begin(id: string, lock: string): Promise<string> {
    const { driver, silenceMs = SILENCE_MS } = this.#ports
    const held = new HeldTransaction({ driver, lock, silenceMs })
    this.#transactions.set(id, held)
    try {
      await held.begin()
      return id
    } catch (error) {
      this.#transactions.delete(id)
      throw error
    }
  }

  async #end({
    transaction,
    keep,
    deferred,
  }: Extract<Question, { type: 'end' }>): Promise<undefined> {
    const held = this.#held(transaction)
    this.#transactions.delete(transaction)
    if (keep) await held.keep(deferred)
    else await held.undo(undone())
  }

  #held(transaction: string): HeldTransaction {
    const held = this.#transactions.get(transaction)
    if (held === undefined) throw transactionEnded()
    return held
  }
}

function toFailure(error: unknown): Failure {
  if (!isFlagError(error))
    return { code: 'INTERNAL', message: 'The primary failed.', cause: String(error) }
  const { code, message, cause } = error
  return { code, message, cause: cause instanceof Error ? cause.message : 'none' }
}

function undone(): FlagError {
  return new FlagError('UNAVAILABLE', 'The transaction was rolled back.')
}

function workerGone(): FlagError {
  return new FlagError('UNAVAILABLE', 'The transaction was rolled back: its process has ended.')
}
