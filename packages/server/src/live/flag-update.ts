import type { Evaluated } from '../evaluation/evaluated.ts'

/** A text for sockets. Clients that receive the same text share one object, so that it is encoded only once. */
export interface Message {
  readonly text: string
}

/** What a client receives: all values, or those that differ from the last delivery. */
export interface FlagUpdate {
  readonly message: Message
  readonly full: boolean
  /** How the flags of the message were evaluated. */
  readonly evaluated: Evaluated
}
