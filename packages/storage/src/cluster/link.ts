import type { FlagErrorCode } from '@ff/core'
import type { FlagSetChange, Resync } from '../ports/change-feed.ts'
import type { RateWindow } from '../ports/rate-limiter.ts'
import type { SqlStatement } from '../sql/sql-driver.ts'
import type { SqlRows } from '../sqlite/sqlite-driver.ts'

/** The way between a worker and the primary: what is sent arrives, in order, while both live. */
export interface Link<Sent, Received> {
  /** Has no effect once the other side has ended. */
  send(message: Sent): void
  onMessage(listener: (message: Received) => void): void
  /** Called, perhaps again, when the other side is gone; some of what it sent may still come. */
  onEnd(listener: () => void): void
}

/** A link as a process has it: others may use it too. */
export type BareLink = Link<object, unknown>

/** What a worker asks of the primary. */
export type Question =
  | { readonly type: 'write'; readonly statements: readonly SqlStatement[] }
  | { readonly type: 'publish'; readonly change: FlagSetChange }
  | {
      readonly type: 'lease'
      readonly key: string
      readonly window: RateWindow
      readonly amount: number
    }

/** What the primary answers to each. */
export interface Answers {
  readonly write: SqlRows
  readonly publish: undefined
  readonly lease: number
}

/** An error as it crosses processes. */
export interface Failure {
  readonly code: FlagErrorCode
  readonly message: string
  readonly cause: string
}

/** A message of a worker. */
export interface ToPrimary {
  readonly id: string
  readonly question: Question
}

/** A message of the primary. */
export type ToWorker =
  | { readonly id: string; readonly answer: Answers[keyof Answers] }
  | { readonly id: string; readonly failure: Failure }
  | { readonly change: FlagSetChange | Resync }

/** The messages about one data file. Both sides are of one release, so what arrives is trusted. */
export function linkAbout<Sent, Received>(path: string, link: BareLink): Link<Sent, Received> {
  return {
    send: (message) => link.send({ ff: path, message }),
    onMessage(listener) {
      link.onMessage((received) => {
        if (isAbout(path, received)) listener(received.message as Received)
      })
    },
    onEnd: (listener) => link.onEnd(listener),
  }
}

function isAbout(path: string, received: unknown): received is { readonly message: unknown } {
  if (typeof received !== 'object' || received === null) return false
  return 'ff' in received && received.ff === path && 'message' in received
}
