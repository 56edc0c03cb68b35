import { type FlagValues, SDK_KEY_HEADER, SDK_PATHS } from '@ff/protocol/sdk'
import { request } from 'undici'

/** The options of `watch`. */
export interface ClientOptions {
  /** The server's base URL. */
  readonly url: string
  readonly sdkKey: string
  readonly context: { readonly kind: string; readonly key: string; readonly [name: string]: string }
  /** Ends the generator when it aborts. */
  readonly signal: AbortSignal
}

/** Yields the values of a context, first at once and then after each change. */
// #region client
export async function* watch(options: ClientOptions): AsyncGenerator<FlagValues> {
  let since: string | undefined
  while (!options.signal.aborted) {
    const path = since === undefined ? SDK_PATHS.evaluate : SDK_PATHS.poll
    const answer = await post(options, path, { context: options.context, since })
    // A poll that ends without a change returns the same entity tag.
    if (answer.tag !== since) yield answer.values
    since = answer.tag
  }
}

async function post({ url, sdkKey, signal }: ClientOptions, path: string, body: object) {
  const response = await request(url + path, {
    method: 'POST',
    headers: { [SDK_KEY_HEADER]: sdkKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    // The server ends a poll after 61 seconds at the latest.
    headersTimeout: 75_000,
    signal,
  })
  const answer = (await response.body.json()) as FlagValues
  if (response.statusCode !== 200) throw new Error(`refused: ${JSON.stringify(answer)}`)
  return { values: answer, tag: String(response.headers['etag']) }
}
// #endregion
