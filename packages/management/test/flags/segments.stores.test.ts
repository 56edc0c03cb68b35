import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const UNKNOWN = '99999999-9999-4999-8999-999999999999'
const isPro = { attribute: 'plan', operator: 'eq', value: 'pro' }
const user = (key: string, attributes = {}) => ({ kind: 'user', key, ...attributes })
const asks = (id: string, operator = 'in_segment') => ({ attribute: '', operator, value: id })
const keysFrom = (start: number, count: number) =>
  Array.from({ length: count }, (_, index) => `user-${start + index}`)

describe.each(stores)('Segments in %s', (_name, open) => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let token: string
  let clean: () => void

  beforeEach(async () => {
    const opened = open()
    clean = opened.clean
    world = await World.create(opened.storage)
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
    token = tenant.tokens.editor
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  const segment = (id: string) => `${at.segments}/${id}`
  const post = (body: Json) => world.call('POST', at.segments, { token, body })
  const put = (id: string, body: Json) => world.call('PUT', segment(id), { token, body })
  const get = async (id: string) => (await world.call('GET', segment(id), { token })).data
  const keys = (id: string, body: Json) =>
    world.call('POST', `${segment(id)}/keys`, { token, body: { list: 'included', ...body } })
  /** Creates a flag that is true only for the members of the segment, in both environments. */
  const flagFor = async (segmentId: string) => {
    const body = { key: 'member', type: 'boolean' }
    const flag = (await world.call('POST', at.flags, { token, body })).data
    const rule = { name: 'Members', segment_id: segmentId, variation_id: flag.variations[0].id }
    for (const state of [at.live(flag.id), at.staging(flag.id)]) {
      await world.call('POST', `${state}/targeting-rules`, { token, body: rule })
    }
    return flag
  }
  const isMember = async (context: Json, environment = tenant.live) =>
    (await world.evaluate(environment, context))['member']
  const listed = async (id: string, environment = tenant.live) => {
    const flagSet = await world.storage.loadFlagSet(environment.id)
    const { included, excluded } = flagSet?.segments.find((each) => each.id === id) ?? {}
    return { included, excluded }
  }

  describe('Segments as records', () => {
    it('Segments are returned individually and as a list sorted by key', async () => {
      const second = await post({ key: 'second', name: 'Second', rules: [isPro], logical_op: 'OR' })
      const first = await post({ key: 'first' })
      expect([second.status, second.headers['ETag']]).toEqual([201, '"1"'])
      expect(second.data).toMatchObject({
        project_id: tenant.project.id,
        key: 'second',
        name: 'Second',
        description: '',
        rules: [isPro],
        logical_op: 'OR',
        force: false,
        key_attribute: 'user.key',
        included_count: 0,
        excluded_count: 0,
        revision: 1,
      })
      expect(await get(first.data.id)).toEqual(first.data)
      const list = await world.call('GET', `${at.segments}?page=2&limit=1`, { token })
      expect(list.data).toEqual({
        data: [second.data],
        meta: { total: 2, page: 2, pageCount: 2 },
      })
      const unknown = await world.call('GET', segment(UNKNOWN), { token })
      expect([unknown.status, unknown.message]).toEqual([404, 'There is no such segment.'])
    })

    it('A change of a segment affects every flag that refers to it', async () => {
      const { id } = (await post({ key: 's', rules: [isPro] })).data
      await flagFor(id)
      expect(await isMember(user('u', { plan: 'pro' }))).toBe(true)
      const changed = await put(id, { rules: [{ ...isPro, value: 'team' }], description: 'Teams' })
      expect(changed.data).toMatchObject({ key: 's', description: 'Teams', revision: 2 })
      for (const environment of [tenant.live, tenant.staging]) {
        expect(await isMember(user('u', { plan: 'pro' }), environment)).toBe(false)
        expect(await isMember(user('u', { plan: 'team' }), environment)).toBe(true)
      }
      const cleared = { rules: null, description: null, logical_op: null, force: null }
      expect((await put(id, { ...cleared, key_attribute: null })).data).toMatchObject({
        rules: [],
        description: '',
        logical_op: 'AND',
        force: false,
        key_attribute: 'user.key',
      })
      expect(await isMember(user('u', { plan: 'team' }))).toBe(false)
      await put(id, { force: true })
      expect(await isMember(user('u'))).toBe(true)
    })

    it('A segment with invalid fields is refused, and the field is named', async () => {
      const { id } = (await post({ key: 's', rules: [isPro] })).data
      const other = await world.addTenant('Other')
      const foreign = await world.call('POST', addressesOf(other).segments, {
        token: other.tokens.editor,
        body: { key: 'foreign' },
      })
      const refusals: [Json, string][] = [
        [{ key: 'renamed' }, 'key'],
        [{ name: '' }, 'name'],
        [{ logical_op: 'XOR' }, 'logical_op'],
        [{ force: 'yes' }, 'force'],
        [{ key_attribute: '' }, 'key_attribute'],
        [{ included_count: 5 }, 'included_count'],
        [{ project_id: UNKNOWN }, 'project_id'],
        [{ rules: [isPro, { ...isPro, operator: 'resembles' }] }, 'rules.1'],
        [{ rules: [{ attribute: 'plan' }] }, 'rules.0.value'],
        [{ rules: [asks(UNKNOWN)] }, 'rules.0'],
        [{ rules: [asks(foreign.data.id)] }, 'rules.0'],
        [{ rules: [asks(id)] }, 'rules'],
      ]
      const before = await world.audit()
      for (const [given, path] of refusals) {
        const answer = await put(id, given)
        expect([given, answer.status, answer.data.issues[0].path]).toEqual([given, 400, path])
      }
      expect(await world.audit()).toEqual(before)
      expect(await get(id)).toMatchObject({ rules: [isPro], revision: 1 })
    })

    it('Circular references between segments are refused', async () => {
      const ids: string[] = []
      for (const key of ['a', 'b', 'c']) {
        const rules = ids.length === 0 ? [isPro] : [asks(ids.at(-1) ?? '')]
        ids.push((await post({ key, rules })).data.id)
      }
      const [first = '', , last = ''] = ids
      const versionBefore = await world.version(tenant.live)
      const answer = await put(first, { rules: [asks(last, 'not_in_segment')] })
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, 'rules'])
      expect(await world.version(tenant.live)).toBe(versionBefore)
    })

    it('A segment in use cannot be deleted, and its dependents are named', async () => {
      const { id } = (await post({ key: 's', rules: [isPro] })).data
      const nested = (await post({ key: 'n', name: 'Nested', rules: [asks(id)] })).data
      const flag = await flagFor(id)
      const conditions = [asks(id, 'not_in_segment')]
      const body = { name: 'Others', conditions }
      const asking = (await world.call('POST', at.rules(flag.id), { token, body })).data
      const refused = await world.call('DELETE', segment(id), { token })
      expect(refused.status).toBe(409)
      const users = refused.data.used_by
      expect(users.map(({ resource, name }: Json) => `${resource} ${name}`).sort()).toEqual([
        'segment Nested',
        'targeting_rule Members (live)',
        'targeting_rule Members (staging)',
        'targeting_rule Others (live)',
      ])
      expect(refused.message).toContain('targeting rule "Members (staging)"')
      expect(users).toContainEqual({ resource: 'segment', id: nested.id, name: 'Nested' })
      expect(users.map((each: Json) => each.id)).toContain(asking.id)

      await world.call('DELETE', at.flag(flag.id), { token })
      expect((await world.call('DELETE', segment(id), { token })).status).toBe(409)
      expect((await world.call('DELETE', segment(nested.id), { token })).data).toBe(null)
      expect((await world.call('DELETE', segment(id), { token })).data).toBe(null)
      expect((await world.call('GET', segment(id), { token })).status).toBe(404)
      expect((await keys(id, { add: ['u'] })).status).toBe(404)
      expect((await world.storage.loadFlagSet(tenant.live.id))?.segments).toEqual([])
      const again = await post({ key: 's' })
      expect(again.status).toBe(201)
      expect(again.data.id).not.toBe(id)
    })

    it('A segment is changed only if it has the expected revision', async () => {
      const { id } = (await post({ key: 's' })).data
      await put(id, { name: 'Changed' })
      const headers = { 'if-match': '"1"' }
      for (const [method, address, body] of [
        ['PUT', segment(id), { name: 'Late' }],
        ['DELETE', segment(id), undefined],
        ['POST', `${segment(id)}/keys`, { list: 'included', add: ['u'] }],
      ] as const) {
        const stale = await world.call(method, address, { token, headers, body })
        expect([method, stale.status]).toEqual([method, 409])
        expect(stale.data).toMatchObject({ name: 'Changed', revision: 2 })
      }
    })
  })

  describe('Segments with listed keys', () => {
    it('Listed keys are included or excluded in every environment', async () => {
      const { id } = (await post({ key: 's', rules: [isPro] })).data
      await flagFor(id)
      const added = await keys(id, { add: ['ann', 'bob', 'ключ'] })
      expect([added.status, added.headers['ETag']]).toEqual([200, '"2"'])
      expect(added.data).toMatchObject({ included_count: 3, excluded_count: 0, revision: 2 })
      const excluded = await keys(id, { list: 'excluded', add: ['bob', 'cy'] })
      expect(excluded.data).toMatchObject({ included_count: 3, excluded_count: 2, revision: 3 })
      for (const environment of [tenant.live, tenant.staging]) {
        expect(await isMember(user('ann'), environment)).toBe(true)
        expect(await isMember(user('ключ'), environment)).toBe(true)
        expect(await isMember(user('bob'), environment)).toBe(false)
        expect(await isMember(user('cy', { plan: 'pro' }), environment)).toBe(false)
      }
      const removed = await keys(id, { add: ['dan'], remove: ['ann', 'never there'] })
      expect(removed.data).toMatchObject({ included_count: 3, revision: 4 })
      expect(await listed(id)).toEqual({
        included: ['bob', 'ключ', 'dan'],
        excluded: ['bob', 'cy'],
      })
      expect(await get(id)).toEqual(removed.data)
    })

    it('A listed key counts once, and listing it again has no effect', async () => {
      const { id } = (await post({ key: 's' })).data
      expect((await keys(id, { add: ['u', 'u', 'v'] })).data.included_count).toBe(2)
      const traces = async () => [
        await world.audit(),
        await world.version(tenant.live),
        world.hints.length,
      ]
      const before = await traces()
      for (const body of [
        { add: ['v', 'u'] },
        { remove: ['w'] },
        { list: 'excluded', remove: ['u'] },
        {},
      ]) {
        const answer = await keys(id, body)
        expect([answer.status, answer.data.revision]).toEqual([200, 2])
      }
      expect(await traces()).toEqual(before)
    })

    it('Replacing one listed key by another is published in every environment', async () => {
      const { id } = (await post({ key: 's' })).data
      await keys(id, { add: ['u'] })
      const versions = async () => [
        await world.version(tenant.live),
        await world.version(tenant.staging),
      ]
      const [live = 0, staging = 0] = await versions()
      world.hints.length = 0
      const swapped = await keys(id, { add: ['v'], remove: ['u'] })
      expect(swapped.data).toMatchObject({ included_count: 1, revision: 3 })
      expect(await versions()).toEqual([live + 1, staging + 1])
      const hints = [
        { type: 'flagSet', environmentId: tenant.live.id, version: live + 1 },
        { type: 'flagSet', environmentId: tenant.staging.id, version: staging + 1 },
        { type: 'project', projectId: tenant.project.id },
      ]
      expect(world.hints.length).toBe(3)
      expect(world.hints).toEqual(expect.arrayContaining(hints))
      const events = (await world.audit()).filter(({ streamId }) => streamId === `segment:${id}`)
      expect(events.map(({ eventType }) => eventType).sort()).toEqual([
        'segment.created',
        'segment.updated',
        'segment.updated',
      ])
      expect(events.map(({ payload }) => payload)).toContainEqual(
        expect.objectContaining({ after: swapped.data }),
      )
    })

    it('A segment can list tens of thousands of keys, of which some can be changed', async () => {
      const { id } = (await post({ key: 's' })).data
      await flagFor(id)
      for (const start of [0, 10_000, 20_000]) {
        const answer = await keys(id, { add: keysFrom(start, 10_000) })
        expect(answer.data.included_count).toBe(start + 10_000)
      }
      const changed = await keys(id, { add: keysFrom(29_000, 2_000), remove: keysFrom(0, 500) })
      expect(changed.data.included_count).toBe(30_500)
      const contexts = ['user-499', 'user-500', 'user-30999', 'user-31000'].map((key) => user(key))
      const values = await world.evaluateEach(tenant.staging, contexts)
      expect(values.map(({ member }) => member)).toEqual([false, true, true, false])
      const single = await world.version(tenant.live)
      await keys(id, { add: ['one-more'] })
      const { segments } = await world.storage.loadChanges(tenant.live.id, single)
      expect(segments).toMatchObject([{ id, included: { added: ['one-more'], removed: [] } }])
    })

    it('Listed keys are counted correctly after concurrent changes', async () => {
      const { id } = (await post({ key: 's' })).data
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          keys(id, {
            list: n % 3 === 2 ? 'excluded' : 'included',
            add: keysFrom(n * 50, 100),
            remove: keysFrom(n * 50 + 5000, 10),
          }),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(24).fill(200))
      const union = (ns: readonly number[]) =>
        new Set(ns.flatMap((n) => keysFrom(n * 50, 100))).size
      const indexes = Array.from({ length: 24 }, (_, n) => n)
      const after = await get(id)
      expect(after).toMatchObject({
        included_count: union(indexes.filter((n) => n % 3 !== 2)),
        excluded_count: union(indexes.filter((n) => n % 3 === 2)),
        revision: 25,
      })
      for (const environment of [tenant.live, tenant.staging]) {
        const { included, excluded } = await listed(id, environment)
        expect(included?.length).toBe(after.included_count)
        expect(excluded?.length).toBe(after.excluded_count)
      }
    })

    it('A new environment has the listed keys of all segments', async () => {
      const { id } = (await post({ key: 's' })).data
      const { id: empty } = (await post({ key: 'empty', force: true })).data
      await flagFor(id)
      await keys(id, { add: ['ann', 'bob'] })
      await keys(id, { list: 'excluded', add: ['bob'] })
      const params = { projectId: tenant.project.id }
      const body = { key: 'qa' }
      const environment = await world.management.createEnvironment({ params, body })
      expect(await listed(id, environment)).toEqual({ included: ['ann', 'bob'], excluded: ['bob'] })
      expect(await listed(empty, environment)).toEqual({ included: [], excluded: [] })
      const { data } = await keys(id, { add: ['cy'] })
      expect(data.included_count).toBe(3)
      expect((await listed(id, environment)).included).toEqual(['ann', 'bob', 'cy'])
    })

    it('The key attribute of a segment cannot change while keys are listed', async () => {
      const { id } = (await post({ key: 's' })).data
      expect((await put(id, { key_attribute: 'organization.key' })).status).toBe(200)
      await keys(id, { list: 'excluded', add: ['acme'] })
      const refused = await put(id, { key_attribute: 'user.key' })
      expect([refused.status, refused.data.issues[0].path]).toEqual([409, 'key_attribute'])
      expect((await put(id, { key_attribute: 'organization.key', force: true })).status).toBe(200)
      await keys(id, { list: 'excluded', remove: ['acme'] })
      expect((await put(id, { key_attribute: 'user.key' })).status).toBe(200)
    })

    it('Too many or contradictory listed keys are refused', async () => {
      const { id } = (await post({ key: 's' })).data
      const refusals: [Json, string][] = [
        [{ list: 'others', add: ['u'] }, 'list'],
        [{ list: undefined }, 'list'],
        [{ add: 'u' }, 'add'],
        [{ add: [''] }, 'add.0'],
        [{ add: ['u', 5] }, 'add.1'],
        [{ add: ['k'.repeat(1025)] }, 'add.0'],
        [{ remove: ['a\0b'] }, 'remove.0'],
        [{ add: keysFrom(0, 10_001) }, 'add'],
        [{ add: keysFrom(0, 9_000), remove: keysFrom(10_000, 1_001) }, ''],
        [{ add: ['u', 'v'], remove: ['w', 'v'] }, 'remove.1'],
        [{ keys: ['u'] }, 'keys'],
      ]
      const before = await world.audit()
      for (const [given, path] of refusals) {
        const answer = await keys(id, given)
        expect([answer.status, answer.data.issues[0].path]).toEqual([400, path])
      }
      const long = (length: number) => ({
        add: keysFrom(0, 1_000).map((key) => key.padEnd(length, '-')),
      })
      expect((await keys(id, long(1024))).status).toBe(200)
      expect((await keys(id, { ...long(1024), remove: keysFrom(0, 9_000) })).status).toBe(413)
      const { status } = await put(id, { description: 'd'.repeat(300_000) })
      expect(status).toBe(413)
      expect((await world.audit()).length).toBe(before.length + 1)
    })
  })
})
