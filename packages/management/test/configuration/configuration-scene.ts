import type { Answer, Json, Tenant } from '../world/world.ts'
import { addressesOf, World } from '../world/world.ts'

/** A flag with the variations `x`, `y` and `z`, and the requests to its configuration in `live`. */
export interface ConfigurationScene {
  readonly world: World
  readonly tenant: Tenant
  readonly flag: Json
  /** Another flag, `boolean`. */
  readonly other: Json
  /** The path of the flag's state in `live`. */
  readonly state: string
  /** Returns the id of a variation. */
  idOf(key: string): string
  as(method: string, path: string, body?: Json): Promise<Answer>
  read(): Promise<{ readonly document: Json; readonly etag: string }>
  publish(body: Json, etag?: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

/** Creates a scene in a new world. */
export async function createConfigurationScene(
  given?: World,
  organization = 'Acme',
): Promise<ConfigurationScene> {
  const world = given ?? (await World.create())
  const tenant = await world.addTenant(organization)
  const token = tenant.tokens.editor
  const as: ConfigurationScene['as'] = (method, path, body) =>
    world.call(method, path, { token, body })
  const variations = ['x', 'y', 'z'].map((key) => ({ key, value: key }))
  const body = { key: 'theme', type: 'string', variations }
  const flag = (await as('POST', addressesOf(tenant).flags, body)).data
  const second = { key: 'second', type: 'boolean' }
  const other = (await as('POST', addressesOf(tenant).flags, second)).data
  const state = addressesOf(tenant).live(flag.id)
  const read: ConfigurationScene['read'] = async () => {
    const { data, headers } = await as('GET', `${state}/configuration`)
    return { document: data, etag: headers['ETag'] ?? '' }
  }
  return {
    ...{ world, tenant, flag, other, state, as, read },
    idOf: (key) => flag.variations.find((each: Json) => each.key === key).id,
    async publish(body, etag, headers = {}) {
      const tag = etag ?? (await read()).etag
      const all = { 'if-match': tag, ...headers }
      return world.call('PUT', `${state}/configuration`, { token, body, headers: all })
    },
  }
}

/** Returns a new id. */
export const newId = (): string => crypto.randomUUID()

/** Returns a configuration with two rules and two rollouts. The fields in `changes` replace its own. */
export function configurationOf({ idOf }: ConfigurationScene, changes: Json = {}): Json {
  const [half, split] = [newId(), newId()]
  const variants = [
    { variation_id: idOf('x'), weight: 20 },
    { variation_id: 'y', weight: 30.5 },
  ]
  return {
    state: { is_active: true, targets: [{ variation_id: 'z', kind: 'user', keys: ['u1'] }] },
    targeting_rules: [
      { id: newId(), name: 'Pro', conditions: [plan('pro')], rollout_id: half },
      { id: newId(), name: 'All', conditions: [], rollout_id: split },
    ],
    rollouts: [
      { id: half, name: 'Half', strategy: 'percentage', variation_id: 'y', percentage: 50 },
      { id: split, name: 'Split', strategy: 'variant', variants },
    ],
    ...changes,
  }
}

/** Returns a condition on the plan of a user. */
export const plan = (value: string): Json => ({ attribute: 'user.plan', operator: 'eq', value })
