import { lookup as lookupName } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import type { WebhookFault } from '@ff/protocol/management'
import type { Client, Dispatcher } from 'undici'
import type { WebhookAnswer, WebhookRequest, WebhookSender } from '../ports/webhook-sender.ts'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'

/** An IP address of a host name. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** The options of `NodeWebhookSender`. */
export interface NodeWebhookSenderOptions {
  /** Permits URLs on this machine, also without TLS, for tests and development. */
  readonly allowLoopback: boolean
  /** Returns all addresses of a host name; by default, uses the resolver of the system. */
  readonly lookup?: (hostname: string) => Promise<readonly ResolvedAddress[]>
}

/** The time limit of an attempt, from resolving the host name to the end of the response. */
const ATTEMPT_WITHIN_MS = 5000
const MOST_HEADER_BYTES = 8 * 1024
/** The part of a response body that is read and discarded so that the receiver can finish. */
const MOST_BODY_BYTES = 64 * 1024

const NOT_PUBLIC = 'must not point to a private, local or reserved address'

/**
 * Posts webhook messages to public addresses only. A host name is resolved one time per message,
 * all its addresses are checked, and the connection is opened to a checked address, so that a name
 * that resolves differently later cannot bypass the check. Redirects are not followed, and no proxy
 * is used.
 */
export class NodeWebhookSender implements WebhookSender {
  readonly #allowLoopback: boolean
  readonly #lookup: NonNullable<NodeWebhookSenderOptions['lookup']>

  constructor({ allowLoopback, lookup = lookupAll }: NodeWebhookSenderOptions) {
    this.#allowLoopback = allowLoopback
    this.#lookup = lookup
  }

  refusalOf(text: string): string | undefined {
    if (!URL.canParse(text)) return 'is not a URL'
    const url = new URL(text)
    const isSupported =
      url.protocol === 'https:' || (this.#allowLoopback && url.protocol === 'http:')
    if (!isSupported) return 'must begin with https://'
    if (url.username !== '' || url.password !== '') return 'must not contain credentials'
    const address = literalIn(url.hostname)
    return address === undefined || this.#mayReach(address, url) ? undefined : NOT_PUBLIC
  }

  async send({ url: text, headers, body }: WebhookRequest): Promise<WebhookAnswer> {
    if (this.refusalOf(text) !== undefined) return { status: null, fault: 'host' }
    const url = new URL(text)
    const signal = AbortSignal.timeout(ATTEMPT_WITHIN_MS)
    const client = await this.#clientFor(url)
    try {
      const answer = await client.request({
        method: 'POST',
        path: url.pathname + url.search,
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'ff-webhooks' },
        body,
        signal,
      })
      await discard(answer, signal)
      return { status: answer.statusCode, fault: faultOf(answer.statusCode) }
    } catch (error) {
      return { status: null, fault: signal.aborted ? 'timeout' : faultIn(error) }
    } finally {
      await client.destroy()
    }
  }

  /** Creates a client for one message, so that no connection outlives its address check. */
  async #clientFor(url: URL): Promise<Client> {
    // A large module, which the start of a server must not wait for.
    const { Client } = await import('undici')
    const lookup: LookupFunction = (hostname, { all }, callback) => {
      this.#addressesOf(hostname, url).then(
        (addresses) => {
          const [first] = addresses
          if (all) callback(null, [...addresses])
          else callback(null, first.address, first.family)
        },
        (error: NodeJS.ErrnoException) => callback(error, []),
      )
    }
    return new Client(url.origin, {
      connect: { lookup, timeout: ATTEMPT_WITHIN_MS },
      pipelining: 0,
      maxHeaderSize: MOST_HEADER_BYTES,
      allowH2: false,
    })
  }

  /** Throws `HostError` if the name is unknown or one of its addresses is not allowed. */
  async #addressesOf(
    hostname: string,
    url: URL,
  ): Promise<readonly [ResolvedAddress, ...ResolvedAddress[]]> {
    const found = await this.#lookup(hostname).catch((cause: unknown) => {
      throw new HostError('The host name could not be resolved.', { cause })
    })
    const [first, ...others] = found
    if (first === undefined || !found.every(({ address }) => this.#mayReach(address, url))) {
      throw new HostError('The host name resolves to an address that is not allowed.')
    }
    return [first, ...others]
  }

  /** Returns `true` if an address is allowed; without TLS, only a loopback address is allowed. */
  #mayReach(address: string, { protocol }: URL): boolean {
    if (isLoopbackAddress(address)) return this.#allowLoopback
    return protocol === 'https:' && isPublicAddress(address)
  }
}

class HostError extends Error {
  override readonly name = 'HostError'
}

function lookupAll(hostname: string): Promise<readonly ResolvedAddress[]> {
  return lookupName(hostname, { all: true })
}

/**
 * Returns the address of a host that is an IP address or a name for this machine, otherwise
 * `undefined`. The URL parser has already normalised the spelling of IPv4 addresses.
 */
function literalIn(hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (host === 'localhost' || host.endsWith('.localhost')) return '127.0.0.1'
  return isIP(host) === 0 ? undefined : host
}

/** Discards the body. An error is ignored, because the status alone decides the result. */
async function discard({ body }: Dispatcher.ResponseData, signal: AbortSignal): Promise<void> {
  try {
    await body.dump({ limit: MOST_BODY_BYTES, signal })
  } catch {
    body.destroy()
  }
}

function faultOf(status: number): WebhookFault | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

function faultIn(error: unknown): WebhookFault {
  if (error instanceof HostError) return 'host'
  if (error instanceof Error && error.name === 'HTTPParserError') return 'response'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return 'timeout'
  if (/^ERR_(TLS|SSL)|CERT|^UNABLE_TO_|^EPROTO$/.test(code)) return 'tls'
  return /HEADERS_OVERFLOW/.test(code) ? 'response' : 'connection'
}
