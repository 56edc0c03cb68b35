import { memory, type Storage, type StorageSession } from '@ff/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { segmentUseCases } from '../../src/flags/segments.ts'
import { stores } from '../world/stores.ts'
import { addressesOf, type Json, SYSTEM_ACTOR, type Tenant, World } from '../world/world.ts'

describe.each(stores)('Changes in %s', (_name, open) => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let token: string
  let flag: Json
  let clean: () => void

  beforeEach(async () => {
    const opened = open()
    clean = opened.clean
    world = await World.create(opened.storage)
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
    token = tenant.tokens.editor
    flag = await done('POST', at.flags, { key: 'a', type: 'boolean' })
    world.hints.length = 0
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  async function done(method: string, address: string, body?: Json): Promise<Json> {
    const answer = await world.call(method, address, { token, body })
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.data
  }

  const versions = async () => [
    await world.version(tenant.live),
    await world.version(tenant.staging),
  ]

  it('A change is published in the environments that it affects, and in no others', async () => {
    expect(await versions()).toEqual([1, 1])
    await done('POST', at.rules(flag.id), {
      name: 'r',
      conditions: [],
      variation_id: flag.variations[0].id,
    })
    expect(await versions()).toEqual([2, 1])
    expect(world.hints).toEqual([
      { type: 'flagSet', environmentId: tenant.live.id, version: 2 },
      { type: 'project', projectId: tenant.project.id },
    ])
    await done('PUT', at.staging(flag.id), { is_active: false })
    expect(await versions()).toEqual([2, 2])
    const yes = `${at.variations(flag.id)}/${flag.variations[0].id}`
    await done('PUT', yes, { value: 'false' })
    expect(await versions()).toEqual([3, 3])
    const params = { projectId: tenant.project.id }
    await world.management.createSegment({ params, body: { key: 's', force: true } })
    expect(await versions()).toEqual([4, 4])
    await done('PUT', at.flag(flag.id), { archived: true })
    expect(await versions()).toEqual([5, 5])
    const published = world.hints.filter(({ type }) => type === 'flagSet')
    expect(published.length).toBe(8)
  })

  it('A change of fields that are not evaluated is audited but not published', async () => {
    const before = (await world.audit()).length
    await done('PUT', at.flag(flag.id), { name: 'Other', tags: ['x'] })
    expect(await versions()).toEqual([1, 1])
    expect((await world.audit()).length).toBe(before + 1)
    expect(world.hints).toContainEqual({ type: 'project', projectId: tenant.project.id })
  })

  it('A change without an effect leaves no trace', async () => {
    const before = await world.audit()
    const [yes] = flag.variations
    const writes: [string, Json][] = [
      [at.flag(flag.id), {}],
      [at.flag(flag.id), { name: flag.name, tags: flag.tags, archived: false }],
      [at.live(flag.id), { is_active: true, targets: [], default_variation_id: null }],
      [`${at.variations(flag.id)}/${yes.id}`, { value: yes.value, is_default: false }],
      [
        `${at.variations(flag.id)}/reorder`,
        { orders: [{ id: yes.id, order_index: yes.order_index }] },
      ],
    ]
    for (const [address, body] of writes) {
      const answer = await world.call('PUT', address, { token, body })
      expect(answer.status).toBe(200)
      if (!Array.isArray(answer.data)) expect(answer.data.revision).toBe(1)
    }
    expect(await world.audit()).toEqual(before)
    expect(await versions()).toEqual([1, 1])
    expect(world.hints).toEqual([])
  })

  it('A change is audited once, with its actor and the fields before and after', async () => {
    const before = new Set((await world.audit()).map(({ id }) => id))
    const rule = await done('POST', at.rules(flag.id), { name: 'r', conditions: [] })
    const changed = (await done('PUT', `${at.rules(flag.id)}/${rule.id}`, { name: 'R' })).rule
    const orders = [{ id: rule.id, order_index: 4 }]
    await done('PUT', `${at.rules(flag.id)}/reorder`, { orders })
    const events = (await world.audit()).filter(({ id }) => !before.has(id))
    const find = (eventType: string) => events.find((event) => event.eventType === eventType)
    expect(events.length).toBe(3)
    const actorId = (await world.storage.list('accessToken', { where: { name: 'Acme editor' } }))
      .data[0]?.id
    expect(find('targeting_rule.created')).toMatchObject({
      payload: { before: null, after: rule },
      createdAt: rule.created_at,
      streamId: `targeting_rule:${rule.id}`,
      orgId: tenant.orgId,
      projectId: tenant.project.id,
      actorId,
      actor: { id: actorId, email: '', name: 'Acme editor', role: 'editor' },
    })
    expect(find('targeting_rule.updated')?.payload).toEqual({ before: rule, after: changed })
    const state = await done('GET', at.live(flag.id))
    expect(find('targeting_rule.reordered')).toMatchObject({
      streamId: `flag_state:${state.id}`,
      payload: { before: { orders: [{ ...orders[0], order_index: 0 }] }, after: { orders } },
    })
  })

  it('Every kind of change has its own audit event', async () => {
    const { management } = world
    const params = { projectId: tenant.project.id, environmentId: tenant.live.id, flagId: flag.id }
    const variation = await done('POST', at.variations(flag.id), { key: 'x', value: 'true' })
    const address = `${at.variations(flag.id)}/${variation.id}`
    await done('PUT', address, { name: 'X' })
    await done('PUT', `${at.variations(flag.id)}/reorder`, {
      orders: [{ id: variation.id, order_index: 9 }],
    })
    await done('DELETE', address)
    await done('PUT', at.live(flag.id), { is_active: false })
    const rule = await done('POST', at.rules(flag.id), { name: 'r', conditions: [] })
    await done('PUT', `${at.rules(flag.id)}/${rule.id}`, { name: 'R' })
    await done('PUT', `${at.rules(flag.id)}/reorder`, { orders: [{ id: rule.id, order_index: 9 }] })
    await done('DELETE', `${at.rules(flag.id)}/${rule.id}`)
    await management.createEnvironment({ params, body: { key: 'qa' } })
    await management.createSegment({ params, body: { key: 's' } })
    const split = {
      name: 'r',
      strategy: 'variant' as const,
      variants: [{ variationId: flag.variations[0].id, weight: 1 }],
    }
    await management.createRollout({ params, body: split })
    const { key } = await management.createSdkKey({ params, body: { name: 'k', kind: 'server' } })
    const owner = { orgId: tenant.orgId }
    const created = await management.createAccessToken({
      params: owner,
      body: { name: 't', role: 'viewer' },
    })
    await done('PUT', at.flag(flag.id), { name: 'A' })
    await done('DELETE', at.flag(flag.id))
    const events = await world.audit()
    expect(events.map(({ eventType }) => eventType).sort()).toEqual([
      'environment.created',
      'flag.created',
      'flag.deleted',
      'flag.updated',
      'flag_state.updated',
      'organization.created',
      'project.created',
      'rollout.created',
      'sdk_key.created',
      'segment.created',
      'targeting_rule.created',
      'targeting_rule.deleted',
      'targeting_rule.reordered',
      'targeting_rule.updated',
      'token.created',
      'token.created',
      'token.created',
      'token.created',
      'token.created',
      'token.created',
      'variation.created',
      'variation.deleted',
      'variation.reordered',
      'variation.updated',
    ])
    const text = JSON.stringify(events)
    for (const secret of [key, created.token, token]) expect(text).not.toContain(secret)
    const payloads = JSON.stringify(events.map(({ payload }) => payload))
    expect(payloads).not.toContain('hash')
    expect(key).toMatch(/^ff_[0-9a-f]{64}$/)
    expect(created.token).toMatch(/^ffat_[0-9a-f]{64}$/)
    expect(world.hints).toContainEqual({ type: 'sdkKeys' })
  })

  it('Thirty concurrent changes leave thirty audit entries, and ten refused ones leave none', async () => {
    const before = (await world.audit()).length
    const good = Array.from({ length: 30 }, (_, n) => ({ key: `flag-${n}`, type: 'boolean' }))
    const bad = Array.from({ length: 10 }, () => ({ key: 'a', type: 'boolean' }))
    const statuses = await Promise.all(
      [...good, ...bad].map(
        async (body) => (await world.call('POST', at.flags, { token, body })).status,
      ),
    )
    expect(statuses).toEqual([...Array(30).fill(201), ...Array(10).fill(409)])
    expect((await world.audit()).length).toBe(before + 30)
    expect(Object.keys(await world.evaluate(tenant.live)).length).toBe(31)
  })

  it('Twenty concurrent requests to create the same key succeed exactly once', async () => {
    const body = { key: 'same', type: 'boolean' }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.call('POST', at.flags, { token, body })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array(19).fill(409)])
    expect((await world.storage.list('variation', {})).total).toBe(4)
  })

  it('Six concurrent reorders result in exactly one of the submitted orders', async () => {
    const ids: string[] = []
    for (const name of ['a', 'b', 'c'])
      ids.push((await done('POST', at.rules(flag.id), { name, conditions: [] })).id)
    for (let round = 0; round < 10; round += 1) {
      const submitted = Array.from({ length: 6 }, (_, n) => {
        return ids.map((id, index) => ({
          id,
          order_index: round * 100 + n * 10 + ((index + n) % 3),
        }))
      })
      await Promise.all(
        submitted.map((orders) => done('PUT', `${at.rules(flag.id)}/reorder`, { orders })),
      )
      const { data } = await done('GET', at.rules(flag.id))
      const places = new Map(data.map(({ id, order_index }: Json) => [id, order_index]))
      const final = ids.map((id) => ({ id, order_index: places.get(id) }))
      expect(submitted).toContainEqual(final)
    }
  })

  it('Of two editors with the same revision, one is refused', async () => {
    const headers = { 'if-match': '"1"' }
    const answers = await Promise.all(
      ['x', 'y'].map((name) =>
        world.call('PUT', at.flag(flag.id), { token, headers, body: { name } }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)
    const { data } = await world.call('GET', at.flag(flag.id), { token })
    expect(refused?.data).toMatchObject({ name: data.name, revision: 2 })
  })

  it('Concurrent changes of different fields without revisions are all kept', async () => {
    await Promise.all([
      done('PUT', at.flag(flag.id), { name: 'Name' }),
      done('PUT', at.flag(flag.id), { description: 'Description' }),
      done('PUT', at.flag(flag.id), { tags: ['tag'] }),
    ])
    const after = await done('GET', at.flag(flag.id))
    expect(after).toMatchObject({
      name: 'Name',
      description: 'Description',
      tags: ['tag'],
      revision: 4,
    })
  })
})

describe('A change with a failing step', () => {
  const steps = [
    ...(['insert', 'update', 'list', 'find'] as const),
    ...(['publish', 'listVersions', 'loadFlagSet', 'loadChanges'] as const),
  ] as const

  it('A change with a failing step leaves no record, version, audit entry or hint', async () => {
    const real = memory().storage
    let failAt = Number.POSITIVE_INFINITY
    let steps = 0
    const world = await World.create(
      failing(real, () => {
        steps += 1
        if (steps === failAt) throw new Error('the disk is full')
      }),
    )
    const tenant = await world.addTenant('Acme')
    const at = addressesOf(tenant)
    const token = tenant.tokens.editor
    const body = { key: 'base', type: 'boolean' }
    const base = (await world.call('POST', at.flags, { token, body })).data
    await world.call('POST', at.rules(base.id), { token, body: { name: 'r' } })
    const address = at.flag(base.id)
    world.hints.length = 0
    const before = await snapshot(real, tenant)
    let failures = 0
    for (const [method, path, sent] of [
      ['POST', at.flags, { key: 'new', type: 'boolean' }],
      ['DELETE', address, undefined],
    ] as const) {
      for (failAt = 1; ; failAt += 1) {
        steps = 0
        const answer = await world.call(method, path, { token, body: sent })
        if (answer.status < 300) break
        failures += 1
        expect(answer).toMatchObject({ status: 500, data: null })
        expect(await snapshot(real, tenant)).toEqual(before)
        expect(world.hints).toEqual([])
      }
      failAt = Number.POSITIVE_INFINITY
      if (method === 'POST') {
        const created = (await world.call('GET', `${at.flags}?search=new`, { token })).data.data[0]
        await world.call('DELETE', at.flag(created.id), { token })
        Object.assign(before, await snapshot(real, tenant))
        world.hints.length = 0
      }
    }
    expect(failures).toBeGreaterThan(30)
  })

  /** Returns a store that calls `onStep`, which may throw, before each step of a transaction. */
  function failing(storage: Storage, onStep: () => void): Storage {
    const transaction: Storage['transaction'] = (lock, work) =>
      storage.transaction(lock, (session) => work(watched(session, onStep)))
    return Object.create(storage, { transaction: { value: transaction }, ...bound(storage) })
  }

  function bound(storage: Storage): PropertyDescriptorMap {
    const names = [...steps, 'migrate', 'close'] as const
    return Object.fromEntries(names.map((name) => [name, { value: storage[name].bind(storage) }]))
  }

  function watched(session: StorageSession, onStep: () => void): StorageSession {
    const method = (name: (typeof steps)[number]) => ({
      value: async (...given: never[]) => {
        onStep()
        return (session[name] as (...all: never[]) => unknown).apply(session, given)
      },
    })
    return Object.create(session, Object.fromEntries(steps.map((name) => [name, method(name)])))
  }

  async function snapshot(storage: Storage, { live, staging }: Tenant) {
    return {
      flags: await storage.list('flag', {}),
      states: await storage.list('flagState', {}),
      variations: await storage.list('variation', {}),
      rules: await storage.list('targetingRule', {}),
      events: await storage.list('auditEvent', {}),
      live: await storage.loadFlagSet(live.id),
      staging: await storage.loadFlagSet(staging.id),
    }
  }
})

it('A change succeeds even if the change feed is unavailable', async () => {
  const world = await World.create()
  const tenant = await world.addTenant('Acme')
  const failure = () => Promise.reject(new Error('feed is down'))
  const warnings: string[] = []
  const services = {
    ...world.services,
    changeFeed: { publish: failure, subscribe: failure },
    logger: { ...world.services.logger, warn: (message: string) => void warnings.push(message) },
  }
  const params = { projectId: tenant.project.id }
  await segmentUseCases.createSegment(
    services,
    { actor: SYSTEM_ACTOR },
    { params, body: { key: 's' } },
  )
  expect(await world.version(tenant.live)).toBe(1)
  expect(warnings.length).toBe(3)
})

it('A change resolves after 250 ms even if the change feed does not respond', async () => {
  const world = await World.create()
  const tenant = await world.addTenant('Acme')
  const silence = () => new Promise<never>(() => undefined)
  const services = { ...world.services, changeFeed: { publish: silence, subscribe: silence } }
  const params = { projectId: tenant.project.id }
  const change = segmentUseCases.createSegment(
    services,
    { actor: SYSTEM_ACTOR },
    { params, body: { key: 's' } },
  )
  await expect.poll(() => world.clock.timers).toBeGreaterThan(0)
  await world.clock.advance(250)
  expect((await change).key).toBe('s')
})
