import { ApiSession } from '../api-session.ts'
import type { RunningServer } from '../running-server.ts'

/** A configuration of a flag as the API sends it. */
export interface WireConfiguration {
  readonly state: {
    readonly is_active: boolean
    readonly default_variation_id: string | null
    readonly [field: string]: unknown
  }
  readonly targeting_rules: readonly {
    readonly id: string
    readonly name: string
    readonly [field: string]: unknown
  }[]
  readonly rollouts: readonly {
    readonly id: string
    readonly percentage: number | null
    readonly [field: string]: unknown
  }[]
}

/** A flag as the API sends it. */
export interface WireFlag {
  readonly id: string
  readonly key: string
  readonly variations: readonly { readonly id: string; readonly key: string }[]
}

/** The names that the demo shop of the first start has. */
export const DEMO = { project: 'shop', production: 'live', name: 'Live' } as const

/** The demo shop of a server, which a test prepares and checks beside the browser. */
export class Shop {
  readonly owner: ApiSession
  readonly url: string
  /** The id of the organization. */
  readonly organization: string
  /** The id of the project. */
  readonly project: string

  private constructor(owner: ApiSession, organization: string, project: string) {
    this.owner = owner
    this.url = owner.url
    this.organization = organization
    this.project = project
  }

  /** Redeems the link of the first owner and finds the demo project. */
  static async of(server: RunningServer): Promise<Shop> {
    const owner = await ApiSession.ofOwner(server)
    const { id, org_id } = await owner.get<{ id: string; org_id: string }>('GET', '/projects/shop')
    return new Shop(owner, org_id, id)
  }

  /** The address of a page of the project, such as `flags`. */
  page(path: string): string {
    return `${this.url}/dashboard/p/${this.project}/${path}`
  }

  /** Sends a request below the path of the project. Throws for a refusal. */
  send<Data>(method: string, path: string, body?: object): Promise<Data> {
    return this.owner.get<Data>(method, `/projects/${this.project}${path}`, body ? { body } : {})
  }

  /** Returns a flag with its variations. */
  flag(key: string): Promise<WireFlag> {
    return this.send('GET', `/flags/${key}`)
  }

  /** Returns the configuration of a flag in an environment. */
  configuration(flag: string, env: string = DEMO.production): Promise<WireConfiguration> {
    return this.send('GET', `/envs/${env}/flags/${flag}/configuration`)
  }

  /** Replaces the configuration of a flag as another editor does. */
  async configure(
    flag: string,
    change: (now: WireConfiguration) => WireConfiguration,
    env: string = DEMO.production,
  ): Promise<void> {
    const path = `/projects/${this.project}/envs/${env}/flags/${flag}/configuration`
    const { data, etag } = await this.owner.send<WireConfiguration>('GET', path)
    const headers = { 'if-match': etag ?? '' }
    await this.owner.get('PUT', path, { body: change(data), headers })
  }

  /** Returns the newest version of an environment. */
  async version(env: string = DEMO.production): Promise<number> {
    const path = `/envs/${env}/versions?limit=1`
    const { data } = await this.send<{ data: { version: number }[] }>('GET', path)
    return data[0]?.version ?? 0
  }

  /** Creates an SDK key for clients that evaluate without a limit, and returns it. */
  async sdkKey(env: string = DEMO.production): Promise<string> {
    const body = { name: 'A key of the tests', kind: 'client', rate_limit: 1_000_000 }
    return (await this.send<{ key: string }>('POST', `/envs/${env}/sdk-keys`, body)).key
  }

  /** Adds a member with a role, and logs it in. */
  async member(role: 'viewer' | 'editor' | 'admin', email = `${role}@shop.example`) {
    const path = `/organizations/${this.organization}/members`
    const body = { email, name: `The ${role}`, role }
    const added = await this.owner.get<{ one_time_link: string; user_id: string }>('POST', path, {
      body,
    })
    const token = added.one_time_link.replace(/^.*#/, '')
    const session = await ApiSession.accept(this.url, token)
    return { session, email, userId: added.user_id }
  }

  /** Changes the role of a member. */
  async changeRole(userId: string, role: string): Promise<void> {
    const path = `/organizations/${this.organization}/members/${userId}`
    await this.owner.get('PUT', path, { body: { role } })
  }
}
