import { asServerMessage, type ServerMessage } from '@ff/protocol/sdk'
import type { SocketLike } from '../src/live/socket-connection.ts'

/** A socket whose other end is the test: it takes what is sent, as slowly as it likes. */
export class TestSocket implements SocketLike {
  readonly messages: ServerMessage[] = []
  closedWith: number | undefined
  bufferedAmount = 0
  /** Whether the other end has stopped reading. */
  isStuck = false
  readonly #leaving: (() => void)[] = []

  send(text: string, left: () => void): void {
    const message = asServerMessage(JSON.parse(text))
    if (message === undefined) throw new Error(`not a message of the server: ${text}`)
    this.messages.push(message)
    if (this.isStuck) {
      this.bufferedAmount += text.length
      this.#leaving.push(left)
    } else queueMicrotask(left)
  }

  close(code: number): void {
    this.closedWith = code
  }

  /** The other end reads again. */
  drain(): void {
    this.isStuck = false
    this.bufferedAmount = 0
    for (const left of this.#leaving.splice(0)) left()
  }

  take(): ServerMessage[] {
    return this.messages.splice(0)
  }
}
