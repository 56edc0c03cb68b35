import type { ErrorMessage } from '@ff/protocol/sdk'
import type { Message } from './flag-set-diff.ts'

/** A WebSocket, as far as a connection needs one. */
export interface SocketLike {
  /** Bytes that were sent but have not left this process. */
  readonly bufferedAmount: number
  send(message: Message): void
  /** Calls `task` once, when everything that was sent has left this process. */
  whenDrained(task: () => void): void
  /**
   * Sends a close frame; the transport ends the socket even if the client does not answer. If
   * `isAnonymous`, it does not wait: clients without a key could keep many sockets open that way.
   */
  close(code: number, reason: string, isAnonymous: boolean): void
}

/** The last message to a client, and how its socket is closed. */
export interface SocketRefusal {
  readonly message: ErrorMessage
  readonly closeCode: number
  readonly closeReason: string
}
