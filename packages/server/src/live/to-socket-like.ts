import { type Clock, systemClock } from '../runtime/clock.ts'
import type { SocketLike } from './socket-like.ts'

/** The part of a standard `WebSocket` that `toSocketLike` uses. */
export interface StandardSocket {
  /** The number of bytes that were sent but have not left this process. */
  readonly bufferedAmount: number
  /** The state of the socket; 1 while it is open. */
  readonly readyState: number
  send(text: string): void
  close(code: number, reason: string): void
}

const OPEN = 1
/** The interval of the checks whether all sent bytes have left this process. */
const DRAIN_CHECK_MS = 100

/**
 * Converts a standard `WebSocket`, such as those of Deno, for `FlagServer.acceptSocket`. The socket
 * must be open.
 *
 * @example
 * socket.onopen = () => {
 *   const connection = flags.acceptSocket(toSocketLike(socket))
 *   socket.onmessage = ({ data }) => connection.receive(data)
 *   socket.onclose = () => flags.releaseSocket(connection)
 * }
 */
export function toSocketLike(socket: StandardSocket, clock: Clock = systemClock): SocketLike {
  // A standard socket has no event for drained data.
  const whenDrained = (task: () => void): void => {
    if (socket.readyState !== OPEN) return
    if (socket.bufferedAmount === 0) task()
    else clock.schedule(DRAIN_CHECK_MS, () => whenDrained(task))
  }
  return {
    get bufferedAmount() {
      return socket.bufferedAmount
    },
    send({ text }) {
      if (socket.readyState === OPEN) socket.send(text)
    },
    whenDrained,
    close: (code, reason) => socket.close(code, reason),
  }
}
