import { type EndpointName, endpoints } from '@ff/protocol/management'
import type { ContextSample, Storage } from '@ff/storage'
import { customer, event, offlinePayments, signatureOf } from '../billing/stripe-events.ts'
import { CALLBACK_QUERY, identityProviderFor } from './fake-identity-provider.ts'
import type { ManagedOptions } from './managed-server.ts'
import { type Json, type Tenant, World } from './world.ts'

/** The `secretKey` of the server. */
const SECRET_KEY = '5e'.repeat(32)

/** The names of all endpoints. */
export const NAMES = Object.keys(endpoints) as EndpointName[]

/**
 * Two organizations, one of them with a record of every kind, and valid input for every endpoint.
 */
export interface Scene {
  readonly world: World
  readonly mine: Tenant
  readonly theirs: Tenant
  /** The path parameters for records of `mine`. */
  readonly params: Readonly<Record<string, string>>
  readonly bodies: Readonly<Partial<Record<EndpointName, Json>>>
  /** The additional headers that some endpoints require. */
  readonly headers: Readonly<Partial<Record<EndpointName, Readonly<Record<string, string>>>>>
}

/** Creates the two organizations and the input for every endpoint. */
export async function createScene(options: ManagedOptions = {}, storage?: Storage): Promise<Scene> {
  const world = await World.create(storage, {
    ...options,
    secretKey: SECRET_KEY,
    payments: offlinePayments,
    identityProvider: identityProviderFor('known@mine.test'),
    publicUrl: 'https://flags.mine.test',
  })
  const mine = await world.addTenant('Mine')
  const theirs = await world.addTenant('Theirs')
  const token = mine.tokens.owner
  const flags = `/projects/${mine.project.id}/flags`
  const variations = ['a', 'b'].map((key) => ({ key, value: key }))
  const body = { key: 'secret-flag', type: 'string', variations }
  const flag = (await world.call('POST', flags, { token, body })).data
  const state = `/projects/${mine.project.id}/envs/${mine.live.id}/flags/${flag.id}`
  const rule = (
    await world.call('POST', `${state}/targeting-rules`, {
      token,
      body: { name: 'r', conditions: [] },
    })
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
  const invite = async (email: string): Promise<string> =>
    (await done('POST', `${organization}/members`, { email, role: 'viewer' })).one_time_link
  const password = 'a password of the scene'
  const first = { token: await invite('known@mine.test'), new_password: password }
  await world.call('POST', '/auth/password', { body: first })
  const issued = { name: 'secret token', role: 'viewer' }
  const accessToken = await done('POST', `${organization}/tokens`, issued)
  const environments = `/projects/${mine.project.id}/envs`
  const newKey = { name: 'secret key', kind: 'client' }
  const sdkKey = await done('POST', `${environments}/${mine.live.id}/sdk-keys`, newKey)
  const hook = { url: 'https://hooks.mine.test/secret', event_types: ['*'] }
  // The webhook subscribes to all events, so its own creation causes a delivery.
  const webhook = await done('POST', `${organization}/webhooks`, hook)
  // The default environment cannot be deleted.
  await done('PUT', `${environments}/${mine.staging.id}`, { is_default: true })
  const scheduled = { apply_at: '2031-01-01T00:00:00Z', operation: 'deleteTargetingRule' }
  const planned = { ...scheduled, target_id: rule.id }
  const change = await done('POST', `${state}/scheduled-changes`, planned)
  const platform = mine.tokens.platform
  const priced = { name: 'Team', max_flags: 100, trial_days: 14, stripe_price_id: 'price_1' }
  const plans = '/plan-limits/plans'
  const plan = (await world.call('POST', plans, { token: platform, body: priced })).data
  await world.storage.recordContextSamples([contextSampleIn(mine)])
  // A plan with a product link needs no request to the payment provider.
  const linked = { name: 'Link', product_link: 'https://pay.mine.test/' }
  const payable = (await world.call('POST', plans, { token: platform, body: linked })).data
  const paymentEvent = JSON.stringify(event('customer.created', 1_893_456_000, customer()))
  const configured = await world.call('GET', `${state}/configuration`, { token })
  const params = {
    planId: plan.id,
    orgId: mine.orgId,
    userId: member.user_id,
    tokenId: accessToken.id,
    keyId: sdkKey.id,
    webhookId: webhook.id,
    projectId: mine.project.id,
    envId: mine.live.id,
    flagId: flag.id,
    variationId: flag.variations[1].id,
    ruleId: rule.id,
    rolloutId: rollout.id,
    segmentId: segment.id,
    changeId: change.id,
    version: '1',
  }
  const bodies = {
    createOrganization: { name: 'New' },
    updateOrganization: { metadata_updates: { changed: true } },
    setOrganizationPlan: { plan_id: plan.id },
    createCheckout: { plan_id: payable.id, success_url: 'https://mine.test/paid' },
    receiveStripeEvent: paymentEvent,
    createPlan: { name: 'New', product_link: 'https://mine.test/pay', max_flags: 5 },
    updatePlan: { name: 'changed', overage_rate_eur_cents: 7 },
    addMember: { email: 'new@mine.test', role: 'viewer' },
    updateMember: { role: 'editor' },
    logIn: { email: 'known@mine.test', password },
    changePassword: { token: await invite('invited@mine.test'), new_password: password },
    createAccessToken: { name: 'new', role: 'viewer' },
    createWebhook: { url: 'https://hooks.mine.test/new', event_types: ['flag.*'], active: true },
    updateWebhook: { active: false },
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
    updateFlagConfiguration: {
      state: { ...configured.data.state, is_active: false },
      targeting_rules: configured.data.targeting_rules,
      rollouts: configured.data.rollouts,
    },
    createTargetingRule: { name: 'new', conditions: [] },
    reorderTargetingRules: { orders: [{ id: rule.id, order_index: 9 }] },
    updateTargetingRule: { name: 'changed' },
    createRollout: half,
    updateRollout: { percentage: 60 },
    createSegment: { key: 'new' },
    createScheduledChange: {
      apply_at: '2031-01-01T00:00:00Z',
      operation: 'updateFlagState',
      body: { is_active: false },
    },
    updateSegment: { force: true },
    explainEvaluation: { context: {} },
    previewChanges: {
      changes: [{ kind: 'segment', segment_id: segment.id, force: true }],
      window_hours: 48,
      max_contexts: 1000,
      examples: 3,
      at: null,
      explain: { context: { kind: 'user', key: 'u' }, flag_key: 'secret-flag' },
    },
    promoteFlag: { from_env_id: mine.live.id, to_env_id: mine.staging.id },
    changeSegmentKeys: { list: 'included', add: ['u'] },
  }
  const signature = signatureOf(paymentEvent, world.clock.now())
  const begun = await world.call('GET', '/auth/oidc/start')
  const headers = {
    receiveStripeEvent: { 'stripe-signature': signature },
    updateFlagConfiguration: { 'if-match': configured.headers['ETag'] ?? '' },
    finishOidcLogIn: { cookie: begun.cookies[0]?.split(';')[0] ?? '' },
  }
  return { world, mine, theirs, params, bodies, headers }
}

/** The keys of the records of `mine` that have a key, by path parameter. */
export const KEYS: Readonly<Record<string, string>> = {
  projectId: 'shop',
  envId: 'live',
  flagId: 'secret-flag',
  segmentId: 's',
}

/** The endpoints of a project and its parts. */
export const IN_PROJECT = NAMES.filter((name) => endpoints[name].path.includes('{projectId}'))

/** Returns the scene, in which the parameters `names` are keys. */
export function byKey(scene: Scene, names = Object.keys(KEYS)): Scene {
  const keys = Object.fromEntries(names.map((name) => [name, KEYS[name] ?? '']))
  return { ...scene, params: { ...scene.params, ...keys } }
}

/** Returns an observed context of `live`. `changes` replaces fields. */
export function contextSampleIn(
  { live, orgId }: Tenant,
  changes: Partial<ContextSample> = {},
): ContextSample {
  const key = 'secret-person'
  return {
    id: crypto.randomUUID(),
    environmentId: live.id,
    orgId,
    hash: crypto.randomUUID(),
    kind: 'user',
    key,
    contextJson: { kind: 'user', key },
    firstSeen: '2029-12-31T12:00:00.000Z',
    lastSeen: '2029-12-31T12:00:00.000Z',
    seenCount: 1,
    evaluationSuccess: true,
    source: 'rest',
    reducedBy: 1,
    settingsRevision: 1,
    ...changes,
  }
}

/**
 * Returns the address of an endpoint for records of `mine`, with its required query and `query`.
 */
export function addressOf({ params }: Scene, name: EndpointName, query = ''): string {
  const { path } = endpoints[name]
  const all = [requiredQuery(name, params), query]
  const joined = all.filter((part) => part !== '').join('&')
  const address = path.replace(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '')
  return joined === '' ? address : `${address}?${joined}`
}

/** Returns the query parameters that an endpoint requires to select records of `mine`. */
function requiredQuery(name: EndpointName, { orgId, envId }: Scene['params']): string {
  if (endpoints[name].path.startsWith('/audit/')) return `org_id=${orgId}`
  if (name === 'getFlagMetrics') return `environmentId=${envId}`
  if (name === 'finishOidcLogIn') return CALLBACK_QUERY
  if (name === 'listObservedContexts') return `env_id=${envId}`
  return name === 'forgetObservedContexts' ? `env_id=${envId}&key=secret-person` : ''
}

/** Sends a valid request to an endpoint for records of `mine`. */
export function ask(
  scene: Scene,
  name: EndpointName,
  token: string | undefined,
  headers: Readonly<Record<string, string>> = {},
) {
  const body = scene.bodies[name]
  const all = { ...scene.headers[name], ...headers }
  const { method } = endpoints[name]
  return scene.world.call(method, addressOf(scene, name), { token, headers: all, body })
}

/** Returns the state that every change affects: the audit log and the published versions. */
export async function tracesOf({ world, mine }: Scene): Promise<unknown> {
  return [await world.audit(), await world.version(mine.live), await world.version(mine.staging)]
}
