import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Configuration, Provider } from 'oidc-provider'
import { vi } from 'vitest'
import { type Listening, listen } from '../../../server/test/node/listening.ts'

// The module logs advice for production at these levels.
for (const level of ['info', 'warn'] as const) {
  vi.spyOn(console, level).mockImplementation(() => undefined)
}
const oidc = await import('oidc-provider')

/** A user with an account at the provider. */
export interface Account {
  readonly sub: string
  readonly email?: string
  /** Absent if the provider does not send the claim. */
  readonly email_verified?: boolean | string
}

/** The credentials of the flag server at the provider. */
export const CLIENT = { clientId: 'ff', clientSecret: 'a secret of the client' }

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const KEY = { ...privateKey.export({ format: 'jwk' }), kid: 'key', alg: 'RS256', use: 'sig' }

/** A real identity provider on the loopback address, at which `account` is already logged in. */
export class OidcServer {
  /** The user of the browser. If it is `undefined`, the user denies the log-in. */
  account: Account | undefined
  /** If `true`, every connection is closed. */
  isDown = false
  /** Replaces the response bodies of the token endpoint. */
  forge: ((answer: string) => string) | undefined
  /** The paths of all requests. */
  readonly requestedPaths: string[] = []
  readonly #listening: Listening
  readonly #provider: Provider
  readonly #accounts: Map<string, Account>

  private constructor(listening: Listening, provider: Provider, accounts: Map<string, Account>) {
    this.#listening = listening
    this.#provider = provider
    this.#accounts = accounts
    listening.server.on('request', (request, response) => void this.#answer(request, response))
  }

  static async open(redirectUri: string, more: Configuration = {}): Promise<OidcServer> {
    const listening = await listen()
    const accounts = new Map<string, Account>()
    const [authMethod] = more.clientAuthMethods ?? ['client_secret_post' as const]
    const provider = new oidc.Provider(listening.url, {
      clients: [
        {
          client_id: CLIENT.clientId,
          client_secret: CLIENT.clientSecret,
          token_endpoint_auth_method: authMethod,
          redirect_uris: [redirectUri],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      cookies: { keys: ['a key for cookies'] },
      jwks: { keys: [KEY] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, sub) => {
        const account = accounts.get(sub)
        return account && { accountId: sub, claims: () => ({ ...account }) }
      },
      ...more,
    })
    return new OidcServer(listening, provider, accounts)
  }

  get issuer(): string {
    return this.#listening.url
  }

  close(): Promise<void> {
    return this.#listening.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?')[0] ?? ''
    this.requestedPaths.push(path)
    if (this.isDown) return void request.socket.destroy()
    if (this.account !== undefined) this.#accounts.set(this.account.sub, this.account)
    if (path.startsWith('/interaction/')) return this.#interact(request, response)
    const { forge } = this
    if (path === '/token' && forge !== undefined) {
      const end = response.end.bind(response)
      response.end = ((body: string) => {
        const forged = forge(String(body))
        response.setHeader('content-length', Buffer.byteLength(forged))
        return end(forged)
      }) as typeof response.end
    }
    this.#provider.callback()(request, response)
  }

  /** Completes the log-in and the consent without displaying a page. */
  async #interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params } = await this.#provider.interactionDetails(request, response)
    if (this.account === undefined) {
      const denied = { error: 'access_denied', error_description: 'They said <b>no</b>.' }
      return this.#provider.interactionFinished(request, response, denied)
    }
    const { sub: accountId } = this.account
    const login = { accountId, remember: false }
    if (prompt.name === 'login') {
      return this.#provider.interactionFinished(request, response, { login })
    }
    const grant = new this.#provider.Grant({ accountId, clientId: String(params['client_id']) })
    grant.addOIDCScope('openid email')
    const consent = { grantId: await grant.save() }
    return this.#provider.interactionFinished(request, response, { login, consent })
  }
}
