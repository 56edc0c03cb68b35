import type { Flag, Role } from '@ff/protocol/management'
import type { Storage } from '@ff/storage'
import { type Called, call } from '../../../server/test/call.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import type { ManagedOptions } from './managed-server.ts'
import { createManagedServer, type ManagedServer } from './managed-server.ts'

const SYSTEM = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const

/** A running server with two organizations and functions to send requests to it. */
export interface MetricsShop {
  readonly flags: ManagedServer
  readonly storage: Storage
  readonly clock: FakeClock
  readonly mine: ShopTenant
  readonly theirs: ShopTenant
  /** Sends a management request. */
  ask(method: string, path: string, token?: string): Promise<Called>
  /** Returns `data` of the response to a GET request. Throws if it is refused. */
  read(path: string): Promise<Readonly<Record<string, never>>>
}

/** An organization with one project. Its flag `theme` serves `dark` to all contexts. */
export interface ShopTenant {
  readonly orgId: string
  readonly projectId: string
  readonly live: string
  readonly staging: string
  readonly flag: Flag & { readonly variations: readonly { readonly id: string }[] }
  readonly tokens: Readonly<Record<Role, string>>
  readonly clientKey: string
  readonly serverKey: string
}

/** Starts a server with the organizations `mine` and `theirs`. */
export async function openMetricsShop(options: ManagedOptions = {}): Promise<MetricsShop> {
  const clock = new FakeClock()
  const parts = { ...allInMemory(), clock, ...options }
  const flags = createManagedServer(parts)
  await flags.start()
  const mine = await addTenant(flags, 'Mine')
  const theirs = await addTenant(flags, 'Theirs')
  const ask: MetricsShop['ask'] = (method, path, token = mine.tokens.viewer) =>
    call(flags, path, { method, headers: { authorization: `Bearer ${token}` } })
  const read: MetricsShop['read'] = async (path) => {
    const { status, body } = await ask('GET', path)
    if (status !== 200) throw new Error(`${path} returned ${status} ${JSON.stringify(body)}`)
    return (body as { readonly data: Readonly<Record<string, never>> }).data
  }
  return { flags, storage: parts.storage, clock, mine, theirs, ask, read }
}

async function addTenant(flags: ManagedServer, name: string): Promise<ShopTenant> {
  const management = flags.as(SYSTEM)
  const { id: orgId } = await management.createOrganization({ body: { name } })
  const made = await management.createProject({ params: { orgId }, body: { key: 'shop' } })
  const [live, staging] = made.environments.map(({ id }) => id)
  if (live === undefined || staging === undefined)
    throw new Error('The project must have environments.')
  const projectId = made.id
  const body = {
    key: 'theme',
    type: 'string' as const,
    variations: ['dark', 'light'].map((key) => ({ key, name: key.toUpperCase(), value: key })),
  }
  const flag = await management.createFlag({ params: { projectId }, body })
  const keyOf = async (kind: 'client' | 'server') => {
    const params = { projectId, environmentId: live }
    return (await management.createSdkKey({ params, body: { name: kind, kind } })).key
  }
  const tokenOf = async (role: Role) => {
    const params = { orgId: role === 'platform' ? null : orgId }
    return (await management.createAccessToken({ params, body: { name: role, role } })).token
  }
  return {
    ...{ orgId, projectId, live, staging, flag },
    clientKey: await keyOf('client'),
    serverKey: await keyOf('server'),
    tokens: {
      platform: await tokenOf('platform'),
      owner: await tokenOf('owner'),
      admin: await tokenOf('admin'),
      editor: await tokenOf('editor'),
      viewer: await tokenOf('viewer'),
    },
  }
}
