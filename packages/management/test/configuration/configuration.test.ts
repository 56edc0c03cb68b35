import { beforeEach, describe, expect, it } from 'vitest'
import { saltOf } from '../../src/flags/rollout-changes.ts'
import type { Json } from '../world/world.ts'
import {
  type ConfigurationScene,
  configurationOf,
  createConfigurationScene,
  newId,
} from './configuration-scene.ts'

let scene: ConfigurationScene

beforeEach(async () => {
  scene = await createConfigurationScene()
})

const list = async (what: string): Promise<Json[]> =>
  (await scene.as('GET', `${scene.state}/${what}?limit=100`)).data.data
const traces = async () => [await scene.world.version(scene.tenant.live), await scene.world.audit()]

describe('GET of a configuration', () => {
  it('The configuration of a new flag has its state, no rules, no rollouts, and an ETag', async () => {
    const { document, etag } = await scene.read()
    expect(document).toEqual({
      state: {
        is_active: true,
        default_variation_id: null,
        off_variation_id: scene.idOf('x'),
        targets: [],
        prerequisites: [],
      },
      targeting_rules: [],
      rollouts: [],
      revision: expect.any(Number),
    })
    expect(etag).toBe(`"${document.revision}"`)
    expect((await scene.read()).etag).toBe(etag)
  })

  it('The ETag changes with every change of the state, a rule or a rollout', async () => {
    const { state, as } = scene
    const tags = [(await scene.read()).etag]
    const changed = async (method: string, path: string, body?: Json) => {
      const { data, status } = await as(method, `${state}${path}`, body)
      expect([200, 201]).toContain(status)
      tags.push((await scene.read()).etag)
      return data
    }
    await changed('PUT', '', { is_active: false })
    const rule = await changed('POST', '/targeting-rules', { name: 'a', conditions: [] })
    await changed('PUT', `/targeting-rules/${rule.id}`, { name: 'b' })
    await changed('DELETE', `/targeting-rules/${rule.id}`)
    const half = { name: 'h', strategy: 'percentage', variation_id: 'x', percentage: 50 }
    const rollout = await changed('POST', '/rollouts', half)
    await changed('PUT', `/rollouts/${rollout.id}`, { percentage: 60 })
    await changed('DELETE', `/rollouts/${rollout.id}`)
    expect(new Set(tags).size).toBe(tags.length - 2)
    expect([tags[4], tags[7]]).toEqual([tags[1], tags[1]])
  })
})

