import { isFlagError } from '@ff/core'
import { webCompressors } from './compressors.ts'
import {
  assertNotCompressed,
  bodyCutOff,
  bodyTooLarge,
  type Exchange,
  type Handle,
  jsonBody,
  outsideTarget,
  type Reply,
  type RequestTarget,
  targetBelow,
} from './exchange.ts'

/** The sender of a web request. The request itself does not contain its address. */
export interface RequestSender {
  /** The IP address of the connection; unknown by default. */
  readonly address?: string | undefined
}

/** Handles a web request. */
export type Fetch = (request: Request, sender?: RequestSender) => Promise<Response>

/**
 * Creates a function that converts a web request to a web response, with the same handler as all
 * other bindings.
 */
export function createFetch(basePath: string, handle: Handle): Fetch {
  return async (request, sender) => {
    const target = targetBelow(basePath, request.url) ?? outsideTarget(request.url)
    return toResponse(await handle(toExchange(request, target, sender)), request.method)
  }
}

function toExchange(request: Request, target: RequestTarget, sender: RequestSender = {}): Exchange {
  // Some platforms pass another object as the second argument.
  const address = typeof sender?.address === 'string' ? sender.address : undefined
  return {
    ...target,
    method: request.method.toUpperCase(),
    header: (name) => request.headers.get(name) ?? (name === 'host' ? hostOf(request) : undefined),
    json: async (maxBytes) => jsonBody(await readBytes(request, maxBytes)),
    bytes: (maxBytes) => readBytes(request, maxBytes),
    address,
    compressors: webCompressors,
    isEncrypted: request.url.startsWith('https:'),
    hasBody: request.body !== null,
    hostRequest: request,
    onClosed: (listener) => {
      if (request.signal.aborted) listener()
      else request.signal.addEventListener('abort', listener, { once: true })
    },
  }
}

/** Returns the host of the URL, because some platforms do not expose the `Host` header. */
function hostOf(request: Request): string {
  return new URL(request.url).host
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  assertNotCompressed(request.headers.get('content-encoding') ?? undefined)
  if (Number(request.headers.get('content-length')) > maxBytes) throw bodyTooLarge(maxBytes)
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  try {
    // An exception in the loop cancels the stream, so that a body that is too large is not read to
    // its end.
    for await (const chunk of request.body as AsyncIterable<Uint8Array<ArrayBuffer>>) {
      length += chunk.byteLength
      if (length > maxBytes) throw bodyTooLarge(maxBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    throw isFlagError(error) ? error : bodyCutOff(error)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

function toResponse(reply: Reply, method: string): Response {
  const { status, headers: replyHeaders, cookies = [], body } = reply
  const headers = new Headers()
  for (const [name, value] of Object.entries(replyHeaders)) {
    if (value !== undefined) headers.set(name, value)
  }
  for (const cookie of cookies) headers.append('Set-Cookie', cookie)
  if (method === 'HEAD' || body === null) return new Response(null, { status, headers })
  const isWhole = typeof body === 'string' || body instanceof Uint8Array
  return new Response(isWhole ? body : toStream(body), { status, headers })
}

function toStream(pieces: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
