import { beforeEach, describe, expect, it } from 'vitest'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const UNKNOWN = '99999999-9999-4999-8999-999999999999'
const user = (key: string, attributes = {}) => ({ kind: 'user', key, ...attributes })

describe('Flags', () => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let token: string

  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
    token = tenant.tokens.editor
  })

  async function create(body: Json): Promise<Json> {
    const answer = await world.call('POST', at.flags, { token, body })
    expect(answer.text).toContain('"statusCode":201')
    return answer.data
  }

  it('A new flag is active in every environment, and a boolean one has the variations true and false', async () => {
    const flag = await create({ key: 'checkout', type: 'boolean' })
    expect(flag).toMatchObject({ key: 'checkout', name: 'checkout', tags: [], revision: 1 })
    expect(flag).toMatchObject({
      project_id: tenant.project.id,
      archived_at: null,
      deleted_at: null,
    })
    expect(flag.variations.map(({ key, is_default }: Json) => [key, is_default])).toEqual([
      ['true', false],
      ['false', true],
    ])
    expect(await world.evaluate(tenant.live)).toEqual({ checkout: false })
    expect(await world.evaluate(tenant.staging)).toEqual({ checkout: false })
    const state = await world.call('GET', at.live(flag.id), { token })
    expect(state.data).toMatchObject({
      flag_id: flag.id,
      is_active: true,
      default_variation_id: null,
    })
  })

  it('A flag of another type requires variations, and the first one is the default', async () => {
    const refused = await world.call('POST', at.flags, {
      token,
      body: { key: 'a', type: 'string' },
    })
    expect(refused.status).toBe(400)
    expect(refused.data.issues[0].path).toBe('variations')
    await create({
      key: 'theme',
      type: 'string',
      variations: [
        { key: 'light', value: 'light' },
        { key: 'dark', value: 'dark' },
      ],
    })
    await create({
      key: 'limit',
      type: 'number',
      variations: [
        { key: 'few', value: '5' },
        { key: 'many', value: '50', is_default: true },
      ],
    })
    await create({ key: 'banner', type: 'json', variations: [{ key: 'a', value: '{"x":[1]}' }] })
    const expected = { theme: 'light', limit: 50, banner: { x: [1] } }
    expect(await world.evaluate(tenant.live)).toEqual(expected)
  })

  it.each([
    [[{ key: 'a', value: 'yes' }], 'variations.0.value'],
    [
      [
        { key: 'a', value: 'true' },
        { key: 'a', value: 'false' },
      ],
      'variations.1.key',
    ],
    [
      [
        { key: 'a', value: 'true', is_default: true },
        { key: 'b', value: 'false', is_default: true },
      ],
      'variations.1.is_default',
    ],
    [[], 'variations'],
    [[{ key: 'a', value: true }], 'variations.0.value'],
    [[{ value: 'true' }], 'variations.0.key'],
  ])('A flag is refused with the invalid variations %j', async (variations, path) => {
    const body = { key: 'checkout', type: 'boolean', variations }
    const answer = await world.call('POST', at.flags, { token, body })
    expect(answer.status).toBe(400)
    expect(answer.data.issues[0].path).toBe(path)
    expect(await world.evaluate(tenant.live)).toEqual({})
  })

  it('Flags are listed by key, with filters and in pages', async () => {
    await create({ key: 'c', type: 'boolean', name: 'Third', tags: ['shop'] })
    const archived = await create({ key: 'b', type: 'boolean', tags: ['shop', 'old'] })
    await create({ key: 'a', type: 'boolean', description: 'the third one, too' })
    await world.call('PUT', at.flag(archived.id), { token, body: { archived: true } })
    const keys = async (query: string) => {
      const { data } = await world.call('GET', `${at.flags}?${query}`, { token })
      return [data.data.map(({ key }: Json) => key).join(''), data.meta]
    }
    expect(await keys('')).toEqual(['abc', { total: 3, page: 1, pageCount: 1 }])
    expect(await keys('limit=2')).toEqual(['ab', { total: 3, page: 1, pageCount: 2 }])
    expect(await keys('limit=2&page=2')).toEqual(['c', { total: 3, page: 2, pageCount: 2 }])
    expect(await keys('limit=2&page=3')).toEqual(['', { total: 3, page: 3, pageCount: 2 }])
    expect((await keys('tag=shop'))[0]).toBe('bc')
    expect((await keys('archived=true'))[0]).toBe('b')
    expect((await keys('archived=false'))[0]).toBe('ac')
    expect((await keys('search=THIRD'))[0]).toBe('ac')
    expect((await keys('search=third&tag=shop&archived=false'))[0]).toBe('c')
  })

  it('A change of a flag keeps absent fields and clears fields that are null', async () => {
    const flag = await create({ key: 'a', type: 'boolean', description: 'x', tags: ['t'] })
    const renamed = await world.call('PUT', at.flag(flag.id), { token, body: { name: 'A flag' } })
    expect(renamed.data).toMatchObject({
      name: 'A flag',
      description: 'x',
      tags: ['t'],
      revision: 2,
    })
    const body = { description: null, tags: null }
    const cleared = await world.call('PUT', at.flag(flag.id), { token, body })
    expect(cleared.data).toMatchObject({ name: 'A flag', description: '', tags: [], revision: 3 })
    const refused = await world.call('PUT', at.flag(flag.id), { token, body: { name: null } })
    expect(refused.data.issues[0].path).toBe('name')
    const { data } = await world.call('GET', at.flag(flag.id), { token })
    expect(data).toEqual(cleared.data)
  })

  it('The key and the type of a flag never change', async () => {
    const flag = await create({ key: 'a', type: 'boolean' })
    const altered = {
      key: 'b',
      type: 'string',
      id: UNKNOWN,
      created_at: '2000-01-01T00:00:00.000Z',
      revision: 2,
      project_id: UNKNOWN,
      archived_at: '2000-01-01T00:00:00.000Z',
    }
    for (const [field, value] of Object.entries(altered)) {
      const answer = await world.call('PUT', at.flag(flag.id), { token, body: { [field]: value } })
      expect(answer.status).toBe(400)
      expect(answer.data.issues[0].path).toBe(field)
    }
  })

  it('An archived flag is absent from results', async () => {
    const flag = await create({ key: 'a', type: 'boolean' })
    const archived = await world.call('PUT', at.flag(flag.id), { token, body: { archived: true } })
    expect(archived.data.archived_at).toBe(new Date(world.clock.now()).toISOString())
    expect(await world.evaluate(tenant.live)).toEqual({})
    const back = await world.call('PUT', at.flag(flag.id), { token, body: { archived: false } })
    expect(back.data.archived_at).toBe(null)
    expect(await world.evaluate(tenant.live)).toEqual({ a: false })
  })

  it('A deleted flag is not found, and its key can be used again', async () => {
    const flag = await create({ key: 'a', type: 'boolean' })
    const taken = await world.call('POST', at.flags, { token, body: { key: 'a', type: 'boolean' } })
    expect(taken.status).toBe(409)
    expect(taken.data.issues[0].path).toBe('key')
    await world.call('POST', at.rules(flag.id), { token, body: { name: 'r' } })
    const deleted = await world.call('DELETE', at.flag(flag.id), { token })
    expect(deleted).toMatchObject({ status: 200, message: 'OK', data: null })
    expect(await world.evaluate(tenant.live)).toEqual({})
    for (const path of [
      at.flag(flag.id),
      at.live(flag.id),
      at.rules(flag.id),
      at.variations(flag.id),
    ]) {
      expect((await world.call('GET', path, { token })).status).toBe(404)
    }
    expect((await world.call('DELETE', at.flag(flag.id), { token })).status).toBe(404)
    for (const kind of ['variation', 'flagState', 'targetingRule'] as const) {
      expect((await world.storage.list(kind, {})).total).toBe(0)
    }
    const again = await create({ key: 'a', type: 'boolean' })
    expect(again.id).not.toBe(flag.id)
    expect(await world.evaluate(tenant.live)).toEqual({ a: false })
  })

  it('A flag cannot be deleted or archived while another resource depends on it', async () => {
    const base = await create({ key: 'base', type: 'boolean' })
    const leaf = await create({ key: 'leaf', type: 'boolean' })
    const other = await create({ key: 'other', type: 'boolean' })
    const variation_ids = [base.variations[0].id]
    const body = { prerequisites: [{ flag_id: base.id, variation_ids }] }
    expect((await world.call('PUT', at.live(leaf.id), { token, body })).status).toBe(200)
    const condition = { attribute: 'base', operator: 'flag_is', value: 'true' }
    const asking = { name: 'Asks', conditions: [condition] }
    const rule = await world.call('POST', at.rules(other.id), { token, body: asking })
    const inProject = { params: { projectId: tenant.project.id } }
    const segment = await world.management.createSegment({
      ...inProject,
      body: { key: 's', rules: [condition] },
    })
    const users = [
      expect.objectContaining({ resource: 'flag_state', name: 'leaf (live)' }),
      { resource: 'targeting_rule', id: rule.data.id, name: 'Asks (live)' },
      { resource: 'segment', id: segment.id, name: 's' },
    ]
    const deletion = await world.call('DELETE', at.flag(base.id), { token })
    expect(deletion).toMatchObject({ status: 409, data: { used_by: users } })
    const archive = { token, body: { archived: true } }
    const archiving = await world.call('PUT', at.flag(base.id), archive)
    expect(archiving).toMatchObject({ status: 409, data: { used_by: users } })
    const yes = `${at.variations(base.id)}/${base.variations[0].id}`
    expect(await world.call('DELETE', yes, { token })).toMatchObject({
      status: 409,
      data: { used_by: users },
    })
    expect(await world.evaluate(tenant.live)).toEqual({ base: false, leaf: false, other: false })
  })

  it('A new environment has all flags with their defaults', async () => {
    await create({ key: 'a', type: 'boolean' })
    const params = { projectId: tenant.project.id }
    const body = { key: 'preview' }
    const environment = await world.management.createEnvironment({ params, body })
    expect(environment).toMatchObject({ key: 'preview', name: 'preview', isDefault: false })
    expect(await world.evaluate(environment)).toEqual({ a: false })
  })

  it('An unknown, deleted or malformed flag id returns 404 or 400', async () => {
    expect((await world.call('GET', at.flag(UNKNOWN), { token })).status).toBe(404)
    expect((await world.call('GET', at.flag('x'), { token })).status).toBe(404)
    expect((await world.call('GET', at.flag('.x'), { token })).data.issues[0].path).toBe('flagId')
    const state = `/projects/${tenant.project.id}/envs/.x/flags/${UNKNOWN}`
    expect((await world.call('GET', state, { token })).data.issues[0].path).toBe('envId')
  })

  describe('Flags in an environment', () => {
    it('A flag can be switched off in one environment only', async () => {
      const flag = await create({ key: 'a', type: 'boolean' })
      const [yes, no] = flag.variations
      const body = { default_variation_id: yes.id, off_variation_id: no.id }
      await world.call('PUT', at.live(flag.id), { token, body })
      expect(await world.evaluate(tenant.live)).toEqual({ a: true })
      const off = await world.call('PUT', at.live(flag.id), { token, body: { is_active: false } })
      expect(off.data).toMatchObject({
        is_active: false,
        default_variation_id: yes.id,
        revision: 3,
      })
      expect(await world.evaluate(tenant.live)).toEqual({ a: false })
      await world.call('PUT', at.live(flag.id), { token, body: { off_variation_id: null } })
      expect(await world.evaluate(tenant.live)).toEqual({ a: true })
      expect(await world.evaluate(tenant.staging)).toEqual({ a: false })
    })

    it('A flag serves a variation to individual targets', async () => {
      const flag = await create({ key: 'a', type: 'boolean' })
      const target = { variation_id: flag.variations[0].id, kind: 'user', keys: ['u1'] }
      await world.call('PUT', at.live(flag.id), { token, body: { targets: [target] } })
      expect(await world.evaluate(tenant.live, user('u1'))).toEqual({ a: true })
      expect(await world.evaluate(tenant.live, user('u2'))).toEqual({ a: false })
      await world.call('PUT', at.live(flag.id), { token, body: { targets: null } })
      expect(await world.evaluate(tenant.live, user('u1'))).toEqual({ a: false })
    })

    it('A flag state refuses ids of other flags and names the field', async () => {
      const flag = await create({ key: 'a', type: 'boolean' })
      const other = await create({ key: 'b', type: 'boolean' })
      const foreign = other.variations[0].id
      const own = flag.variations[0].id
      const target = (variation_id: string, keys = ['k']) => ({ variation_id, kind: 'user', keys })
      const needs = (flag_id: string, variation_id: string) => [
        { flag_id, variation_ids: [variation_id] },
      ]
      const cases: [Json, string][] = [
        [{ default_variation_id: foreign }, 'default_variation_id'],
        [{ off_variation_id: UNKNOWN }, 'off_variation_id'],
        [{ targets: [target(own), target(foreign)] }, 'targets.1.variation_id'],
        [{ targets: [target(own), target(own)] }, 'targets.1.keys'],
        [{ targets: [{ ...target(own), kind: 'multi' }] }, 'targets.0.kind'],
        [{ prerequisites: needs(UNKNOWN, own) }, 'prerequisites.0.flag_id'],
        [{ prerequisites: needs(flag.id, own) }, 'prerequisites.0.flag_id'],
        [{ prerequisites: needs(other.id, own) }, 'prerequisites.0.variation_ids.0'],
        [{ is_active: null }, 'is_active'],
        [{ flag_id: other.id }, 'flag_id'],
      ]
      for (const [body, path] of cases) {
        const answer = await world.call('PUT', at.live(flag.id), { token, body })
        expect([answer.status, answer.data.issues[0].path]).toEqual([400, path])
      }
      expect((await world.call('GET', at.live(flag.id), { token })).data.revision).toBe(1)
    })

    it('Circular prerequisites are refused', async () => {
      const a = await create({ key: 'a', type: 'boolean' })
      const b = await create({ key: 'b', type: 'boolean' })
      const needs = (flag: Json) => ({
        prerequisites: [{ flag_id: flag.id, variation_ids: [flag.variations[0].id] }],
      })
      expect((await world.call('PUT', at.live(a.id), { token, body: needs(b) })).status).toBe(200)
      const answer = await world.call('PUT', at.live(b.id), { token, body: needs(a) })
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, 'prerequisites'])
      const elsewhere = await world.call('PUT', at.staging(b.id), { token, body: needs(a) })
      expect(elsewhere.status).toBe(200)
    })
  })
})
