import { bucketOf, isFlagError } from '@ff/core'
import { pickVariation } from '@ff/core/authoring'
import type { NewRollout, NewSegment } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { hashSecret } from '../../../server/src/access/secrets.ts'
import { newSalt } from '../../src/flags/rollout-changes.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const UNKNOWN = '99999999-9999-4999-8999-999999999999'
const DAY_MS = 86_400_000

/** Returns the code of a refusal, and the path of its first issue if it has one. */
async function refusalOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise
  } catch (error) {
    if (!isFlagError(error)) throw error
    const issues = error.details?.['issues'] as Json
    return issues === undefined ? error.code : [error.code, issues[0].path]
  }
}

describe('Use cases in process', () => {
  let world: World
  let tenant: Tenant
  let flag: Json
  let place: { projectId: string; environmentId: string; flagId: string }

  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    const at = addressesOf(tenant)
    const token = tenant.tokens.editor
    const variations = ['a', 'b', 'c'].map((key) => ({ key, value: key }))
    const body = { key: 'theme', type: 'string', variations }
    flag = (await world.call('POST', at.flags, { token, body })).data
    place = { projectId: tenant.project.id, environmentId: tenant.live.id, flagId: flag.id }
  })

  const variationId = (index: number): string => flag.variations[index].id
  const rollout = (body: NewRollout) => world.management.createRollout({ params: place, body })
  const segment = (body: NewSegment) =>
    world.management.createSegment({ params: { projectId: tenant.project.id }, body })

  it('Use cases in process check their input as strictly as the wire interface', async () => {
    const { management } = world
    const project = (key: string, name?: string) =>
      refusalOf(management.createProject({ params: { orgId: tenant.orgId }, body: { key, name } }))
    expect(await project('two words')).toEqual(['INVALID_REQUEST', 'key'])
    expect(await project('fine', 'two\nlines')).toEqual(['INVALID_REQUEST', 'name'])
    expect(await project('shop')).toEqual(['CONFLICT', 'key'])
    const founding = (billingEmail: string) =>
      refusalOf(management.createOrganization({ body: { name: 'New', billingEmail } }))
    expect(await founding('x@y.test\r\nBcc: z@y.test')).toEqual([
      'INVALID_REQUEST',
      'billing_email',
    ])
    expect(await founding('billing@acme.test')).toMatchObject({ billingEmail: 'billing@acme.test' })
    const environment = management.createEnvironment({ params: place, body: { key: 'live' } })
    expect(await refusalOf(environment)).toEqual(['CONFLICT', 'key'])
  })

  it('A new project has its own live and staging environments', async () => {
    const params = { orgId: tenant.orgId }
    const created = await world.management.createProject({
      params,
      body: { key: 'blog', name: 'Blog' },
    })
    expect(created).toMatchObject({
      orgId: tenant.orgId,
      key: 'blog',
      name: 'Blog',
      revision: 1,
    })
    expect(created.environments.map(({ key, isDefault }) => [key, isDefault])).toEqual([
      ['live', true],
      ['staging', false],
    ])
    const unknown = world.management.createProject({
      params: { orgId: UNKNOWN },
      body: { key: 'p' },
    })
    expect(await refusalOf(unknown)).toBe('NOT_FOUND')
  })

  it('Only the hash of a secret is stored', async () => {
    const params = { ...place, orgId: tenant.orgId }
    const key = await world.management.createSdkKey({
      params,
      body: { name: 'k', kind: 'client', rateLimit: 600_000 },
    })
    expect(key).toMatchObject({ prefix: key.key.slice(0, 11), rateLimit: 600_000, expiresAt: null })
    expect(key).not.toHaveProperty('hash')
    const stored = await world.storage.find('sdkKey', key.id)
    expect(stored?.hash).toBe(await hashSecret(key.key))
    expect(JSON.stringify(stored)).not.toContain(key.key)
    const body = { name: 't', role: 'owner' as const }
    const chosen = await world.management.createAccessToken({
      params,
      body,
      token: 'chosen-by-operator',
    })
    expect(chosen).toMatchObject({
      token: 'chosen-by-operator',
      prefix: 'chos',
      createdBy: 'system',
    })
    expect(chosen).not.toHaveProperty('hash')
    for (const token of ['short', 'with space in between', `${'x'.repeat(513)}`]) {
      const refused = world.management.createAccessToken({ params, body, token })
      expect(await refusalOf(refused)).toEqual(['INVALID_REQUEST', 'token'])
    }
  })

  describe('Segments', () => {
    it('A segment applies to the rules that refer to it, in every environment', async () => {
      const { id } = await segment({
        key: 'eu',
        rules: [{ attribute: 'country', operator: 'in', value: '["de","at"]' }],
        logicalOp: 'OR',
      })
      const body = { name: 'EU', segment_id: id, variation_id: variationId(1) }
      const at = addressesOf(tenant)
      for (const state of [at.live(flag.id), at.staging(flag.id)]) {
        await world.call('POST', `${state}/targeting-rules`, { token: tenant.tokens.editor, body })
      }
      for (const environment of [tenant.live, tenant.staging]) {
        const inEurope = { kind: 'user', key: 'u', country: 'at' }
        expect(await world.evaluate(environment, inEurope)).toEqual({ theme: 'b' })
        expect(await world.evaluate(environment, { ...inEurope, country: 'us' })).toEqual({
          theme: 'a',
        })
      }
      const { key } = await world.management.createEnvironment({
        params: place,
        body: { key: 'qa' },
      })
      expect(key).toBe('qa')
    })

    it('A segment can refer to other segments, but not to missing records', async () => {
      const base = await segment({ key: 'base', force: true })
      const nested = { attribute: '', operator: 'in_segment', value: base.id }
      expect(await segment({ key: 'nested', rules: [nested] })).toMatchObject({ rules: [nested] })
      const lost = segment({ key: 'lost', rules: [{ ...nested, value: UNKNOWN }] })
      expect(await refusalOf(lost)).toEqual(['INVALID_REQUEST', 'rules.0'])
      const unread = segment({
        key: 'x',
        rules: [nested, { attribute: 'a', operator: 'gt', value: 'x' }],
      })
      expect(await refusalOf(unread)).toEqual(['INVALID_REQUEST', 'rules.1'])
      expect(await refusalOf(segment({ key: 'base' }))).toEqual(['CONFLICT', 'key'])
      const whole = await world.management.createEnvironment({
        params: place,
        body: { key: 'qa' },
      })
      const published = await world.storage.loadFlagSet(whole.id)
      expect(published?.segments.map(({ key }) => key).sort()).toEqual(['base', 'nested'])
    })
  })

  describe('Rollouts', () => {
    it('A rollout splits contexts by weight, according to the bucket of each key', async () => {
      const weights = [33.333, 33.333, 20]
      const variants = weights.map((weight, index) => ({ variationId: variationId(index), weight }))
      const created = await rollout({ name: 'Split', strategy: 'variant', variants })
      expect(created.ranges.map(({ from, to }) => [from, to])).toEqual([
        [0, 33_333],
        [33_333, 66_666],
        [66_666, 86_666],
      ])
      const at = addressesOf(tenant)
      const body = { name: 'All', conditions: [], rollout_id: created.id }
      await world.call('POST', at.rules(flag.id), { token: tenant.tokens.editor, body })
      for (let index = 0; index < 100; index += 1) {
        const key = `user-${index}`
        const picked = pickVariation(created.ranges, bucketOf(created.salt, key))
        const expected = flag.variations.find(({ id }: Json) => id === picked)?.value ?? 'a'
        expect(await world.evaluate(tenant.live, { kind: 'user', key })).toEqual({
          theme: expected,
        })
      }
    })

    it('A gradual rollout grows with time, by default from its creation', async () => {
      const created = await rollout({
        name: 'Ramp',
        strategy: 'gradual',
        variationId: variationId(1),
        targetPercentage: 100,
        increment: 50,
        intervalHours: 24,
      })
      expect(created).toMatchObject({
        startAt: new Date(world.clock.now()).toISOString(),
        ranges: [{ variationId: variationId(1), from: 0, to: 50_000 }],
      })
      const at = addressesOf(tenant)
      const body = { name: 'All', conditions: [], rollout_id: created.id }
      await world.call('POST', at.rules(flag.id), { token: tenant.tokens.editor, body })
      const share = async () => {
        let served = 0
        for (let index = 0; index < 200; index += 1) {
          const values = await world.evaluate(tenant.live, { kind: 'user', key: `user-${index}` })
          if (values['theme'] === 'b') served += 1
        }
        return served / 200
      }
      expect(Math.abs((await share()) - 0.5)).toBeLessThan(0.15)
      await world.clock.advance(DAY_MS)
      expect(await share()).toBe(1)
    })

    it.each<[string, () => NewRollout, string]>([
      [
        'a percentage without a variation',
        () => ({ name: 'r', strategy: 'percentage', percentage: 5 }),
        'variation_id',
      ],
      [
        'a variation without a percentage',
        () => ({ name: 'r', strategy: 'percentage', variationId: variationId(0) }),
        'percentage',
      ],
      [
        'another strategy’s field',
        () => ({
          name: 'r',
          strategy: 'percentage',
          variationId: variationId(0),
          percentage: 5,
          increment: 1,
        }),
        'increment',
      ],
      ['no variants', () => ({ name: 'r', strategy: 'variant' }), 'variants'],
      [
        'an unknown variation',
        () => ({ name: 'r', strategy: 'percentage', variationId: UNKNOWN, percentage: 5 }),
        'variation_id',
      ],
      [
        'an unknown variant',
        () => ({ name: 'r', strategy: 'variant', variants: [{ variationId: UNKNOWN, weight: 5 }] }),
        'variants.0.variation_id',
      ],
      [
        'a variant twice',
        () => ({
          name: 'r',
          strategy: 'variant',
          variants: [0, 0].map((index) => ({ variationId: variationId(index), weight: 5 })),
        }),
        'variants.1.variation_id',
      ],
      [
        'more than 100 %',
        () => ({
          name: 'r',
          strategy: 'variant',
          variants: [0, 1].map((index) => ({ variationId: variationId(index), weight: 50.001 })),
        }),
        'variants',
      ],
      [
        'four decimals',
        () => ({
          name: 'r',
          strategy: 'percentage',
          variationId: variationId(0),
          percentage: 0.0001,
        }),
        'percentage',
      ],
      [
        'a gradual rollout without a target',
        () => ({
          name: 'r',
          strategy: 'gradual',
          variationId: variationId(0),
          increment: 1,
          intervalHours: 1,
        }),
        'target_percentage',
      ],
      [
        'a gradual rollout with an interval of 0 hours',
        () => ({
          name: 'r',
          strategy: 'gradual',
          variationId: variationId(0),
          targetPercentage: 5,
          increment: 1,
          intervalHours: 0,
        }),
        'interval_hours',
      ],
    ])('A rollout is refused with this fault: %s', async (_what, body, path) => {
      expect(await refusalOf(rollout(body()))).toEqual(['INVALID_REQUEST', path])
      expect((await world.storage.list('rollout', {})).total).toBe(0)
    })
  })
})

it('Salts are distinct, have eleven characters, and use all base-62 characters', () => {
  const salts = Array.from({ length: 2000 }, newSalt)
  for (const salt of salts) expect(salt).toMatch(/^[0-9A-Za-z]{11}$/)
  expect(new Set(salts).size).toBe(salts.length)
  expect(new Set(salts.join('')).size).toBe(62)
})
