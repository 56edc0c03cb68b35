import type { Evaluated } from '../evaluation/evaluated.ts'

/** A text for sockets. Clients that are told the same share one, so that it is encoded only once. */
export interface Message {
  readonly text: string
}

/** What a client is told: everything, or what differs from what it was told before. */
export interface FlagUpdate {
  readonly message: Message
  readonly full: boolean
  /** How the flags of the message were evaluated. */
  readonly evaluated: Evaluated
}
