import type { FlagErrorCode } from '@ff/core'
import type { FlagSetChange, Resync } from '../ports/change-feed.ts'
import type { InstanceReport, ReceivedReport } from '../ports/instance-reports.ts'
import type { RateWindow } from '../ports/rate-limiter.ts'
import type { SqlStatement } from '../sql/sql-driver.ts'
import type { SqlRows } from '../sqlite/sqlite-driver.ts'

/**
 * A connection between a worker and the primary. Messages arrive in order while both processes run.
 */
export interface Link<Sent, Received> {
  /** Sends a message. Has no effect after the other side has ended. */
  send(message: Sent): void
  /** Adds a listener for messages. */
  onMessage(listener: (message: Received) => void): void
  /**
   * Adds a listener for the end of the other side. The listener can be called more than once, and
   * messages can still arrive afterwards.
   */
  onEnd(listener: () => void): void
}

/** A link between processes that can also carry messages of other code. */
export type BareLink = Link<object, unknown>

/** A request of a worker to the primary. */
export type WorkerRequest =
  | { readonly type: 'write'; readonly statements: readonly SqlStatement[] }
  | { readonly type: 'publish'; readonly change: FlagSetChange }
  | {
      readonly type: 'lease'
      readonly key: string
      readonly window: RateWindow
      readonly amount: number
    }
  | {
      readonly type: 'report'
      readonly instanceId: string
      readonly reports: readonly InstanceReport[]
    }
  | {
      readonly type: 'withdraw'
      readonly instanceId: string
      readonly environmentIds: readonly string[] | undefined
    }
  | { readonly type: 'listReports'; readonly environmentId: string }

/** The primary's response to each type of request. */
export interface PrimaryResponses {
  readonly write: SqlRows
  readonly publish: undefined
  readonly lease: number
  readonly report: number
  readonly withdraw: undefined
  readonly listReports: readonly ReceivedReport[]
}

/** The form in which an error is sent between processes. */
export interface Failure {
  readonly code: FlagErrorCode
  readonly message: string
  /** The message of the cause. */
  readonly cause: string
}

/** A request from a worker. The response contains the same `id`. */
export interface ToPrimary {
  readonly id: string
  readonly request: WorkerRequest
}

/** A message from the primary: a response, an error or a change. */
export type ToWorker =
  | { readonly id: string; readonly response: PrimaryResponses[keyof PrimaryResponses] }
  | { readonly id: string; readonly failure: Failure }
  | { readonly change: FlagSetChange | Resync }

/**
 * Returns a link that sends and receives only messages about one data file. Messages are not
 * validated, because both sides belong to the same release.
 */
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
