import { beforeEach, describe, expect, it } from 'vitest'
import { OCCASION } from '../../../server/test/seed.ts'
import { type Answer, addressesOf, type Json, type Tenant, World } from '../world/world.ts'

let world: World
let tenant: Tenant
let flag: Json
let segment: Json
let on: string
let off: string

beforeEach(async () => {
  world = await World.create()
  tenant = await world.addTenant('Acme')
  const { flags, segments } = addressesOf(tenant)
  flag = (await as('POST', flags, { key: 'new-checkout', type: 'boolean' })).data
  segment = (await as('POST', segments, { key: 'partners' })).data
  ;[on, off] = ['true', 'false'].map(
    (key) => flag.variations.find((variation: Json) => variation.key === key).id,
  ) as [string, string]
})

const as = (method: string, path: string, body?: Json): Promise<Answer> =>
  world.call(method, path, { token: tenant.tokens.editor, body })

/** Sends a request to the environment `live`. */
const live = (method: string, path: string, body?: Json): Promise<Answer> =>
  as(method, `/projects/${tenant.project.id}/envs/${tenant.live.id}${path}`, body)

const state = (body: Json) => live('PUT', `/flags/${flag.id}`, body)
const version = () => world.version(tenant.live)
const newestEvent = async () =>
  (await world.audit()).filter(({ orgId }) => orgId === tenant.orgId).at(-1)

describe('The versions of an environment', () => {
  it('Versions are listed newest first, with time, actor, audit event and changes', async () => {
    await world.clock.advance(60_000)
    await state({ is_active: false })
    const { status, data } = await live('GET', '/versions')
    const event = await newestEvent()
    expect(status).toBe(200)
    expect(data.meta).toEqual({ total: 3, page: 1, pageCount: 1 })
    expect(data.data).toEqual([
      {
        version: 3,
        published_at: event?.createdAt,
        event_id: event?.id,
        event_type: 'flag_state.updated',
        actor: event?.actor,
        flags: [{ id: flag.id, key: 'new-checkout' }],
        segments: [],
      },
      expect.objectContaining({
        version: 2,
        event_type: 'segment.created',
        flags: [],
        segments: [{ id: segment.id, key: 'partners' }],
      }),
      expect.objectContaining({ version: 1, event_type: 'flag.created' }),
    ])
    expect(event?.eventType).toBe('flag_state.updated')
  })

  it('Versions are returned in pages, and invalid pages are refused', async () => {
    await state({ is_active: false })
    const page = await live('GET', '/versions?page=2&limit=2')
    expect(page.data.data.map((each: Json) => each.version)).toEqual([1])
    expect(page.data.meta).toEqual({ total: 3, page: 2, pageCount: 2 })
    for (const query of ['page=0', 'limit=0', 'limit=101', 'page=-1', 'limit=x', 'other=1']) {
      expect((await live('GET', `/versions?${query}`)).status).toBe(400)
    }
  })

  it('Versions name deleted resources, and never changes of other environments', async () => {
    await as('PUT', addressesOf(tenant).staging(flag.id), { is_active: false })
    expect(await version()).toBe(2)
    await as('DELETE', addressesOf(tenant).flag(flag.id))
    const [newest] = (await live('GET', '/versions')).data.data
    expect(newest).toMatchObject({
      version: 3,
      event_type: 'flag.deleted',
      flags: [{ id: flag.id, key: 'new-checkout' }],
    })
  })

  it('A version can be read unchanged later, in the spelling of the engine', async () => {
    const [kind, keys] = ['user', ['user_key']]
    await state({ targets: [{ variation_id: on, kind, keys }] })
    await as('DELETE', addressesOf(tenant).flag(flag.id))
    const { status, data } = await live('GET', '/versions/3')
    expect(status).toBe(200)
    expect(data).toEqual({
      version: 3,
      flags: [
        {
          id: flag.id,
          key: 'new-checkout',
          type: 'boolean',
          isActive: true,
          variations: flag.variations.map(({ id, key, value }: Json) => ({ id, key, value })),
          defaultVariationId: off,
          offVariationId: off,
          targets: [{ variationId: on, kind, keys }],
          prerequisites: [],
          rules: [],
          rollouts: [],
        },
      ],
      segments: [
        {
          id: segment.id,
          key: 'partners',
          rules: [],
          logicalOp: 'AND',
          force: false,
          keyAttribute: 'user.key',
          included: [],
          excluded: [],
        },
      ],
    })
    expect((await live('GET', '/versions/4')).data.flags).toEqual([])
  })

  it('A version that was never published returns 404, and a malformed number 400', async () => {
    for (const path of ['/versions/3', '/versions/2147483647']) {
      expect((await live('GET', path)).status).toBe(404)
      expect((await live('POST', `${path}/restore`)).status).toBe(404)
    }
    for (const path of ['/versions/x', '/versions/0', '/versions/-1', '/versions/1.5']) {
      expect((await live('GET', path)).status).toBe(400)
      expect((await live('POST', `${path}/restore`)).status).toBe(400)
    }
  })
})