describe('PUT of a configuration', () => {
  it('A publish replaces the whole configuration with one version and one event', async () => {
    const { world, tenant, flag } = scene
    await scene.as('POST', `${scene.state}/targeting-rules`, { name: 'Old', conditions: [] })
    const { document: old } = await scene.read()
    const [version, events] = [await world.version(tenant.live), (await world.audit()).length]
    const body = configurationOf(scene)
    const { status, data, headers } = await scene.publish(body)
    expect([status, data.version]).toEqual([200, version + 1])
    expect(await world.version(tenant.live)).toBe(version + 1)
    const { document, etag } = await scene.read()
    expect(data.configuration).toEqual(document)
    expect(headers['ETag']).toBe(etag)
    const [pro, all] = body.targeting_rules
    const [half, split] = body.rollouts
    expect(document).toMatchObject({
      state: { is_active: true, off_variation_id: null, prerequisites: [] },
      targeting_rules: [
        { ...pro, kind: 'custom', segment_id: null, variation_id: null },
        { ...all, kind: 'custom' },
      ],
    })
    expect(document.state.targets[0].variation_id).toBe(scene.idOf('z'))
    expect(document.rollouts.find(({ id }: Json) => id === half.id)).toEqual({
      ...half,
      ...{
        variation_id: scene.idOf('y'),
        salt: saltOf(half.id),
        scheme: 'ff',
        bucket_by: 'user.key',
      },
      ...{ variants: null, target_percentage: null, increment: null },
      ...{ interval_hours: null, start_at: null },
    })
    expect(document.rollouts.find(({ id }: Json) => id === split.id)).toBeDefined()
    const audit = await world.audit()
    expect(audit).toHaveLength(events + 1)
    const event = audit.find(({ eventType }) => eventType === 'flag.configured')
    expect(event).toMatchObject({
      streamId: `flag:${flag.id}`,
      payload: {
        before: { environment_id: tenant.live.id, targeting_rules: [{ name: 'Old' }] },
        after: { targeting_rules: [{ order_index: 0 }, { order_index: 1 }] },
      },
    })
    expect(
      data.differences.map(({ resource, before, after }: Json) => [resource, !before, !after]),
    ).toEqual([
      ['flag_state', false, false],
      ['rollout', true, false],
      ['rollout', true, false],
      ['targeting_rule', false, true],
      ['targeting_rule', true, false],
      ['targeting_rule', true, false],
    ])
    expect(data.moved).toEqual([])
    expect(old.targeting_rules).toHaveLength(1)
  })

  it('A published configuration can be sent back, which changes nothing', async () => {
    await scene.publish(configurationOf(scene))
    const before = await traces()
    const { document, etag } = await scene.read()
    const { data, status, headers } = await scene.publish(document)
    expect([status, data.differences, data.moved]).toEqual([200, [], []])
    expect([data.version, headers['ETag']]).toEqual([before[0], etag])
    expect(await traces()).toEqual(before)
  })

  it('Rules with any order indices keep them if their order does not change', async () => {
    for (const [name, order_index] of [
      ['a', 7],
      ['b', 0],
      ['c', 7],
      ['d', 7],
    ] as const) {
      await scene.as('POST', `${scene.state}/targeting-rules`, {
        name,
        conditions: [],
        order_index,
      })
      await scene.world.clock.advance(1000)
    }
    const before = await traces()
    const { document } = await scene.read()
    const names = document.targeting_rules.map(({ name }: Json) => name)
    expect(names).toEqual(['b', 'a', 'c', 'd'])
    await scene.publish(document)
    expect(await traces()).toEqual(before)
    const [b, a, c, d] = document.targeting_rules
    await scene.publish({ ...document, targeting_rules: [b, a, d] })
    expect((await list('targeting-rules')).map((each) => [each.name, each.order_index])).toEqual([
      ['b', 0],
      ['a', 7],
      ['d', 7],
    ])
    const { revision: _, ...rest } = document
    await scene.publish({ ...rest, targeting_rules: [d, c, a, b] })
    const rules = await list('targeting-rules')
    expect(rules.map((each) => [each.name, each.order_index])).toEqual([
      ['d', 0],
      ['c', 1],
      ['a', 2],
      ['b', 3],
    ])
    expect(rules.map(({ id }) => id)).toEqual([d.id, c.id, a.id, b.id])
  })

  it('A deleted rule or rollout of the same flag is restored under its id', async () => {
    await scene.publish(configurationOf(scene))
    const { document } = await scene.read()
    const { revision: _, ...content } = document
    await scene.publish({ ...content, targeting_rules: [], rollouts: [] })
    expect(await list('rollouts')).toEqual([])
    const { data, status } = await scene.publish(content)
    expect(status).toBe(200)
    expect(data.configuration).toEqual({ ...content, revision: expect.any(Number) })
    expect(data.configuration.revision).not.toBe(document.revision)
    expect(data.differences.map(({ before, after }: Json) => [before, after.revision])).toEqual([
      [null, 3],
      [null, 3],
      [null, 3],
      [null, 3],
    ])
  })

  it('A dry run returns what a publish would return, and writes nothing', async () => {
    const body = configurationOf(scene)
    const { etag } = await scene.read()
    const before = await traces()
    const dry = await scene.publish({ ...body, dry_run: true })
    expect([dry.status, dry.data.version, dry.headers['ETag']]).toEqual([200, before[0], etag])
    expect(await traces()).toEqual(before)
    expect((await scene.read()).etag).toBe(etag)
    const real = await scene.publish(body, dry.headers['ETag'])
    expect(real.status).toBe(200)
    expect(real.data.differences).toEqual(dry.data.differences)
    const { revision: _, ...planned } = dry.data.configuration
    expect(real.data.configuration).toMatchObject(planned)
  })

  it('An existing rollout keeps its salt and moves as few contexts as updateRollout', async () => {
    await scene.publish(configurationOf(scene))
    const [half] = (await list('rollouts')).filter(({ name }) => name === 'Half')
    const { document } = await scene.read()
    const given = document.rollouts.map((each: Json) => {
      const { salt: _, scheme: __, bucket_by: ___, ...rest } = each
      return each.id === half.id ? { ...rest, percentage: 60 } : each
    })
    const { revision: _, ...content } = document
    const { data } = await scene.publish({ ...content, rollouts: given })
    expect(data.moved).toEqual([{ rollout_id: half.id, moved_percentage: 10 }])
    const [now] = (await list('rollouts')).filter(({ name }) => name === 'Half')
    expect(now).toMatchObject({ salt: half.salt, percentage: 60 })
    expect(now.ranges).toEqual([{ variation_id: scene.idOf('y'), from: 0, to: 60_000 }])
    const undone = await scene.publish(content)
    expect(undone.data.moved).toEqual([{ rollout_id: half.id, moved_percentage: 10 }])
    expect((await list('rollouts')).find(({ id }) => id === half.id)?.ranges).toEqual(half.ranges)
  })

  it('Of two concurrent publishes with one ETag one succeeds, the other gets the configuration', async () => {
    const { etag } = await scene.read()
    const bodies = ['First', 'Second'].map((name) => {
      const rule = { id: newId(), name, conditions: [], variation_id: 'y' }
      return configurationOf(scene, { targeting_rules: [rule], rollouts: [] })
    })
    const answers = await Promise.all(bodies.map((body) => scene.publish(body, etag)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const stale = answers.find(({ status }) => status === 409)
    const { document } = await scene.read()
    expect(stale?.data).toEqual({
      configuration: document,
      version: await scene.world.version(scene.tenant.live),
      changed_by: expect.stringContaining('editor'),
    })
  })

  it('A repeated publish with one Idempotency-Key is applied once', async () => {
    const { etag } = await scene.read()
    const body = configurationOf(scene)
    const headers = { 'idempotency-key': 'publish-1' }
    const send = () => scene.publish(body, etag, headers)
    const version = await scene.world.version(scene.tenant.live)
    const [first, second] = await Promise.all([send(), send()])
    const again = await send()
    expect(first.status).toBe(200)
    expect([second.text, again.text]).toEqual([first.text, first.text])
    expect(again.headers['ETag']).toBe(first.headers['ETag'])
    expect(await scene.world.version(scene.tenant.live)).toBe(version + 1)
    expect((await send()).data.version).toBe(version + 1)
    const other = await scene.publish({ ...body, rollouts: [] }, etag, headers)
    expect([other.status, other.data]).toEqual([409, null])
  })

  it('A change of names makes an event but no version', async () => {
    await scene.publish(configurationOf(scene))
    const [version, audit] = [
      await scene.world.version(scene.tenant.live),
      await scene.world.audit(),
    ]
    const { document } = await scene.read()
    const rules = document.targeting_rules.map((rule: Json) => ({ ...rule, name: 'New' }))
    const { data } = await scene.publish({ ...document, targeting_rules: rules })
    expect(data.version).toBe(version)
    expect(await scene.world.version(scene.tenant.live)).toBe(version)
    expect(await scene.world.audit()).toHaveLength(audit.length + 1)
  })

  it('A configuration is read and published in process, with its revision', async () => {
    const { world, tenant, flag } = scene
    const actor = { id: 'a', email: '', name: 'A', role: 'editor', orgId: tenant.orgId } as const
    const flags = world.as(actor)
    const params = { projectId: tenant.project.id, environmentId: 'live', flagId: flag.key }
    const configuration = await flags.getFlagConfiguration({ params })
    const { revision: expectedRevision, state, targetingRules } = configuration
    const body = { state: { ...state, isActive: false }, targetingRules, rollouts: [] }
    const { version } = await flags.updateFlagConfiguration({ params, body, expectedRevision })
    expect(version).toBe(await world.version(tenant.live))
    const again = flags.updateFlagConfiguration({ params, body, expectedRevision })
    await expect(again).rejects.toMatchObject({ code: 'CONFLICT', details: { changed_by: 'A' } })
  })
})
