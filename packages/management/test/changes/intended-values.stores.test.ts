import type { FlagDefinition } from '@ff/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { type Answer, addressesOf, type Json, type Tenant, World } from '../world/world.ts'

/** An integer that a double cannot represent exactly. */
const INEXACT = '9007199254740993'
const EXACT = '9007199254740991'

describe.each(stores)('Values on write, in %s', (_name, open) => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let flag: Json
  let clean: () => void

  beforeEach(async () => {
    const opened = open()
    clean = opened.clean
    world = await World.create(opened.storage, { secretKey: '7c'.repeat(32) })
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
    flag = (await call('POST', at.flags, { key: 'a', type: 'boolean' })).data
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  /** Sends text as the body, because a number with all these digits cannot be serialized. */
  const call = (method: string, address: string, body?: Json) =>
    world.call(method, address, { token: tenant.tokens.admin, body })
  const ruleOf = (...conditions: readonly Json[]) => {
    return { name: 'r', variation_id: flag.variations[0].id, conditions }
  }
  const createRule = (condition: Json) => call('POST', at.rules(flag.id), ruleOf(condition))
  const issueOf = ({ status, data }: Answer) => {
    return { status, path: data.issues?.[0]?.path, message: data.issues?.[0]?.message }
  }
  const expectRefusal = (answer: Answer, path: string, message: string) => {
    const expected = { status: 400, path, message: expect.stringContaining(message) }
    expect(issueOf(answer)).toEqual(expected)
  }
  const valueFor = async (attributes: Json) =>
    (await world.evaluate(tenant.live, { kind: 'user', key: 'u', ...attributes }))['a']

  const UNINTENDED: readonly (readonly [operator: string, value: Json, message: string])[] = [
    ['in', 'pro,team', 'write ["pro","team"]; for one text, write ["pro,team"]'],
    ['not_in', 'pro, team', 'contains a comma but is not a JSON array'],
    ['contains', '[draft]', 'write ["[draft]"]'],
    ['in_cidr', '10.0.0.0/33', 'the entry "10.0.0.0/33"'],
    ['not_in_cidr', ['10.0.0.0/8', '10.0.0.0/8 11.0.0.0/8'], 'entry "10.0.0.0/8 11.0.0.0/8"'],
    ['gt', INEXACT, 'cannot be represented exactly'],
    ['eq', `{"a": ${INEXACT}}`, 'cannot be represented exactly'],
    [
      'elem_match',
      [{ attribute: '', operator: 'in', value: 'a,b' }],
      'Condition 0 in the value of "elem_match"',
    ],
  ]

  it('A condition with a value that its author cannot intend is refused and changes nothing', async () => {
    const { id } = (await createRule({ attribute: 'a', operator: 'eq', value: 'x' })).data
    const segment = (await call('POST', at.segments, { key: 's' })).data
    const version = await world.version(tenant.live)
    for (const [operator, value, message] of UNINTENDED) {
      const bad = { attribute: 'a', operator, value }
      const conditions = [{ attribute: 'a', value: 'x' }, bad]
      const body = ruleOf(...conditions)
      const change = { conditions }
      const rule = `${at.rules(flag.id)}/${id}`
      expectRefusal(await call('POST', at.rules(flag.id), body), 'conditions.1', message)
      expectRefusal(await call('PUT', rule, change), 'conditions.1', message)
      const other = { key: 't', rules: conditions }
      expectRefusal(await call('POST', at.segments, other), 'rules.1', message)
      const segmentChange = { rules: conditions }
      const address = `${at.segments}/${segment.id}`
      expectRefusal(await call('PUT', address, segmentChange), 'rules.1', message)
      const scheduled = { operation: 'createTargetingRule', body, apply_at: '2031-01-01T00:00:00Z' }
      const changes = `${at.live(flag.id)}/scheduled-changes`
      expectRefusal(await call('POST', changes, scheduled), 'body.conditions.1', message)
    }
    expect(await world.version(tenant.live)).toBe(version)
    expect(await valueFor({ a: 'x' })).toBe(true)
  })

  it('The forms that a refusal suggests are accepted and match as they are written', async () => {
    await createRule({ attribute: 'plan', operator: 'in', value: '["pro","team"]' })
    await createRule({ attribute: 'plan', operator: 'in', value: '["a,b"]' })
    await createRule({ attribute: 'title', operator: 'contains', value: '["[draft]"]' })
    await createRule({ attribute: 'id', operator: 'in', value: [INEXACT] })
    const contexts = [{ plan: 'team' }, { plan: 'a,b' }, { title: 'a [draft]' }, { id: INEXACT }]
    for (const context of contexts) expect(await valueFor(context)).toBe(true)
    expect(await valueFor({ plan: 'free', id: '9007199254740992' })).toBe(false)
  })

  it('A value of null is refused with a hint at not_exists, unless the operator needs no value', async () => {
    for (const operator of ['eq', 'in', 'not_in', 'gt']) {
      const answer = await createRule({ attribute: 'a', operator, value: null })
      expectRefusal(answer, 'conditions.0.value', 'use the operator not_exists')
    }
    const created = await createRule({ attribute: 'a', operator: 'not_exists', value: null })
    expect(created.data.conditions[0].value).toBe('')
  })

  it('A JSON integer beyond 2^53 is refused, and the same digits as text are kept', async () => {
    for (const value of [INEXACT, `["a", ${INEXACT}]`, `{"a": [-${INEXACT}]}`]) {
      const body = JSON.stringify(ruleOf({ attribute: 'a', operator: 'in', value: '?' }))
      const answer = await call('POST', at.rules(flag.id), body.replace('"?"', value))
      expectRefusal(answer, 'conditions.0.value', 'cannot be represented exactly')
    }
    const created = await createRule({ attribute: 'a', operator: 'eq', value: INEXACT })
    expect(created.data.conditions[0].value).toBe(INEXACT)
    expect(await valueFor({ a: '9007199254740992' })).toBe(false)
    expect(await valueFor({ a: INEXACT })).toBe(true)
  })

  it('A JSON variation that a parser would change is refused when it is created and when it is changed, and a stored one stays', async () => {
    const flagOf = (value: string) => ({
      key: 'j',
      type: 'json',
      variations: [{ key: 'a', value }],
    })
    const lossy = [`{"id": ${INEXACT}}`, '{"a": 1, "a": 2}', '[1e-400]']
    for (const value of lossy) {
      const refused = await call('POST', at.flags, flagOf(value))
      expectRefusal(refused, 'variations.0.value', value.includes('"a"') ? 'twice' : 'exactly')
    }
    const { id, variations } = (await call('POST', at.flags, flagOf('{"id": 1.10}'))).data
    expect(variations[0].value).toBe('{"id": 1.10}')
    const [variationId] = [variations[0].id]
    const address = `${at.variations(id)}/${variationId}`
    for (const value of lossy) {
      expectRefusal(await call('PUT', address, { value }), 'value', '')
    }
    // An earlier release has accepted this value.
    await world.storage.update('variation', variationId, { value: lossy[0] ?? '' }, 1)
    const kept = await call('PUT', address, { value: lossy[0], name: 'Old' })
    expect([kept.status, kept.data.value, kept.data.name]).toEqual([200, lossy[0], 'Old'])
  })

  it('A number variation beyond 2^53 is refused when it is created and when it is changed', async () => {
    const numbers = (value: string) => ({
      key: 'n',
      type: 'number',
      variations: [
        { key: 'zero', value: '0' },
        { key: 'big', value },
      ],
    })
    const message = 'cannot be represented exactly'
    for (const value of [INEXACT, `-${INEXACT}`, '9007199254740992', '1e21']) {
      expectRefusal(await call('POST', at.flags, numbers(value)), 'variations.1.value', message)
    }
    const { id, variations } = (await call('POST', at.flags, numbers(EXACT))).data
    const created = await call('POST', at.variations(id), { key: 'm', value: INEXACT })
    expectRefusal(created, 'value', message)
    const address = `${at.variations(id)}/${variations[1].id}`
    expectRefusal(await call('PUT', address, { value: INEXACT }), 'value', message)
    expect((await call('PUT', address, { value: '0.30000000000000004' })).status).toBe(200)
    const texts = { ...numbers(INEXACT), key: 'texts', type: 'string' }
    expect((await call('POST', at.flags, texts)).status).toBe(201)
  })

  it('A tag that is listed twice is refused with its index', async () => {
    const tags = ['web', 'beta', ' web ']
    const created = await call('POST', at.flags, { key: 'b', type: 'boolean', tags })
    expectRefusal(created, 'tags.2', 'is listed twice')
    const changed = await call('PUT', at.flag(flag.id), { tags })
    expectRefusal(changed, 'tags.2', 'is listed twice')
    expect((await call('PUT', at.flag(flag.id), { tags: ['web', 'Web'] })).status).toBe(200)
  })

  it('An event type of a webhook that is listed twice is refused with its index', async () => {
    const webhooks = `/organizations/${tenant.orgId}/webhooks`
    const url = 'https://hooks.acme.example/flags'
    const twice = { url, event_types: ['flag.updated', 'segment.*', 'flag.updated'] }
    expectRefusal(await call('POST', webhooks, twice), 'event_types.2', 'is listed twice')
    const { id } = (await call('POST', webhooks, { url, event_types: ['*'] })).data
    const changed = await call('PUT', `${webhooks}/${id}`, { event_types: ['*', '*'] })
    expectRefusal(changed, 'event_types.1', 'is listed twice')
  })

  it('A prerequisite, or a variation of one, that is listed twice is refused with its index', async () => {
    const other = (await call('POST', at.flags, { key: 'b', type: 'boolean' })).data
    const [yes, no] = other.variations
    const needs = (...ids: readonly string[]) => ({ flag_id: other.id, variation_ids: ids })
    const put = (prerequisites: Json) => call('PUT', at.live(flag.id), { prerequisites })
    const twice = await put([needs(yes.id), needs(no.id)])
    expectRefusal(twice, 'prerequisites.1.flag_id', 'is listed twice')
    const same = await put([needs(yes.id, no.id, yes.id)])
    expectRefusal(same, 'prerequisites.0.variation_ids.2', 'is listed twice')
    expect((await put([needs(yes.id, no.id)])).status).toBe(200)
  })

  it('The interval of a gradual rollout is at least 0.01 hours', async () => {
    const rollout = (interval_hours: number) => ({
      name: 'r',
      strategy: 'gradual',
      variation_id: flag.variations[0].id,
      target_percentage: 50,
      increment: 1,
      interval_hours,
    })
    const rollouts = at.rollouts(flag.id)
    const message = 'must be at least 0.01'
    for (const hours of [0.00001, 0.009, 0]) {
      expectRefusal(await call('POST', rollouts, rollout(hours)), 'interval_hours', message)
    }
    const { status, data } = await call('POST', rollouts, rollout(0.01))
    expect(status).toBe(201)
    const changed = await call('PUT', `${rollouts}/${data.id}`, { interval_hours: 0.00001 })
    expectRefusal(changed, 'interval_hours', message)
  })

  it('A name without a visible character or with bidirectional controls is refused', async () => {
    for (const [name, message] of [
      ['\u200b\u3164', 'must contain a visible character'],
      ['free \u202eeerf', 'must not contain bidirectional control characters'],
    ]) {
      const created = await call('POST', at.flags, { key: 'b', type: 'boolean', name })
      expectRefusal(created, 'name', message ?? '')
      expectRefusal(await call('PUT', at.flag(flag.id), { name }), 'name', message ?? '')
    }
  })

  it('A stored name that a write would refuse is still returned and can be replaced', async () => {
    await world.storage.transaction(tenant.orgId, async (session) => {
      await session.update('flag', flag.id, { name: '\u200b', revision: 2 }, 1)
    })
    expect((await call('GET', at.flag(flag.id))).data.name).toBe('\u200b')
    const described = await call('PUT', at.flag(flag.id), { description: 'd' })
    expect(described.data).toMatchObject({ name: '\u200b', description: 'd' })
    expect((await call('PUT', at.flag(flag.id), { name: 'A' })).data.name).toBe('A')
  })

  describe('Stored conditions that a write would refuse', () => {
    let ruleId: string

    /** Stores and publishes a condition without the checks of a write. */
    const store = async (condition: Json) => {
      ruleId = (await createRule({ attribute: 'a', value: 'x' })).data.id
      const { flags = [] } = (await world.storage.loadFlagSet(tenant.live.id)) ?? {}
      const [published] = flags.filter(({ id }) => id === flag.id)
      if (published === undefined) throw new Error('not published')
      const rules = published.rules.map((rule) => ({ ...rule, conditions: [condition] }))
      const definition: FlagDefinition = { ...published, rules }
      await world.storage.transaction(tenant.orgId, async (session) => {
        const changes = { conditions: [condition], revision: 2 }
        await session.update('targetingRule', ruleId, changes, 1)
        const metadata = { publishedAt: '2030-01-01T00:00:00.000Z', eventId: '1' }
        const change = { kind: 'flag', id: flag.id, definition } as const
        await session.publish(tenant.live.id, [change], metadata)
      })
    }
    const rule = () => `${at.rules(flag.id)}/${ruleId}`
    const expectChangesToBeAccepted = async () => {
      expect((await call('PUT', rule(), { name: 'renamed' })).data.rule.name).toBe('renamed')
      expect((await call('PUT', rule(), { order_index: 7 })).status).toBe(200)
      expect((await call('PUT', at.live(flag.id), { is_active: false })).status).toBe(200)
      expect((await call('PUT', at.live(flag.id), { is_active: true })).status).toBe(200)
      expect((await createRule({ attribute: 'b', value: 'y' })).status).toBe(201)
      expect((await call('POST', at.flags, { key: 'b', type: 'boolean' })).status).toBe(201)
    }

    const KEPT: readonly (readonly [condition: Json, attribute: string])[] = [
      [{ attribute: 'a', operator: 'in', value: 'pro,team' }, 'pro,team'],
      [{ attribute: 'a', operator: 'contains', value: '[draft]' }, 'a [draft]'],
      [{ attribute: 'a', operator: 'in_cidr', value: '["10.0.0.0/8","x"]' }, '10.1.2.3'],
      [{ attribute: 'a', operator: 'gte', value: INEXACT }, INEXACT],
    ]

    it.each(KEPT)(
      'A condition that a write would refuse keeps its meaning, and other fields can change: %j',
      async (condition, a) => {
        await store(condition)
        expect([await valueFor({ a }), await valueFor({ a: 'other' })]).toEqual([true, false])
        await expectChangesToBeAccepted()
        expect((await call('GET', rule())).data.conditions).toEqual([condition])
        expect([await valueFor({ a }), await valueFor({ a: 'other' })]).toEqual([true, false])
        const unchanged = await call('PUT', rule(), { conditions: [condition] })
        expect([unchanged.status, unchanged.data.message]).toEqual([200, 'Nothing changed'])
        const answer = await call('PUT', rule(), { conditions: [condition, condition] })
        expect(issueOf(answer)).toMatchObject({ status: 400, path: 'conditions.0' })
      },
    )

    it.each(KEPT)(
      'A rule with a condition that a write would refuse can be promoted and restored: %j',
      async (condition, a) => {
        await store(condition)
        const version = await world.version(tenant.live)
        const promoted = await call('POST', `${at.flag(flag.id)}/promote`, {
          from_env_id: tenant.live.id,
          to_env_id: tenant.staging.id,
        })
        expect(promoted.data.applied).toBe(true)
        const [staged] = (await world.storage.loadFlagSet(tenant.staging.id))?.flags ?? []
        expect(staged?.rules[0]?.conditions).toEqual([condition])
        await call('DELETE', rule())
        expect(await valueFor({ a })).toBe(false)
        const versions = `/projects/${tenant.project.id}/envs/${tenant.live.id}/versions`
        expect((await call('POST', `${versions}/${version}/restore`)).status).toBe(200)
        expect(await valueFor({ a })).toBe(true)
      },
    )

    const NEVER: readonly Json[] = [
      { attribute: 'a', operator: 'in_cidr', value: '10.0.0.0/33' },
      { attribute: 'a', operator: 'in_cidr', value: '[]' },
      { attribute: 'a', operator: 'not_in_cidr', value: '["10.0.0.0/8","10.0.0.0/33"]' },
      { attribute: 'a', operator: 'in_cidr', value: '["10.0.0.0/8","x"]', negate: true },
    ]

    it.each(NEVER)(
      'A stored condition with unreadable networks never matches and other fields can change: %j',
      async (condition) => {
        await store(condition)
        for (const a of ['10.1.2.3', '11.0.0.1', 'x', undefined]) {
          expect(await valueFor({ a })).toBe(false)
        }
        await expectChangesToBeAccepted()
        expect((await call('GET', rule())).data.conditions).toEqual([condition])
        expect(await valueFor({ a: '11.0.0.1' })).toBe(false)
        expect(await valueFor({ b: 'y' })).toBe(true)
        expect((await call('DELETE', rule())).status).toBe(200)
      },
    )

    it.each(NEVER)(
      'A stored condition with unreadable networks is not copied to another environment: %j',
      async (condition) => {
        await store(condition)
        const promoted = await call('POST', `${at.flag(flag.id)}/promote`, {
          from_env_id: tenant.live.id,
          to_env_id: tenant.staging.id,
        })
        expect(promoted.status).toBe(400)
        expect(promoted.message).toContain('has a condition that never holds')
      },
    )
  })
})
