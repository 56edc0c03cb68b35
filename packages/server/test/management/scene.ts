import { type EndpointName, endpoints } from '@ff/protocol/management'
import { type Json, type Tenant, World } from './world.ts'

export const NAMES = Object.keys(endpoints) as EndpointName[]

/** Two organizations, one with a thing of every kind, and what every endpoint needs. */
export interface Scene {
  readonly world: World
  readonly mine: Tenant
  readonly theirs: Tenant
  /** Path parameters of things that belong to `mine`. */
  readonly params: Readonly<Record<string, string>>
  readonly bodies: Readonly<Partial<Record<EndpointName, Json>>>
}

export async function createScene(): Promise<Scene> {
  const world = await World.create()
  const mine = await world.addTenant('Mine')
  const theirs = await world.addTenant('Theirs')
  const token = mine.tokens.owner
  const flags = `/projects/${mine.project.id}/flags`
  const variations = ['a', 'b'].map((key) => ({ key, value: key }))
  const body = { key: 'secret-flag', type: 'string', variations }
  const flag = (await world.call('POST', flags, { token, body })).data
  const state = `/projects/${mine.project.id}/envs/${mine.live.id}/flags/${flag.id}`
  const rule = (
    await world.call('POST', `${state}/targeting-rules`, { token, body: { name: 'r' } })
  ).data
  const served = { variation_id: flag.variations[0].id, percentage: 50 }
  const half = { name: 'r', strategy: 'percentage', ...served }
  const rollout = (await world.call('POST', `${state}/rollouts`, { token, body: half })).data
  const segments = `/projects/${mine.project.id}/segments`
  const segment = (await world.call('POST', segments, { token, body: { key: 's' } })).data
  const done = async (method: string, address: string, body: Json): Promise<Json> =>
    (await world.call(method, address, { token, body })).data
  const organization = `/organizations/${mine.orgId}`
  const person = { email: 'secret@mine.test', role: 'viewer' }
  const member = await done('POST', `${organization}/members`, person)
  const issued = { name: 'secret token', role: 'viewer' }
  const accessToken = await done('POST', `${organization}/tokens`, issued)
  const environments = `/projects/${mine.project.id}/envs`
  const newKey = { name: 'secret key', kind: 'client' }
  const sdkKey = await done('POST', `${environments}/${mine.live.id}/sdk-keys`, newKey)
  // So that the environment of the path may be deleted.
  await done('PUT', `${environments}/${mine.staging.id}`, { is_default: true })
  const params = {
    orgId: mine.orgId,
    userId: member.user_id,
    tokenId: accessToken.id,
    keyId: sdkKey.id,
    projectId: mine.project.id,
    envId: mine.live.id,
    flagId: flag.id,
    variationId: flag.variations[1].id,
    ruleId: rule.id,
    rolloutId: rollout.id,
    segmentId: segment.id,
    version: '1',
  }
  const bodies = {
    createOrganization: { name: 'New' },
    updateOrganization: { metadata_updates: { changed: true } },
    addMember: { email: 'new@mine.test', role: 'viewer' },
    updateMember: { role: 'editor' },
    createAccessToken: { name: 'new', role: 'viewer' },
    createProject: { key: 'new' },
    updateProject: { name: 'changed' },
    createEnvironment: { key: 'new', copy_from: mine.live.id },
    updateEnvironment: { name: 'changed' },
    createSdkKey: { name: 'new', kind: 'client' },
    rotateSdkKey: { grace_seconds: 0 },
    createFlag: { key: 'new', type: 'boolean' },
    updateFlag: { name: 'changed' },
    createVariation: { key: 'c', value: 'c' },
    reorderVariations: { orders: [{ id: params.variationId, order_index: 9 }] },
    updateVariation: { value: 'changed' },
    updateFlagState: { is_active: false },
    createTargetingRule: { name: 'new' },
    reorderTargetingRules: { orders: [{ id: rule.id, order_index: 9 }] },
    updateTargetingRule: { name: 'changed' },
    createRollout: half,
    updateRollout: { percentage: 60 },
    createSegment: { key: 'new' },
    updateSegment: { force: true },
    explainEvaluation: { context: {} },
    promoteFlag: { from_env_id: mine.live.id, to_env_id: mine.staging.id },
    changeSegmentKeys: { list: 'included', add: ['u'] },
  }
  return { world, mine, theirs, params, bodies }
}

/** Where an endpoint is about what belongs to `mine`; `query` is added to what it needs. */
export function addressOf({ params }: Scene, name: EndpointName, query = ''): string {
  const { path } = endpoints[name]
  // The audit log names an organization in its query.
  const all = [path.startsWith('/audit/') ? `org_id=${params['orgId']}` : '', query]
  const given = all.filter((part) => part !== '').join('&')
  const address = path.replace(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '')
  return given === '' ? address : `${address}?${given}`
}

/** A well-formed request to an endpoint, about what belongs to `mine`. */
export function ask(
  scene: Scene,
  name: EndpointName,
  token: string | undefined,
  headers: Readonly<Record<string, string>> = {},
) {
  const body = scene.bodies[name]
  return scene.world.call(endpoints[name].method, addressOf(scene, name), { token, headers, body })
}

/** Everything that a change would leave a trace in. */
export async function tracesOf({ world, mine }: Scene): Promise<unknown> {
  return [await world.audit(), await world.version(mine.live), await world.version(mine.staging)]
}
