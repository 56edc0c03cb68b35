import type { Reply } from '../../../server/src/http/exchange.ts'

/** One event of a stream. */
export interface StreamedEvent {
  readonly event: string
  readonly id: string | null
  // biome-ignore lint/suspicious/noExplicitAny: tests check the shape of the data
  readonly data: any
}

/** Returns `true` if a content type is that of server-sent events. */
export function isEventStream(type: string | null | undefined): boolean {
  return type?.startsWith('text/event-stream') ?? false
}

/** Returns the events of a text of server-sent events, in the form of the OpenAPI document. */
export function eventsIn(text: string): readonly StreamedEvent[] {
  return text.split('\n\n').flatMap((block) => {
    const fields = new Map(
      block.split('\n').map((line) => {
        const colon = line.indexOf(': ')
        return [line.slice(0, colon), line.slice(colon + 2)] as const
      }),
    )
    const [event = 'position', id = null, data] = ['event', 'id', 'data'].map((name) =>
      fields.get(name),
    )
    if (id === null && data === undefined) return []
    return [{ event, id, data: data === undefined ? {} : JSON.parse(data) }]
  })
}

/** Returns the first chunk of the body of an event stream, and closes the stream. */
export async function firstOf(body: Reply['body']): Promise<string> {
  const iterator = (body as AsyncIterable<string>)[Symbol.asyncIterator]()
  const { value = '' } = await iterator.next()
  await iterator.return?.()
  return value
}