describe('Restoring a version', () => {
  it('A restore revives deleted records under their ids, in one version with one audit event', async () => {
    const share = { name: 'Half', strategy: 'percentage', variation_id: on, percentage: 50 }
    const rollout = (await live('POST', `/flags/${flag.id}/rollouts`, share)).data
    const body = { name: 'Everybody', conditions: [], rollout_id: rollout.id }
    const rule = (await live('POST', `/flags/${flag.id}/targeting-rules`, body)).data
    const good = await version()
    await live('DELETE', `/flags/${flag.id}/targeting-rules/${rule.id}`)
    await live('DELETE', `/flags/${flag.id}/rollouts/${rollout.id}`)
    await live('POST', `/flags/${flag.id}/targeting-rules`, {
      name: 'New',
      conditions: [],
      variation_id: on,
    })
    await state({ is_active: false, default_variation_id: on })
    const [before, events] = [await version(), (await world.audit()).length]

    const answer = await live('POST', `/versions/${good}/restore`)
    expect(answer).toMatchObject({ status: 200, message: 'OK' })
    const flags = [{ id: flag.id, key: 'new-checkout' }]
    expect(answer.data).toEqual({ restored_version: good, flags, skipped: [] })
    expect(await version()).toBe(before + 1)
    const event = await newestEvent()
    expect((await world.audit()).length).toBe(events + 1)
    expect(event).toMatchObject({
      eventType: 'environment.restored',
      streamId: `environment:${tenant.live.id}`,
      payload: { before: { version: before, flags }, after: { version: good, flags } },
    })
    const [newest] = (await live('GET', '/versions')).data.data
    expect(newest).toMatchObject({ event_id: event?.id, event_type: 'environment.restored' })

    const rules = (await live('GET', `/flags/${flag.id}/targeting-rules`)).data.data
    expect(rules).toMatchObject([{ id: rule.id, name: 'Everybody', rollout_id: rollout.id }])
    expect(rules[0].revision).toBeGreaterThan(rule.revision)
    expect((await live('GET', `/flags/${flag.id}/rollouts/${rollout.id}`)).data).toMatchObject({
      name: 'Half',
      percentage: 50,
      salt: rollout.salt,
      ranges: rollout.ranges,
    })
    const { flags: was } = (await live('GET', `/versions/${good}`)).data
    expect((await live('GET', `/versions/${before + 1}`)).data.flags).toEqual(was)
    expect((await live('GET', `/flags/${flag.id}`)).data.default_variation_id).toBe(null)
  })

  it('A restore of the current version changes nothing and returns no flags', async () => {
    const [before, events] = [await version(), (await world.audit()).length]
    const { status, data } = await live('POST', `/versions/${before}/restore`)
    expect([status, data.flags, data.skipped]).toEqual([200, [], []])
    expect([await version(), (await world.audit()).length]).toEqual([before, events])
  })

  it('A restore keeps what belongs to the project and returns it as skipped', async () => {
    const { flags, segments, flag: flagAt, variations } = addressesOf(tenant)
    const textOf = async (key: string) =>
      (await as('POST', flags, { key, type: 'string', variations: [{ key: 'v', value: 'v' }] }))
        .data
    const [deleted, archived, changed] = [await textOf('d'), await textOf('e'), await textOf('f')]
    const old = (await as('POST', segments, { key: 'old' })).data
    const good = await version()
    await as('DELETE', flagAt(deleted.id))
    await as('PUT', flagAt(archived.id), { archived: true })
    const variation = `${variations(changed.id)}/${changed.variations[0].id}`
    await as('PUT', variation, { value: 'new' })
    await live('PUT', `/flags/${changed.id}`, { is_active: false })
    const created = await textOf('g')
    await live('PUT', `/flags/${created.id}`, { is_active: false })
    await as('DELETE', `${segments}/${old.id}`)
    await as('PUT', `${segments}/${segment.id}`, { force: true })
    const fresh = (await as('POST', segments, { key: 'fresh' })).data

    const { status, data } = await live('POST', `/versions/${good}/restore`)
    expect(status).toBe(200)
    expect(data.flags).toEqual([{ id: changed.id, key: 'f' }])
    const skipped = (resource: string, { id, key }: Json, reason: string) => {
      return { resource, id, key, reason }
    }
    expect(data.skipped).toHaveLength(7)
    expect(data.skipped).toEqual(
      expect.arrayContaining([
        skipped('flag', deleted, 'deleted'),
        skipped('flag', archived, 'archived'),
        skipped('flag', changed, 'changed'),
        skipped('flag', created, 'absent_then'),
        skipped('segment', old, 'deleted'),
        skipped('segment', segment, 'changed'),
        skipped('segment', fresh, 'absent_then'),
      ]),
    )
    expect((await live('GET', `/flags/${created.id}`)).data.is_active).toBe(false)
    expect(await world.evaluate(tenant.live)).toEqual({ 'new-checkout': false, f: 'new', g: 'v' })
  })

  it('A restore that refers to deleted resources is refused with 409, names them, and changes nothing', async () => {
    const { flags, segments, flag: flagAt, variations } = addressesOf(tenant)
    const other = (await as('POST', flags, { key: 'other', type: 'boolean' })).data
    const extra = (await as('POST', variations(flag.id), { key: 'extra', value: 'true' })).data
    const rule = (body: Json) => live('POST', `/flags/${flag.id}/targeting-rules`, body)
    const rules = [
      await rule({ name: 'segment', segment_id: segment.id, variation_id: on }),
      await rule({ name: 'variation', conditions: [], variation_id: extra.id }),
      await rule({
        name: 'conditions',
        variation_id: on,
        conditions: [{ attribute: 'other', operator: 'flag_is', value: 'true' }],
      }),
    ]
    const prerequisites = [{ flag_id: other.id, variation_ids: [other.variations[0].id] }]
    await state({ prerequisites, is_active: false })
    const good = await version()
    for (const { data } of rules) {
      await live('DELETE', `/flags/${flag.id}/targeting-rules/${data.id}`)
    }
    await state({ prerequisites: [], is_active: true })
    await as('DELETE', flagAt(other.id))
    await as('DELETE', `${segments}/${segment.id}`)
    expect((await as('DELETE', `${variations(flag.id)}/${extra.id}`)).status).toBe(200)

    const before = [await version(), await world.audit()]
    const { status, message, data } = await live('POST', `/versions/${good}/restore`)
    expect(status).toBe(409)
    expect(message).toContain('Flag "new-checkout": The variation "extra" is deleted.')
    expect(data.issues).toEqual(
      [
        'The variation "extra" is deleted.',
        `The segment ${segment.id} is deleted.`,
        'There is no flag "other" in the project.',
        `The prerequisite ${other.id} is deleted.`,
      ].map((sentence) => ({ path: 'new-checkout', message: sentence })),
    )
    expect([await version(), await world.audit()]).toEqual(before)
  })

  it('A refused restore names an archived prerequisite, or a deleted variation of a prerequisite', async () => {
    const { flags, flag: flagAt, variations } = addressesOf(tenant)
    const other = (await as('POST', flags, { key: 'other', type: 'boolean' })).data
    const extra = (await as('POST', variations(other.id), { key: 'extra', value: 'true' })).data
    await state({ prerequisites: [{ flag_id: other.id, variation_ids: [extra.id] }] })
    const good = await version()
    await state({ prerequisites: [] })
    await as('DELETE', `${variations(other.id)}/${extra.id}`)
    const gone = await live('POST', `/versions/${good}/restore`)
    expect([gone.status, gone.data.issues[0].message]).toEqual([
      409,
      `The variation ${extra.id} of the prerequisite "other" is deleted.`,
    ])
    await as('PUT', flagAt(other.id), { archived: true })
    const archived = await live('POST', `/versions/${good}/restore`)
    expect([archived.status, archived.data.issues[0].message]).toEqual([
      409,
      'The prerequisite "other" is archived.',
    ])
  })

  it('A restore is published to the change feed', async () => {
    await state({ is_active: false })
    world.hints.splice(0)
    await live('POST', '/versions/2/restore')
    expect(world.hints).toEqual([
      { type: 'flagSet', environmentId: tenant.live.id, version: await version() },
      { type: 'project', projectId: tenant.project.id },
    ])
  })
})

