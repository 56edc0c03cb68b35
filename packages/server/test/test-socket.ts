import {
  asFlagSetMessage,
  asServerMessage,
  type FlagSetMessage,
  type ServerMessage,
} from '@ff/protocol/sdk'
import type { Message } from '../src/live/flag-set-diff.ts'
import type { SocketLike } from '../src/live/socket-like.ts'

/**
 * A socket with the test as its client. It records sent messages and can simulate a slow client.
 */
export class TestSocket implements SocketLike {
  readonly messages: (ServerMessage | FlagSetMessage)[] = []
  /** All messages that were sent, as the same objects. */
  readonly sent: Message[] = []
  closedWith: number | undefined
  /** `true` if the transport was closed with a wait for the client's close frame. */
  lingers: boolean | undefined
  bufferedAmount = 0
  /** `true` if the client has stopped reading. */
  isStuck = false
  readonly #tasks: (() => void)[] = []

  send(sent: Message): void {
    const { text } = sent
    this.sent.push(sent)
    const json: unknown = JSON.parse(text)
    const message = asServerMessage(json) ?? asFlagSetMessage(json)
    if (message === undefined) throw new Error(`Not a server message: ${text}`)
    this.messages.push(message)
    if (this.isStuck) this.bufferedAmount += text.length
  }

  whenDrained(task: () => void): void {
    this.#tasks.push(task)
  }

  close(code: number, _reason: string, isAnonymous: boolean): void {
    this.closedWith = code
    this.lingers = !isAnonymous
  }

  /** Simulates that the client has read all sent messages. */
  drain(): void {
    this.isStuck = false
    this.bufferedAmount = 0
    for (const task of this.#tasks.splice(0)) task()
  }

  /** Returns and removes the received messages. */
  take(): (ServerMessage | FlagSetMessage)[] {
    return this.messages.splice(0)
  }
}
