import { auditEvents } from '@ff/protocol/management'
import { newId } from '../../../server/src/access/secrets.ts'
import { isEventPattern } from '../../src/changes/webhook-outbox.ts'
import { customer, event, signatureOf } from '../billing/stripe-events.ts'
import type { Json } from '../world/world.ts'
import { LONGEST_VALUE, listOf } from './large-environment.ts'
import { type BodyScene, type LargestCase, made, to, toSdk } from './largest-request.ts'
import { conditionsOf, contextOf, metadataOf, targetsOf, variantsOf } from './largest-values.ts'

const KEYS_BODY_BYTES = 1024 * 1024
const PASSWORD = 'p'.repeat(256)

const longName = (start: string) => start + 'n'.repeat(256 - start.length)
const keyOf = (start: string) => start + 'k'.repeat(128 - start.length)
const description = 'd'.repeat(4096)

const eventTypes = Object.keys(auditEvents).filter(isEventPattern).slice(0, 100)
const ordersOf = (ids: readonly string[], attempt: number): Json => ({
  orders: ids.map((id, index) => ({ id, order_index: (index * 7 + attempt + 1) % ids.length })),
})

const invite = async (scene: BodyScene, attempt: number): Promise<Json> =>
  made(scene, 'addMember', {
    body: { email: `m${attempt}-${newId()}@large.test`, role: 'viewer' },
  })

const plan = (scene: BodyScene): Promise<Json> =>
  made(scene, 'createPlan', {
    body: { name: 'Plan', product_link: 'https://pay.large.test/', trial_days: 14 },
  })

const url = (attempt: number) => `https://hooks.large.test/${attempt}`.padEnd(2048, 'u')

/**
 * The largest accepted requests. Those to SDK endpoints are first, so that the environment is in
 * use.
 */
