import { eventsIn, type StreamedEvent } from '../world/event-stream.ts'
import type { ManagedServer } from '../world/managed-server.ts'

/** The request of a stream. */
export interface StreamCall {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

/** A reader of the event stream of a project. */
export class StreamReader {
  readonly response: Response
  /** The events that were received, except positions. */
  readonly events: StreamedEvent[] = []
  /** The number of received comments. */
  comments = 0
  /** The last id that was received. */
  lastId: string | undefined
  hasEnded = false
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  private constructor(response: Response) {
    this.response = response
    this.#reader = response.body?.getReader()
  }

  static async open(
    flags: Pick<ManagedServer, 'fetch'>,
    projectId: string,
    { token, headers = {}, method = 'GET' }: StreamCall,
  ): Promise<StreamReader> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const address = `http://flags.test/projects/${projectId}/events`
    const sent = { method, headers: { ...authorization, ...headers } }
    const reader = new StreamReader(await flags.fetch(new Request(address, sent)))
    void reader.#read()
    return reader
  }

  /** Disconnects the reader. */
  async leave(): Promise<void> {
    await this.#reader?.cancel()
  }

  /** Returns the received events with this name. */
  of(name: string): StreamedEvent[] {
    return this.events.filter(({ event }) => event === name)
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined }
      if (done) break
      text += decoder.decode(value, { stream: true })
      const end = text.lastIndexOf('\n\n') + 2
      this.#take(text.slice(0, end))
      text = text.slice(end)
    }
    this.hasEnded = true
  }

  #take(text: string): void {
    this.comments += text.split('\n').filter((line) => line.startsWith(':')).length
    for (const event of eventsIn(text)) {
      this.lastId = event.id ?? this.lastId
      if (event.event !== 'position') this.events.push(event)
    }
  }
}
