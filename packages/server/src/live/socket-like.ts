import type { ErrorMessage } from '@ff/protocol/sdk'
import type { Message } from './flag-set-diff.ts'

/** The part of a WebSocket that a connection uses. */
export interface SocketLike {
  /** The number of bytes that were sent but have not left this process. */
  readonly bufferedAmount: number
  /** Sends a text message. */
  send(message: Message): void
  /** Calls `task` one time, when all sent bytes have left this process. */
  whenDrained(task: () => void): void
  /**
   * Sends a close frame. The transport closes the socket even if the client does not respond. If
   * `isAnonymous`, it does not wait for a response, because clients without a key could keep many
   * sockets open that way.
   */
  close(code: number, reason: string, isAnonymous: boolean): void
}

/** The last message to a client, and the close code and reason of its socket. */
export interface SocketRefusal {
  readonly message: ErrorMessage
  readonly closeCode: number
  readonly closeReason: string
}
