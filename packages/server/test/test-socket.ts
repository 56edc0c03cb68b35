import { asServerMessage, type ServerMessage } from '@ff/protocol/sdk'
import type { Message } from '../src/live/flag-set-diff.ts'
import type { SocketLike } from '../src/live/socket-like.ts'

/** A socket whose other end is the test: it takes what is sent, as slowly as it likes. */
export class TestSocket implements SocketLike {
  readonly messages: ServerMessage[] = []
  /** Everything that was sent, as it was handed over. */
  readonly sent: Message[] = []
  closedWith: number | undefined
  /** Whether the transport was asked to wait for the client's answer when it was closed. */
  lingers: boolean | undefined
  bufferedAmount = 0
  /** Whether the other end has stopped reading. */
  isStuck = false
  readonly #tasks: (() => void)[] = []

  send(sent: Message): void {
    const { text } = sent
    this.sent.push(sent)
    const message = asServerMessage(JSON.parse(text))
    if (message === undefined) throw new Error(`not a message of the server: ${text}`)
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

  /** The other end reads again. */
  drain(): void {
    this.isStuck = false
    this.bufferedAmount = 0
    for (const task of this.#tasks.splice(0)) task()
  }

  take(): ServerMessage[] {
    return this.messages.splice(0)
  }
}
