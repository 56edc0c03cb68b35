import type { FlagServer } from '../src/flag-server.ts'

/** A request to a server in process. */
export interface Call {
  readonly method?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The body. An object is sent as JSON, text and bytes without conversion. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** The response to a `Call`. */
export interface Called {
  readonly status: number
  readonly headers: Headers
  /** The parsed JSON; `undefined` if there is no body. */
  readonly body: unknown
}

/** Sends a request to the handler in process. */
export async function call(
  flags: Pick<FlagServer, 'fetch'>,
  path: string,
  request: Call = {},
): Promise<Called> {
  const { method = 'POST', key, headers = {}, body, signal } = request
  const response = await flags.fetch(
    new Request(`http://flags.test${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { 'x-api-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: toBody(body), duplex: 'half' }),
      ...(signal === undefined ? {} : { signal }),
    } as RequestInit),
  )
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

function toBody(body: unknown): NonNullable<RequestInit['body']> {
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  return body instanceof ReadableStream ? body : JSON.stringify(body)
}

/** Sends an evaluation of a context. */
export const evaluate = (flags: FlagServer, key: string, context: unknown, headers = {}) =>
  call(flags, '/evaluator/evaluate', { key, body: { context }, headers })

/**
 * Requests all flags of a context over OFREP. Returns the values by flag key, without the flags that
 * have an error.
 */
export async function evaluateOverOfrep(
  flags: Pick<FlagServer, 'fetch'>,
  key: string,
  context: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await call(flags, '/ofrep/v1/evaluate/flags', { key, body: { context } })
  const { flags: items } = body as { flags: { key: string; value?: unknown }[] }
  return Object.fromEntries(
    items.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]])),
  )
}

/** Sends a poll. */
export const poll = (flags: FlagServer, key: string, body: unknown, signal?: AbortSignal) =>
  call(flags, '/evaluator/poll', { key, body, ...(signal === undefined ? {} : { signal }) })

/** Returns the value of one of a server's metrics without labels, which must be public. */
export async function metric(flags: Pick<FlagServer, 'fetch'>, name: string): Promise<number> {
  const text = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}
