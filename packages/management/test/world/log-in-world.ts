import type { Role } from '@ff/protocol/management'
import type { ManagedOptions } from './managed-server.ts'
import { type Answer, type Call, type Json, type Tenant, World } from './world.ts'

/** The password of members by default. */
export const PASSWORD = 'correct horse battery staple'

/** Returns the session cookie of a response in the format of the `Cookie` header. */
export function cookieIn({ cookies }: Answer): string {
  return cookies[0]?.split(';')[0] ?? ''
}

/** Returns the device cookie of a response in the format of the `Cookie` header. */
export function deviceCookieIn({ cookies }: Answer): string {
  const cookie = cookies.find((each) => each.startsWith('ff_device_'))
  return cookie?.split(';')[0] ?? ''
}

/** Sends the requests of a browser with a session. */
export interface Browser {
  get(address: string, headers?: Call['headers']): Promise<Answer>
  send(method: string, address: string, body?: Json, headers?: Call['headers']): Promise<Answer>
}

/** A world with one organization and functions to log its members in. */
export class LogInWorld {
  world: World
  readonly tenant: Tenant

  private constructor(world: World, tenant: Tenant) {
    this.world = world
    this.tenant = tenant
  }

  static async create(options: ManagedOptions = {}): Promise<LogInWorld> {
    const world = await World.create(options.storage, options)
    await world.start()
    return new LogInWorld(world, await world.addTenant('Acme'))
  }

  /** Starts another server over the same store. */
  async restart(options: ManagedOptions): Promise<void> {
    this.world = await World.create(this.world.storage, options)
    await this.world.start()
  }

  manage(method: string, address: string, body?: Json): Promise<Answer> {
    return this.world.call(method, address, { token: this.tenant.tokens.owner, body })
  }

  /** Adds a member. Returns the one-time link. */
  async invite(email: string, role: Exclude<Role, 'platform'>): Promise<string> {
    const at = `/organizations/${this.tenant.orgId}/members`
    return (await this.manage('POST', at, { email, role })).data.one_time_link
  }

  /** Adds a member with a password. Returns the id of the user. */
  async add(email: string, role: Exclude<Role, 'platform'>, password = PASSWORD): Promise<Json> {
    const token = await this.invite(email, role)
    const answer = await this.change({ token, new_password: password })
    if (answer.status !== 200) throw new Error(answer.text)
    const user = (await this.world.storage.list('user', { where: { email } })).data[0]
    return { id: user?.id }
  }

  change(body: Json, call: Omit<Call, 'body'> = {}): Promise<Answer> {
    return this.world.call('POST', '/auth/password', { ...call, body })
  }

  logIn(
    email: string,
    password = PASSWORD,
    headers: Call['headers'] = {},
    call: Call = {},
  ): Promise<Answer> {
    const body = { email, password }
    return this.world.call('POST', '/auth/login', { ...call, body, headers })
  }

  /** Returns a browser with the session of a log-in response. */
  as(answer: Answer): Browser {
    const cookie = cookieIn(answer)
    return {
      get: (address, headers = {}) =>
        this.world.call('GET', address, { headers: { ...headers, cookie } }),
      send: (method, address, body, headers = {}) => {
        const csrf = { 'x-csrf-token': answer.data.csrf_token }
        return this.world.call(method, address, { body, headers: { ...csrf, ...headers, cookie } })
      },
    }
  }

  /** Returns the audit events of a type, oldest first. */
  async audit(type: string): Promise<readonly Json[]> {
    const events = await this.world.storage.list('auditEvent', {
      where: { eventType: type },
      sort: { field: 'position', direction: 'asc' },
    })
    return events.data.map(({ payload, orgId, actor }) => ({ payload, org_id: orgId, actor }))
  }
}
