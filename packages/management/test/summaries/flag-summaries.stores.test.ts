import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dueChangesJob } from '../../src/scheduling/due-changes.ts'
import { stores } from '../world/stores.ts'
import { type Answer, addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const UNKNOWN = '99999999-9999-4999-8999-999999999999'

describe.each(stores)('flag summaries in %s', (_name, open) => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let token: string
  let clean: () => void

  beforeEach(async () => {
    const store = open()
    clean = store.clean
    world = await World.create(store.storage)
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
    token = tenant.tokens.editor
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  const done = async (method: string, path: string, body?: Json): Promise<Json> => {
    const answer = await world.call(method, path, { token: tenant.tokens.admin, body })
    expect([answer.status < 300, answer.message]).toEqual([true, 'OK'])
    return answer.data
  }
  const create = (key: string, more: Json = {}): Promise<Json> =>
    done('POST', at.flags, { key, type: 'boolean', ...more })
  const list = (query = '', headers = {}): Promise<Answer> =>
    world.call('GET', `/projects/${tenant.project.id}/flag-summaries?${query}`, { token, headers })
  const listed = async (query = ''): Promise<Json[]> => {
    const { status, message, data } = await list(query)
    expect([status, message]).toEqual([200, 'OK'])
    return data.data
  }
  const keys = async (query: string) => (await listed(query)).map(({ key }) => key)
  const summaryOf = async (flag: Json): Promise<Json> =>
    (await listed(`search=${flag.key}`)).find(({ id }) => id === flag.id)
  const liveOf = async (flag: Json): Promise<Json> => (await summaryOf(flag)).environments[0]
  const serve = async (flag: Json, rollout: Json, rules = at.rules): Promise<Json> => {
    const { id } = await done(
      'POST',
      rules(flag.id).replace('targeting-rules', 'rollouts'),
      rollout,
    )
    return done('POST', rules(flag.id), { name: 'r', conditions: [], rollout_id: id })
  }
  const variationOf = (flag: Json, key: string) =>
    flag.variations.find((variation: Json) => variation.key === key).id
  const part = (flag: Json, percentage: number) => {
    const variation_id = variationOf(flag, 'true')
    return { name: 'part', strategy: 'percentage', variation_id, percentage }
  }

  it('A summary that an instance of an earlier release has written is completed', async () => {
    const flag = await create('checkout')
    const complete = await summaryOf(flag)
    const stored = (await world.storage.find('flag', flag.id))?.summary ?? null
    const environments = (stored?.environments ?? []).map((part) => {
      const { conditionalRuleCount, ruleVariationIds, ...earlier } = part
      return earlier as typeof part
    })
    await world.storage.update('flag', flag.id, { summary: stored && { ...stored, environments } })
    expect(await summaryOf(flag)).toEqual(complete)
    await done('PUT', at.live(flag.id), { is_active: false })
    const summary = (await world.storage.find('flag', flag.id))?.summary
    expect(summary?.environments.map(({ ruleVariationIds }) => ruleVariationIds)).toEqual([[], []])
  })

  it('A summary has the fields of the flag and one part for each environment', async () => {
    const flag = await create('checkout', { name: 'One-page checkout', tags: ['web'] })
    await world.clock.advance(1000)
    await serve(flag, part(flag, 25))
    const [on, off] = [variationOf(flag, 'true'), variationOf(flag, 'false')]
    const created = '2030-01-01T00:00:00.000Z'
    const initial = {
      ...{ environment_id: tenant.staging.id, is_active: true, shape: 'everybody' },
      ...{ default_variation_id: off, off_variation_id: off, rule_count: 0, target_count: 0 },
      ...{ conditional_rule_count: 0, rule_variation_ids: [], others_variation_id: off },
      ...{ prerequisite_count: 0, pending_changes: 0, split: null, next_step_at: null },
      split_is_conditional: false,
      ...{ version: 1, changed_at: created, changed_by: 'Acme admin' },
    }
    expect(await listed()).toEqual([
      {
        ...{ id: flag.id, key: 'checkout', name: 'One-page checkout', type: 'boolean' },
        ...{ tags: ['web'], archived_at: null, created_at: created, updated_at: created },
        variations: flag.variations.map(({ id, key, name }: Json) => ({ id, key, name })),
        differs: true,
        last_evaluated_at: null,
        environments: [
          {
            ...{ ...initial, environment_id: tenant.live.id, shape: 'rollout', rule_count: 1 },
            split: [{ variation_id: on, percent: 25 }],
            ...{ version: 3, changed_at: '2030-01-01T00:00:01.000Z' },
          },
          initial,
        ],
      },
    ])
  })

  it('A summary names what rules with conditions serve, and what the others get, up to a rule for everyone', async () => {
    const flag = await create('served')
    const [on, off] = [variationOf(flag, 'true'), variationOf(flag, 'false')]
    const conditions = [{ attribute: 'user.plan', operator: 'eq', value: 'pro' }]
    const served = async () => {
      const live = await liveOf(flag)
      const counts = [live.rule_count, live.conditional_rule_count]
      return [...counts, live.rule_variation_ids, live.others_variation_id]
    }
    const add = (rule: Json) => done('POST', at.rules(flag.id), { name: 'r', ...rule })
    await add({ conditions, variation_id: on })
    expect(await served()).toEqual([1, 1, [on], off])
    await add({ conditions: [], variation_id: on, order_index: 1 })
    await add({ conditions, variation_id: off, order_index: 2 })
    expect(await served()).toEqual([3, 1, [on], on])
  })

  it('A summary tells whether the rule of the first rollout has conditions', async () => {
    const flag = await create('partial')
    const rule = await serve(flag, part(flag, 25))
    expect(await liveOf(flag)).toMatchObject({ split_is_conditional: false })
    const conditions = [{ attribute: 'user.plan', operator: 'eq', value: 'pro' }]
    await done('PUT', `${at.rules(flag.id)}/${rule.id}`, { conditions })
    expect(await liveOf(flag)).toMatchObject({
      ...{ conditional_rule_count: 1, rule_variation_ids: [], split_is_conditional: true },
      others_variation_id: variationOf(flag, 'false'),
    })
  })

  it('The shape is that of the first rollout that a rule serves', async () => {
    const flag = await create('a')
    const state = at.live(flag.id)
    const shape = async () => (await liveOf(flag)).shape
    expect(await shape()).toBe('everybody')
    const targets = [{ variation_id: 'true', kind: 'user', keys: ['u-1', 'u-2'] }]
    await done('PUT', state, { targets: [...targets, { ...targets[0], kind: 'org' }] })
    expect(await liveOf(flag)).toMatchObject({ shape: 'rules', target_count: 4, split: null })
    const condition = { attribute: 'plan', operator: 'eq', value: 'pro' }
    await done('POST', at.rules(flag.id), {
      ...{ name: 'first', conditions: [condition], order_index: 0 },
      variation_id: variationOf(flag, 'true'),
    })
    expect(await shape()).toBe('rules')
    // A rollout that no rule serves does not count.
    await done('POST', at.rollouts(flag.id), part(flag, 50))
    expect(await liveOf(flag)).toMatchObject({ shape: 'rules', split: null })
    const variants = [
      { variation_id: variationOf(flag, 'true'), weight: 33.333 },
      { variation_id: variationOf(flag, 'false'), weight: 66.667 },
    ]
    const rule = await serve(flag, { name: 'test', strategy: 'variant', variants })
    // Rules with equal indices are evaluated by age.
    await world.clock.advance(1)
    await serve(flag, part(flag, 50))
    const split = variants.map(({ variation_id, weight }) => ({ variation_id, percent: weight }))
    expect(await liveOf(flag)).toMatchObject({ shape: 'experiment', rule_count: 3, split })
    await done('DELETE', `${at.rules(flag.id)}/${rule.id}`)
    expect(await shape()).toBe('rollout')
    await done('PUT', state, { is_active: false })
    // The split remains visible, so that the effect of switching on can be shown.
    expect(await liveOf(flag)).toMatchObject({ shape: 'off', is_active: false, rule_count: 2 })
    expect((await liveOf(flag)).split).toEqual([{ ...split[0], percent: 50 }])
  })

  it('The default variation is that of the environment, otherwise that of the flag', async () => {
    const flag = await create('a')
    const ids = async () =>
      (await summaryOf(flag)).environments.map((each: Json) => each.default_variation_id)
    const [on, off] = [variationOf(flag, 'true'), variationOf(flag, 'false')]
    expect(await ids()).toEqual([off, off])
    await done('PUT', at.live(flag.id), { default_variation_id: on, off_variation_id: null })
    expect(await ids()).toEqual([on, off])
    expect((await liveOf(flag)).off_variation_id).toBe(null)
    await done('PUT', `${at.variations(flag.id)}/${on}`, { is_default: true, name: 'Yes' })
    expect(await ids()).toEqual([on, on])
    expect((await summaryOf(flag)).variations[0]).toEqual({ id: on, key: 'true', name: 'Yes' })
  })

  it('The split and the next step of a gradual rollout are those of the time of the request', async () => {
    const flag = await create('a')
    const start_at = '2030-01-01T02:00:00.000Z'
    const schedule = { target_percentage: 50, increment: 20, interval_hours: 1, start_at }
    const variation_id = variationOf(flag, 'true')
    await serve(flag, { name: 'g', strategy: 'gradual', variation_id, ...schedule })
    const seen: Json[] = []
    const tags = new Set<unknown>()
    for (let hour = 0; hour < 6; hour += 1) {
      const { split, next_step_at, shape } = await liveOf(flag)
      expect(shape).toBe('gradual')
      seen.push([split[0]?.percent ?? 0, next_step_at?.slice(11, 16) ?? null])
      tags.add((await list()).headers['ETag'])
      await world.clock.advance(HOUR_MS)
    }
    expect(seen).toEqual([
      ...[
        [0, '02:00'],
        [0, '02:00'],
        [20, '03:00'],
      ],
      ...[
        [40, '04:00'],
        [50, null],
        [50, null],
      ],
    ])
    expect(tags.size).toBe(4)
  })

  it('A state selects the flags that have it in any environment, or in the given one', async () => {
    const [on, off, mixed, split, gradual, test] = [
      await create('on'),
      await create('off'),
      await create('mixed'),
      await create('split'),
      await create('gradual'),
      await create('test'),
    ]
    for (const state of [at.live(off.id), at.staging(off.id), at.staging(mixed.id)]) {
      await done('PUT', state, { is_active: false })
    }
    const variation_id = variationOf(gradual, 'true')
    const schedule = { target_percentage: 50, increment: 20, interval_hours: 1 }
    const variants = [{ variation_id: variationOf(test, 'true'), weight: 10 }]
    await serve(split, part(split, 10))
    await serve(gradual, { name: 'g', strategy: 'gradual', variation_id, ...schedule })
    await serve(test, { name: 't', strategy: 'variant', variants })
    const apply_at = '2031-01-01T00:00:00.000Z'
    const operation = { operation: 'updateFlagState', body: { is_active: false } }
    await done('POST', `${at.live(on.id)}/scheduled-changes`, { apply_at, ...operation })
    const others = ['gradual', 'on', 'split', 'test']
    const [live, staging] = [`env_id=${tenant.live.id}`, `env_id=${tenant.staging.id}`]
    expect(await keys('state=on')).toEqual(['gradual', 'mixed', 'on', 'split', 'test'])
    expect(await keys(`state=on&${staging}`)).toEqual(others)
    expect(await keys('state=off')).toEqual(['mixed', 'off'])
    expect(await keys(`state=off&${live}`)).toEqual(['off'])
    for (const [state, key] of [
      ['rollout', 'split'],
      ['gradual', 'gradual'],
      ['experiment', 'test'],
      ['scheduled', 'on'],
    ]) {
      expect(await keys(`state=${state}`)).toEqual([key])
      expect(await keys(`state=${state}&${live}`)).toEqual([key])
      expect(await keys(`state=${state}&${staging}`)).toEqual([])
    }
    const differing = ['gradual', 'mixed', 'split', 'test']
    for (const query of ['', `&${live}`, `&${staging}`]) {
      expect(await keys(`state=differs${query}`)).toEqual(differing)
    }
    expect(await keys(staging)).toHaveLength(6)
  })

  it('A flag is unused if it is older than 30 days and was not evaluated for 30 days', async () => {
    const flag = await create('old')
    await world.clock.advance(20 * DAY_MS)
    await create('new')
    expect(await keys('state=unused')).toEqual([])
    await world.clock.advance(10 * DAY_MS)
    expect(await keys('state=unused')).toEqual([])
    await world.clock.advance(1)
    expect(await keys('state=unused')).toEqual(['old'])
    const evaluated = new Date(world.clock.now()).toISOString()
    const changes = { lastEvaluatedAt: evaluated, unusedSince: evaluated }
    await world.storage.update('flag', flag.id, changes)
    expect(await keys('state=unused')).toEqual([])
    expect((await summaryOf(flag)).last_evaluated_at).toBe(evaluated)
    await world.clock.advance(21 * DAY_MS)
    expect(await keys('state=unused')).toEqual(['new'])
    await done('PUT', at.flag((await listed('search=new'))[0].id), { archived: true })
    expect(await keys('state=unused&archived=true')).toEqual(['new'])
    expect(await keys('state=unused&archived=false')).toEqual([])
  })

  it('A configuration differs if promotion would change what is served', async () => {
    const flag = await create('a')
    const differs = async () => (await summaryOf(flag)).differs
    const staging = (id: string) => `${at.staging(id)}/targeting-rules`
    expect(await differs()).toBe(false)
    await serve(flag, part(flag, 25))
    expect(await differs()).toBe(true)
    // Other ids, names and salts, and another number for the order.
    const rule = await serve(flag, { ...part(flag, 25), name: 'quarter' }, staging)
    await done('PUT', `${staging(flag.id)}/${rule.id}`, { name: 'other', order_index: 7 })
    expect(await differs()).toBe(false)
    const [rollout] = (await done('GET', at.rollouts(flag.id))).data
    await done('PUT', `${at.rollouts(flag.id)}/${rollout.id}`, { percentage: 26 })
    expect(await differs()).toBe(true)
    const copy = { from_env_id: tenant.live.id, to_env_id: tenant.staging.id }
    await done('POST', `${at.flag(flag.id)}/promote`, { ...copy, dry_run: true })
    expect(await differs()).toBe(true)
    await done('POST', `${at.flag(flag.id)}/promote`, copy)
    expect(await differs()).toBe(false)
    await done('PUT', at.live(flag.id), { off_variation_id: null })
    expect(await differs()).toBe(true)
  })

  it('Pending changes are counted until they are cancelled, applied or failed', async () => {
    const flag = await create('a')
    const changes = `${at.live(flag.id)}/scheduled-changes`
    const [rule] = [await serve(flag, part(flag, 25))]
    const apply_at = new Date(world.clock.now() + HOUR_MS).toISOString()
    const target_id = rule.id
    const operation = { operation: 'deleteTargetingRule', target_id }
    await done('POST', changes, { apply_at, ...operation })
    const cancelled = await done('POST', changes, { apply_at, ...operation })
    const noOperation = { operation: 'updateFlagState', body: { is_active: true } }
    await done('POST', changes, { apply_at, ...noOperation })
    const count = async () => (await liveOf(flag)).pending_changes
    expect(await count()).toBe(3)
    await done('DELETE', `${changes}/${cancelled.id}`)
    expect(await count()).toBe(2)
    // The change fails, because its rule is gone.
    await done('DELETE', `${at.rules(flag.id)}/${rule.id}`)
    await world.clock.advance(HOUR_MS)
    await dueChangesJob(world.services, undefined).run()
    const { data } = await done('GET', changes)
    expect(data.map(({ status }: Json) => status).sort()).toEqual(['applied', 'failed'])
    expect(await count()).toBe(0)
    expect(await keys('state=scheduled')).toEqual([])
  })

  it('The last version, its time and its actor are those of the last change of the flag', async () => {
    const flag = await create('a')
    const other = await create('b')
    const last = async () => {
      const { version, changed_at, changed_by } = await liveOf(flag)
      return [version, changed_at.slice(11, 19), changed_by]
    }
    expect(await last()).toEqual([1, '00:00:00', 'Acme admin'])
    await world.clock.advance(1000)
    await done('PUT', at.live(other.id), { is_active: false })
    await done('POST', at.segments, { key: 's' })
    // No version contains the name of a flag.
    await done('PUT', at.flag(flag.id), { name: 'Renamed' })
    expect(await last()).toEqual([1, '00:00:00', 'Acme admin'])
    await world.call('PUT', at.live(flag.id), { token, body: { is_active: false } })
    expect(await last()).toEqual([5, '00:00:01', 'Acme editor'])
    await world.clock.advance(1000)
    await done('POST', `/projects/${tenant.project.id}/envs/${tenant.live.id}/versions/2/restore`)
    expect(await last()).toEqual([6, '00:00:02', 'Acme admin'])
    expect((await liveOf(flag)).is_active).toBe(true)
    // A change without an effect makes no version.
    await done('PUT', at.live(flag.id), { is_active: true })
    expect(await last()).toEqual([6, '00:00:02', 'Acme admin'])
  })

  it('A new environment has a part in every summary, and a deleted one has none', async () => {
    const flag = await create('a')
    await create('b')
    await done('PUT', at.live(flag.id), { is_active: false })
    const envs = `/projects/${tenant.project.id}/envs`
    const added = await done('POST', envs, { key: 'copy', copy_from: 'live' })
    const states = async () =>
      (await listed()).map(({ environments }) => environments.map((each: Json) => each.is_active))
    expect(await states()).toEqual([
      [false, true, false],
      [true, true, true],
    ])
    expect(await keys(`state=off&env_id=${added.id}`)).toEqual(['a'])
    expect(await keys('state=off&env_id=copy')).toEqual(['a'])
    await done('DELETE', `${envs}/${added.id}`)
    expect(await states()).toEqual([
      [false, true],
      [true, true],
    ])
    expect((await list(`state=off&env_id=${added.id}`)).status).toBe(400)
    await done('DELETE', at.flag(flag.id))
    expect(await keys('')).toEqual(['b'])
    // The key can be used again, with its own summary.
    const again = await create('a')
    expect((await summaryOf(again)).environments).toHaveLength(2)
    expect((await liveOf(again)).is_active).toBe(true)
  })

  it('A list is filtered by text, tag, type and archiving, and sorted', async () => {
    await create('b-one', { name: 'Zebra', tags: ['x'], description: 'needle in the text' })
    await world.clock.advance(1000)
    const two = await create('a-two', { name: 'Aardvark', tags: ['x', 'y'] })
    await world.clock.advance(1000)
    const value = [{ key: 'a', value: 'a' }]
    await create('c-three', { name: 'Needle', type: 'string', variations: value })
    await world.clock.advance(1000)
    await done('PUT', at.flag(two.id), { archived: true })
    expect(await keys('search=NEEDLE')).toEqual(['b-one', 'c-three'])
    expect(await keys('tag=x')).toEqual(['a-two', 'b-one'])
    expect(await keys('tag=x&state=on&archived=true')).toEqual(['a-two'])
    expect(await keys('type=string')).toEqual(['c-three'])
    expect(await keys('archived=true')).toEqual(['a-two'])
    expect(await keys('archived=false')).toEqual(['b-one', 'c-three'])
    const orders: Readonly<Record<string, string>> = {
      'key:asc': 'a-two b-one c-three',
      'name:asc': 'a-two c-three b-one',
      'created_at:asc': 'b-one a-two c-three',
      'updated_at:asc': 'b-one c-three a-two',
    }
    for (const [sort, order] of Object.entries(orders)) {
      expect([sort, (await keys(`sort=${sort}`)).join(' ')]).toEqual([sort, order])
      const reversed = order.split(' ').reverse()
      expect(await keys(`sort=${sort.replace('asc', 'desc')}`)).toEqual(reversed)
    }
  })

  it('Pages of a list have no gaps and no overlaps, also between equal names', async () => {
    const all: string[] = []
    for (let index = 0; index < 23; index += 1) {
      all.push((await create(`f-${index}`, { name: `Name ${index % 3}` })).id)
    }
    const walk: string[] = []
    for (let page = 1; page <= 5; page += 1) {
      const { data } = await list(`sort=name:desc&limit=5&page=${page}`)
      expect(data.meta).toEqual({ total: 23, page, pageCount: 5 })
      walk.push(...data.data.map(({ id }: Json) => id))
      // A change of the configuration moves no flag to another page.
      await done('PUT', at.live(all[page] ?? ''), { is_active: page % 2 === 0 })
    }
    expect([...walk].sort()).toEqual(all.sort())
    expect((await list('limit=1000')).data.data).toHaveLength(23)
    expect((await list('page=2')).data).toEqual({
      data: [],
      meta: { total: 23, page: 2, pageCount: 1 },
    })
  })

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=x', 'limit'],
    ['page=0', 'page'],
    ['state=paused', 'state'],
    ['state=__proto__', 'state'],
    ['sort=key', 'sort'],
    ['sort=value:asc', 'sort'],
    ['sort=updatedAt:asc', 'sort'],
    ['type=text', 'type'],
    ['archived=1', 'archived'],
    ['env_id=nowhere', 'env_id'],
    [`env_id=${UNKNOWN}`, 'env_id'],
    ['search=', 'search'],
    [`search=${'x'.repeat(65_536)}`, 'search'],
    ['search=%00', 'search'],
    [`tag=${'x'.repeat(65)}`, 'tag'],
    ['environment_id=x', 'environment_id'],
    ['limit=1&limit=2', 'limit'],
  ])('The query %.40s is refused with the name of the field', async (query, field) => {
    const answer = await list(query)
    expect(answer.status).toBe(400)
    expect(answer.data.issues[0].path).toBe(field)
  })

  it('An environment of another project is refused, and summaries of another organization are not found', async () => {
    await create('secret')
    const other = await world.addTenant('Other')
    expect((await list(`env_id=${other.live.id}`)).data.issues[0].path).toBe('env_id')
    const path = `/projects/${tenant.project.id}/flag-summaries`
    expect((await world.call('GET', path, { token: other.tokens.owner })).status).toBe(404)
    const viewer = await world.call('GET', path, { token: tenant.tokens.viewer })
    expect(viewer.data.data).toHaveLength(1)
    const own = `/projects/${other.project.id}/flag-summaries`
    expect((await world.call('GET', own, { token: other.tokens.viewer })).data.data).toEqual([])
  })

  it('Odd names and tags are returned unchanged as data, and can be searched', async () => {
    const odd = ['<img src=x onerror=alert(1)>', '😀 ключ', '__proto__', '%_\\"', 'a:b on:live']
    for (const [index, name] of odd.entries()) {
      const variations = [{ key: 'constructor', value: 'v', name }]
      await create(`f-${index}`, { type: 'string', name, tags: [name], variations })
    }
    for (const [index, name] of odd.entries()) {
      for (const filter of ['search', 'tag']) {
        const [flag, ...more] = await listed(`${filter}=${encodeURIComponent(name)}`)
        expect(more).toEqual([])
        expect(flag).toMatchObject({ key: `f-${index}`, name, tags: [name] })
        expect(flag.variations[0]).toMatchObject({ key: 'constructor', name })
      }
    }
    // Names never match as marks.
    expect(await keys('state=on&tag=on')).toEqual([])
  })

  it('An unchanged list is answered with 304, and every visible change changes the entity tag', async () => {
    const flag = await create('a')
    const first = await list()
    const tag = first.headers['ETag'] ?? ''
    expect(tag).toMatch(/^W\/"[0-9a-f]{32}"$/)
    for (const known of [tag, tag.slice('W/'.length), `"x", ${tag}`, '*']) {
      const { status, text, headers } = await list('', { 'if-none-match': known })
      expect([status, text, headers['ETag']]).toEqual([304, '', tag])
      expect(headers['Cache-Control']).toBe('no-store')
    }
    const other = await list('limit=1', { 'if-none-match': '"x"' })
    expect([other.status, other.headers['ETag']]).toEqual([200, tag])
    expect((await list('state=off', { 'if-none-match': tag })).status).toBe(200)
    // A change that the list does not show.
    await done('POST', at.segments, { key: 's' })
    expect((await list('', { 'if-none-match': tag })).status).toBe(304)
    const changes = [
      () => done('PUT', at.staging(flag.id), { is_active: false }),
      () => done('PUT', at.flag(flag.id), { name: 'b' }),
      () => done('POST', at.variations(flag.id), { key: 'x', value: 'true' }),
      () => serve(flag, part(flag, 10)),
      () => create('z'),
      () => done('PUT', at.flag(flag.id), { archived: true }),
      () => world.storage.update('flag', flag.id, { lastEvaluatedAt: '2030-01-01T00:00:00.000Z' }),
      () => done('POST', `/projects/${tenant.project.id}/envs`, { key: 'new' }),
    ]
    for (const change of changes) {
      const before = (await list()).headers['ETag'] ?? ''
      await change()
      const after = await list('', { 'if-none-match': before })
      expect([after.status, after.headers['ETag'] === before]).toEqual([200, false])
    }
  })
})