export const CASES: readonly LargestCase[] = [
  toSdk('/evaluator/evaluate', (_, attempt) => ({ context: contextOf(attempt) })),
  toSdk('/ofrep/v1/evaluate/flags', (_, attempt) => ({ context: contextOf(attempt) })),
  toSdk('/evaluator/poll', (_, attempt) => ({
    context: contextOf(attempt, 64 * 1024 - 600),
    since: 'none',
  })),
  toSdk('/evaluator/events', (_, attempt) => ({
    events: Array.from({ length: 1000 }, (__, index) => ({
      ...{ flag_key: `flag-${index % 300}`, variation_key: 'v0', reason: 'DEFAULT', count: 10 },
      from: new Date().toISOString(),
      context_keys: Array.from({ length: 8 }, (___, at) => `${attempt}-${index}-${at}`),
    })),
  })),
  to('createOrganization', (_, attempt) => ({
    body: { name: longName(`o${attempt}`), billing_email: 'pay@large.test' },
  })),
  to('updateOrganization', (_, attempt) => ({ body: { metadata_updates: metadataOf(attempt) } })),
  to('setOrganizationPlan', async (scene) => ({ body: { plan_id: (await plan(scene)).id } })),
  to('createCheckout', async (scene) => ({
    body: { plan_id: (await plan(scene)).id, success_url: 'https://large.test/'.padEnd(2048, 'u') },
  })),
  to('receiveStripeEvent', (_, attempt) => {
    const metadata = { filler: 'm'.repeat(KEYS_BODY_BYTES - 2000) }
    const now = Date.now()
    const sent = event('customer.created', Math.floor(now / 1000) + attempt, customer({ metadata }))
    const body = JSON.stringify(sent)
    return { body, headers: { 'stripe-signature': signatureOf(body, now) } }
  }),
  to('createPlan', (_, attempt) => ({
    body: {
      name: longName(`p${attempt}`),
      product_link: 'https://pay.large.test/'.padEnd(2048, 'u'),
    },
  })),
  to('updatePlan', async (scene, attempt) => ({
    params: { planId: (await plan(scene)).id },
    body: {
      name: longName(`q${attempt}`),
      product_link: 'https://pay.large.test/'.padEnd(2047, 'u'),
    },
  })),
  to('addMember', (_, attempt) => ({
    body: { email: `new${attempt}@large.test`, name: longName('m'), role: 'viewer' },
  })),
  to('updateMember', async (scene, attempt) => ({
    params: { userId: (await invite(scene, attempt)).user_id },
    body: { name: longName('c'), role: 'editor', new_link: true },
  })),
  to('changePassword', async (scene, attempt) => {
    const token = (await invite(scene, attempt)).one_time_link
    return { body: { token, new_password: PASSWORD } }
  }),
  to('logIn', async (scene, attempt) => {
    const { email, one_time_link: token } = await invite(scene, attempt)
    await made(scene, 'changePassword', { body: { token, new_password: PASSWORD } })
    return { body: { email, password: PASSWORD } }
  }),
  to('createAccessToken', () => ({ body: { name: longName('t'), role: 'viewer' } })),
  to('createWebhook', (_, attempt) => ({ body: { url: url(attempt), event_types: eventTypes } })),
  to('updateWebhook', async (scene, attempt) => {
    const body = { url: url(10 + attempt), event_types: ['flag.*'], active: false }
    const webhook = await made(scene, 'createWebhook', { body })
    return { params: { webhookId: webhook.id }, body: { url: url(20), event_types: eventTypes } }
  }),
  to('createProject', (_, attempt) => ({
    body: { key: keyOf(`p${attempt}`), name: longName('p'), description },
  })),
  to('updateProject', (_, attempt) => ({
    body: { name: longName(`p${attempt}`), description },
  })),
  to('createEnvironment', ({ tenant }, attempt) => ({
    body: { key: keyOf(`e${attempt}`), name: longName('e'), copy_from: tenant.live.id },
  })),
  to('updateEnvironment', (_, attempt) => ({
    body: { name: longName(`e${attempt}`), context_privacy: attempt % 2 === 0 ? 'all' : 'none' },
  })),
  to('createSdkKey', () => ({ body: { name: longName('k'), kind: 'server', rate_limit: 1000 } })),
  to('rotateSdkKey', async (scene) => {
    const key = await made(scene, 'createSdkKey', { body: { name: 'k', kind: 'server' } })
    return { params: { keyId: key.id }, body: { grace_seconds: 60 } }
  }),
  to('createFlag', (_, attempt) => ({
    body: {
      ...{ key: keyOf(`f${attempt}`), name: longName('f'), description, type: 'json' },
      tags: Array.from({ length: 64 }, (__, index) => `tag${index}-`.padEnd(64, 't')),
      variations: Array.from({ length: 100 }, (__, index) => {
        return { key: `v${index}`, name: longName('v'), value: listOf(1700, `${index}-`) }
      }),
    },
  })),
  to('updateFlag', (_, attempt) => ({
    body: {
      ...{ name: longName(`f${attempt}`), description },
      tags: Array.from({ length: 64 }, (__, index) => `tag${index}-`.padEnd(64, `${attempt}`)),
    },
  })),
  to('createVariation', (_, attempt) => ({
    body: {
      ...{ key: keyOf(`v${attempt}`), name: longName('v'), description },
      value: listOf(LONGEST_VALUE, `${attempt}-`),
    },
  })),
  to('updateVariation', (_, attempt) => ({
    body: { name: longName('v'), description, value: listOf(LONGEST_VALUE, `u${attempt}-`) },
  })),
  to('reorderVariations', ({ variationIds }, attempt) => ({
    body: ordersOf(variationIds, attempt),
  })),
  to('updateFlagState', (scene, attempt) => ({ body: { targets: targetsOf(scene, attempt) } })),
  to('createTargetingRule', ({ variationIds }, attempt) => ({
    body: {
      name: longName(`r${attempt}`),
      conditions: conditionsOf(attempt),
      variation_id: variationIds[0],
    },
  })),
  to('updateTargetingRule', (_, attempt) => ({
    body: { name: longName(`r${attempt}`), conditions: conditionsOf(10 + attempt) },
  })),
  to('reorderTargetingRules', ({ ruleIds }, attempt) => ({ body: ordersOf(ruleIds, attempt) })),
  to('createRollout', (scene, attempt) => ({
    body: {
      ...{ name: longName('r'), strategy: 'variant', salt: `${attempt}`.padEnd(128, 's') },
      ...{ bucket_by: 'b'.repeat(512), variants: variantsOf(scene, attempt) },
    },
  })),
  to('updateRollout', (scene, attempt) => ({
    body: { name: longName('r'), variants: variantsOf(scene, attempt) },
  })),
  to('createScheduledChange', ({ variationIds }, attempt) => ({
    body: {
      apply_at: '2099-01-01T00:00:00Z',
      operation: 'createTargetingRule',
      body: {
        name: longName(`s${attempt}`),
        conditions: conditionsOf(20 + attempt),
        variation_id: variationIds[0],
      },
    },
  })),
  to('createSegment', (_, attempt) => ({
    body: {
      key: keyOf(`s${attempt}`),
      name: longName('s'),
      description,
      rules: conditionsOf(30 + attempt),
    },
  })),
  to('updateSegment', (_, attempt) => ({ body: { rules: conditionsOf(40 + attempt) } })),
  to('changeSegmentKeys', (_, attempt) => ({
    body: {
      list: 'included',
      add: Array.from({ length: 10_000 }, (__, index) => `${attempt}-${index}-`.padEnd(100, 'u')),
    },
  })),
  to('explainEvaluation', (_, attempt) => ({
    body: { context: contextOf(attempt), version: 3, at: '2027-01-01T00:00:00Z' },
  })),
  to('previewChanges', async (scene, attempt) => {
    const { body } = await configurationOf(scene, attempt)
    const { dry_run: _, ...configuration } = body
    const { flagId } = scene
    return { body: { changes: [{ kind: 'flag_configuration', flag_id: flagId, configuration }] } }
  }),
  to('restoreVersion', async (scene) => {
    const body = { orders: [{ id: scene.ruleIds[0], order_index: 400 }] }
    await made(scene, 'reorderTargetingRules', { body })
    return { params: { version: '3' } }
  }),
  to(
    'promoteFlag',
    ({ tenant: { live, staging } }) => ({
      body: { from_env_id: live.id, to_env_id: staging.id, dry_run: true },
    }),
    'promoteFlag with dry_run',
  ),
  to('promoteFlag', async (scene, attempt) => {
    const created = await made(scene, 'createEnvironment', { body: { key: `to-${attempt}` } })
    return { body: { from_env_id: scene.tenant.live.id, to_env_id: created.id } }
  }),
  // The last cases, because they delete the rules of the large flag.
  to('updateFlagConfiguration', configurationOf, 'updateFlagConfiguration with dry_run'),
  to('updateFlagConfiguration', async (scene, attempt) => {
    const { body, headers } = await configurationOf(scene, attempt)
    return { body: { ...body, dry_run: false }, headers }
  }),
]

/** Returns a publish of the large flag that replaces all rules by as many as a body can contain. */
async function configurationOf(scene: BodyScene, attempt: number) {
  const present = await made(scene, 'getFlagConfiguration', {})
  const rules = Array.from({ length: 400 }, (_, index) => ({
    ...{ id: newId(), name: longName(`r${attempt}-${index}`), rollout_id: scene.rolloutId },
    conditions: ['in', 'contains', 'ends_with'].map((operator, place) => {
      return { attribute: `a${place}`, operator, value: listOf(250, `${attempt}-${index}-`) }
    }),
  }))
  const state = { is_active: true, targets: targetsOf(scene, attempt) }
  const variants = variantsOf(scene, attempt)
  const rollouts = [{ id: scene.rolloutId, name: 'split', strategy: 'variant', variants }]
  return {
    body: { state, targeting_rules: rules, rollouts, dry_run: true },
    headers: { 'if-match': `"${present.revision}"` },
  }
}
