import type { IncomingMessage, ServerResponse } from 'node:http'
import { SDK_PATHS } from '@ff/protocol/sdk'
import type { GatewayOptions } from './gateway-options.ts'

/** The size limit of the flag server for an evaluation. */
const MAX_BODY_BYTES = 256 * 1024
/** The connection of a client that sends even more is closed. */
const MAX_DISCARDED_BYTES = 1024 * 1024
const WITHIN_MS = 30_000

const REQUEST_HEADERS = [
  ...['x-api-key', 'content-type', 'content-encoding', 'if-none-match', 'origin'],
  ...['access-control-request-method', 'access-control-request-headers'],
]
/** The headers that describe a connection or the length of the body that the gateway replaces. */
const DROPPED_HEADERS = ['connection', 'content-length', 'keep-alive', 'transfer-encoding']

/** Returns the path and the query of a request. Only the path may be logged. */
export function targetOf({ url = '/' }: IncomingMessage): { path: string; query: string } {
  const [path = '', ...query] = url.split('?')
  return { path, query: query.join('?') }
}

/** Returns the header with which a server that trusts this proxy counts requests per client. */
export function forwardedFor({ socket }: IncomingMessage): Record<string, string> {
  return { 'x-forwarded-for': socket.remoteAddress ?? '' }
}

/**
 * Forwards an evaluation to the flag server, and adds the envelope to the values: older clients
 * read them from `data`. Errors of the flag server are forwarded unchanged. Never rejects.
 */
export async function forwardEvaluation(
  options: GatewayOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.on('error', () => response.destroy())
  const { path } = targetOf(request)
  try {
    if (path !== SDK_PATHS.evaluate) {
      const served = `POST ${SDK_PATHS.evaluate} and ${SDK_PATHS.socket}`
      return sendError(response, 404, `This gateway serves only ${served}.`)
    }
    const body = await readBody(request)
    if (body !== undefined) await forward({ ...options, body }, request, response)
    else sendError(response, 413, `The request body is larger than ${MAX_BODY_BYTES} bytes.`)
  } catch (error) {
    if (response.destroyed) return
    options.warn(`${request.method} ${path} failed: ${reasonOf(error)}`)
    sendError(response, 502, 'The flag server is not available; try again later.')
  }
}

async function forward(
  { target, body }: GatewayOptions & { readonly body: Buffer },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET' } = request
  const abort = new AbortController()
  response.on('close', () => abort.abort())
  const sent = Object.entries(request.headers).filter(([name]) => REQUEST_HEADERS.includes(name))
  const answer = await fetch(target + SDK_PATHS.evaluate, {
    method,
    headers: { ...Object.fromEntries(sent as [string, string][]), ...forwardedFor(request) },
    ...(method !== 'GET' && method !== 'HEAD' && { body }),
    signal: AbortSignal.any([abort.signal, AbortSignal.timeout(WITHIN_MS)]),
  })
  const text = await answer.text()
  const headers = [...answer.headers].filter(([name]) => !DROPPED_HEADERS.includes(name))
  response.writeHead(answer.status, Object.fromEntries(headers))
  response.end(
    // #region envelope
    answer.status === 200 ? `{"statusCode":200,"message":"OK","data":${text}}` : text,
    // #endregion
  )
}

/** Reads the body; `undefined` if it is too large. Rejects if the client disconnects. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= MAX_BODY_BYTES) chunks.push(chunk)
    if (length > MAX_DISCARDED_BYTES) request.destroy()
  }
  return length > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks)
}

function sendError(response: ServerResponse, statusCode: number, error: string): void {
  const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' }
  response.writeHead(statusCode, headers)
  response.end(JSON.stringify({ error, statusCode }))
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message : message
}
