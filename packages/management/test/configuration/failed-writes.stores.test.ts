import { silentLogger } from '@ff/server/plane'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stores } from '../world/stores.ts'
import { type Json, World } from '../world/world.ts'
import { configurationOf, createConfigurationScene, newId, plan } from './configuration-scene.ts'
import { failingStorage } from './failing-storage.ts'

const PEOPLE = Array.from({ length: 50 }, (_, index) => {
  return { kind: 'user', key: `u${index}`, plan: ['pro', 'free'][index % 2] ?? '' }
})

describe.each(stores)('a publish of which a write fails (%s)', (_, open) => {
  it('Whichever write fails, no part of the configuration is changed or served', async () => {
    const { storage: inner, clean } = open()
    const { storage, failAt, writes } = failingStorage(inner)
    const world = await World.create(storage, { secretKey: '5e'.repeat(32), logger: silentLogger })
    onTestFinished(async () => {
      await storage.close()
      clean()
    })
    const scene = await createConfigurationScene(world)
    const { tenant } = scene
    await scene.publish(configurationOf(scene))
    const hook = { url: 'https://hooks.acme.test/all', event_types: ['*'] }
    const webhooks = `/organizations/${tenant.orgId}/webhooks`
    const { status } = await world.call('POST', webhooks, {
      token: tenant.tokens.owner,
      body: hook,
    })
    expect(status).toBe(201)

    const seen = async () => ({
      configuration: await scene.read(),
      served: await world.evaluateEach(tenant.live, PEOPLE),
      flagSet: await storage.loadFlagSet(tenant.live.id),
      audit: await world.audit(),
      deliveries: (await storage.list('webhookDelivery', {})).total,
      remembered: (await storage.list('idempotencyRecord', {})).total,
      hints: world.hints.length,
    })
    const { document, etag } = await scene.read()
    const headers = { 'idempotency-key': 'once' }
    const body = replacementOf(document)
    const before = await seen()
    let failed = 0
    for (;;) {
      failAt(failed + 1)
      const { status } = await scene.publish(body, etag, headers)
      if (status === 200) break
      expect([failed, status]).toEqual([failed, 503])
      expect(await seen()).toEqual(before)
      failed += 1
    }
    // State, 3 rollouts, 4 rules, version, entry and its head, delivery, result and its expiry.
    expect(failed).toBeGreaterThanOrEqual(14)
    expect(writes()).toBe(failed)
    failAt(0)
    const after = await seen()
    expect(after.flagSet?.version).toBe((before.flagSet?.version ?? 0) + 1)
    expect(after.audit).toHaveLength(before.audit.length + 1)
    expect(after.served).not.toEqual(before.served)
    expect([after.deliveries - before.deliveries, after.remembered]).toEqual([1, 1])
  })
})

/** Returns a configuration that changes the state, and adds, changes and removes each kind of part. */
function replacementOf({ state, targeting_rules: rules, rollouts }: Json): Json {
  const [pro] = rules
  const kept = rollouts.find(({ id }: Json) => id === pro.rollout_id)
  const added = { ...kept, id: newId(), name: 'New', percentage: 75, salt: 'new' }
  return {
    state: { ...state, targets: [], default_variation_id: 'z' },
    targeting_rules: [
      { id: newId(), name: 'First', conditions: [plan('free')], rollout_id: added.id },
      { id: newId(), name: 'Second', conditions: [], variation_id: 'x' },
      { ...pro, name: 'Pro users' },
    ],
    rollouts: [{ ...kept, percentage: 60 }, added],
  }
}
