import type { Role } from '@ff/protocol/management'
import type { Storage } from '@ff/storage'
import type { Configuration } from 'oidc-provider'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import type { LogFields } from '../../../server/src/runtime/logger.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { listen } from '../../../server/test/node/listening.ts'
import type { ManagementUseCases } from '../../src/api/use-cases.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import { type OidcProviderOptions, oidcProvider } from '../../src/oidc/oidc.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import type { Json } from '../world/world.ts'
import type { Browser, Page } from './browser.ts'
import { CLIENT, OidcServer } from './oidc-server.ts'

/** The administrator of the server. */
export const ADMINISTRATOR = { email: 'root@acme.test', password: 'a password for the root' }

/** A server with log-in at an identity provider. Both listen on the loopback address. */
export interface OidcScene {
  readonly clock: FakeClock
  readonly flags: ManagedServer
  readonly management: ManagementUseCases
  readonly storage: Storage
  readonly provider: OidcServer
  /** The URL of the server for browsers, with its base path. */
  readonly base: string
  readonly orgId: string
  /** The errors that the server has logged. */
  readonly errors: readonly (LogFields & { readonly message: string })[]
  addMember(email: string, role: Exclude<Role, 'platform'>): Promise<Json>
  removeMember(params: { readonly orgId: string; readonly userId: string }): Promise<null>
  /** Starts a log-in and follows all redirects. */
  logIn(browser: Browser, query?: string): Promise<Page>
  /**
   * Starts a log-in. Returns the callback URL that the provider redirects to, without a request.
   */
  goToProvider(browser: Browser, query?: string): Promise<URL>
  audit(type: string): Promise<readonly Json[]>
  close(): Promise<void>
}

interface SceneOptions {
  readonly provider?: Configuration
  readonly adapter?: Partial<OidcProviderOptions>
}

/** Starts a server and an identity provider. */
export async function openScene({
  provider: more,
  adapter,
}: SceneOptions = {}): Promise<OidcScene> {
  const clock = new FakeClock()
  const errors: (LogFields & { message: string })[] = []
  const ignore = () => undefined
  const error = (message: string, fields = {}) => void errors.push({ message, ...fields })
  const web = await listen()
  const base = `${web.url}/flags`
  const provider = await OidcServer.open(`${base}/auth/oidc/callback`, more)
  const parts = allInMemory()
  const { storage } = parts
  const flags = createManagedServer({
    ...parts,
    clock,
    basePath: '/flags',
    publicUrl: web.url,
    administrator: ADMINISTRATOR,
    passwordHasher: new ScryptPasswordHasher({ log2N: 4, r: 8, p: 1 }),
    logger: { debug: ignore, info: ignore, warn: ignore, error },
    identityProvider: oidcProvider({
      issuer: provider.issuer,
      ...CLIENT,
      allowHttp: true,
      ...adapter,
    }),
  })
  await flags.start()
  web.server.on('request', toNodeHandler(flags))
  const system = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
  const management = flags.as(system)
  const { id: orgId } = await management.createOrganization({ body: { name: 'Acme' } })
  const logIn: OidcScene['logIn'] = (browser, query = '') =>
    browser.visit(`${base}/auth/oidc/start${query}`)
  return {
    clock,
    flags,
    management,
    storage,
    provider,
    base,
    orgId,
    errors,
    addMember: (email, role) => management.addMember({ params: { orgId }, body: { email, role } }),
    logIn,
    removeMember: (params) => management.removeMember({ params }),
    async goToProvider(browser, query = '') {
      const isBack = ({ href }: URL) => href.startsWith(`${base}/auth/oidc/callback`)
      return (await browser.visit(`${base}/auth/oidc/start${query}`, isBack)).url
    },
    async audit(type) {
      const { data } = await storage.list('auditEvent', {
        where: { eventType: type },
        sort: { field: 'position', direction: 'asc' },
      })
      return data
    },
    async close() {
      await flags.close()
      await provider.close()
      await web.close()
    },
  }
}