describe('Explaining an evaluation', () => {
  const explain = (body: Json) => live('POST', '/evaluate', body)
  const context = { kind: 'user', key: 'u-1', plan: 'pro' }

  it('An explanation has the value, the reason and the log of every flag, and is not counted', async () => {
    const conditions = [{ attribute: 'plan', operator: 'eq', value: 'pro' }]
    const body = { name: 'Pro', variation_id: on, conditions }
    const rule = (await live('POST', `/flags/${flag.id}/targeting-rules`, body)).data
    const before = [await version(), await world.audit()]
    const { status, data } = await explain({ context })
    expect(status).toBe(200)
    expect(data).toEqual({
      version: 3,
      at: new Date(world.clock.now()).toISOString(),
      flags: [
        {
          flag_key: 'new-checkout',
          value: true,
          variation_id: on,
          variation_key: 'true',
          reason: 'TARGETING_MATCH',
          rule_id: rule.id,
          prerequisite_chain: [],
          attributes_read: ['plan'],
          steps: [
            { type: 'flag', outcome: 'held', text: 'The flag is active.' },
            {
              type: 'rule',
              outcome: 'held',
              rule_id: rule.id,
              text: 'The rule matches: "true".',
              steps: [
                {
                  type: 'condition',
                  outcome: 'held',
                  attribute: 'plan',
                  operator: 'eq',
                  value: 'pro',
                  found: '"pro"',
                  text: 'plan eq "pro": holds; it is "pro".',
                },
              ],
            },
            {
              type: 'answer',
              outcome: 'held',
              variation_key: 'true',
              text: 'Serves "true" (TARGETING_MATCH).',
            },
          ],
        },
      ],
    })
    expect([await version(), await world.audit()]).toEqual(before)
  })

  it('An explanation replays any version at any time exactly', async () => {
    const ramp = { target_percentage: 100, increment: 50, interval_hours: 1 }
    const gradual = { name: 'Ramp', strategy: 'gradual', variation_id: on, ...ramp }
    const start = new Date(world.clock.now()).toISOString()
    const rollout = await live('POST', `/flags/${flag.id}/rollouts`, {
      ...gradual,
      start_at: start,
    })
    const rule = { name: 'Everybody', conditions: [], rollout_id: rollout.data.id }
    await live('POST', `/flags/${flag.id}/targeting-rules`, rule)
    const ramping = await version()
    await as('DELETE', addressesOf(tenant).flag(flag.id))
    const instant = (hours: number) => new Date(world.clock.now() + hours * 3_600_000).toISOString()
    const shareAt = async (at: string) => {
      let share = 0
      for (let index = 0; index < 100; index += 1) {
        const user = { kind: 'user', key: `u-${index}` }
        const { data } = await explain({ context: user, version: ramping, at })
        expect([data.version, data.at]).toEqual([ramping, at])
        const [{ value, bucket, reason, range }] = data.flags
        if (value === true) {
          share += 1
          expect(reason).toBe('SPLIT')
          expect(bucket).toBeLessThan(range.to)
        }
      }
      return share
    }
    expect(await shareAt(instant(-1))).toBe(0)
    const half = await shareAt(instant(0))
    expect(half).toBeGreaterThan(30)
    expect(half).toBeLessThan(70)
    expect(await shareAt(instant(1))).toBe(100)
    expect((await explain({ context })).data.flags).toEqual([])
    const zoned = await explain({ context, version: 1, at: '2026-01-01T01:00:00+01:00' })
    expect(zoned.data.at).toBe('2026-01-01T00:00:00.000Z')
  })

  it('An explanation can be limited to one flag', async () => {
    await as('POST', addressesOf(tenant).flags, { key: 'other', type: 'boolean' })
    const { data } = await explain({ context, flag_key: 'other' })
    expect(data.flags.map((each: Json) => each.flag_key)).toEqual(['other'])
    expect((await explain({ context, flag_key: 'other', version: 2 })).status).toBe(404)
  })

  it('An explanation returns 404 for an unknown flag or version, and 400 with a path for invalid input', async () => {
    expect((await explain({ context, flag_key: 'nothing' })).message).toBe('There is no such flag.')
    expect((await explain({ context, flag_key: '__proto__' })).status).toBe(404)
    expect((await explain({ context, version: 99 })).message).toBe('There is no such version.')
    const bad = [
      [{}, 'context'],
      [{ context: 7 }, 'context'],
      [{ context: { key: 'x' } }, 'context.kind'],
      [{ context: { kind: 'multi', user: { key: [] } } }, 'context.user.key'],
      [{ context, version: 0 }, 'version'],
      [{ context, version: '1' }, 'version'],
      [{ context, at: 'yesterday' }, 'at'],
      [{ context, flag_key: 7 }, 'flag_key'],
      [{ context, other: 1 }, 'other'],
    ] as const
    for (const [body, path] of bad) {
      const { status, data } = await explain(body)
      expect([status, data?.issues?.[0]?.path]).toEqual([400, path])
    }
  })

  it('An explanation of an environment without a published version has no flags', async () => {
    const fresh = await world.addTenant('Fresh')
    const path = `/projects/${fresh.project.id}/envs/${fresh.live.id}`
    const token = fresh.tokens.viewer
    const { data } = await world.call('POST', `${path}/evaluate`, { token, body: { context } })
    expect([data.version, data.flags]).toEqual([await world.version(fresh.live), []])
  })

  it('An explanation with too many steps omits steps, but returns every result', async () => {
    const conditions = Array.from({ length: 64 }, () => {
      return { attribute: 'plan', operator: 'eq', value: 'free' }
    })
    const rules = Array.from({ length: 160 }, (_, orderIndex) => {
      const references = { segmentId: null, variationId: on, rolloutId: null }
      const createdAt = '2026-01-01T00:00:00.000Z'
      return { id: `rule-${orderIndex}`, orderIndex, createdAt, conditions, ...references }
    })
    const { flags } = (await world.storage.loadFlagSet(tenant.live.id)) ?? {}
    const changes = ['a', 'b', 'c'].flatMap((key) =>
      (flags ?? []).map((definition) => {
        return {
          kind: 'flag',
          id: key,
          definition: { ...definition, id: key, key, rules },
        } as const
      }),
    )
    await world.storage.publish(tenant.live.id, changes, OCCASION)
    const { data } = await explain({ context })
    const logs = data.flags.map(({ flag_key, steps, reason }: Json) => {
      return [flag_key, steps === null, reason]
    })
    expect(logs).toEqual([
      ['a', false, 'DEFAULT'],
      ['b', false, 'DEFAULT'],
      ['c', true, 'DEFAULT'],
      ['new-checkout', true, 'STATIC'],
    ])
    expect((await explain({ context, flag_key: 'c' })).data.flags[0].steps).toHaveLength(162)
  })
})
