import { type EndpointName, endpoints, readOnlyFieldsOf } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import { paramsIn, table } from '../world/refusals.ts'
import { addressOf, createScene, NAMES, type Scene, tracesOf } from '../world/scene.ts'
import { type Answer, addressesOf, type Json } from '../world/world.ts'

/**
 * The endpoints with the method PUT that change no single record. `configuration.test.ts` sends
 * configurations back.
 */
const OTHERS: readonly EndpointName[] = [
  'updateFlagConfiguration',
  'setOrganizationPlan',
  'reorderVariations',
  'reorderTargetingRules',
]
/** The endpoints that change a record which another endpoint returns. */
const CHANGES = NAMES.filter((name) => {
  return readOnlyFieldsOf(table[name].body).size > 0 && !OTHERS.includes(name)
})
/** The lists of the records that no endpoint returns alone, and the field that identifies them. */
const LISTS: Readonly<Partial<Record<EndpointName, readonly [EndpointName, string]>>> = {
  updateVariation: ['listVariations', 'id'],
  updateMember: ['listMembers', 'user_id'],
}

/** Returns the record that an endpoint changes, as a client reads it. */
async function read(scene: Scene, name: EndpointName): Promise<Json> {
  const token = scene.mine.tokens.platform
  const [list, field] = LISTS[name] ?? []
  const get = async (address: string) => (await scene.world.call('GET', address, { token })).data
  if (list === undefined || field === undefined) return get(addressOf(scene, name))
  const id = scene.params[paramsIn(name).at(-1) ?? '']
  return (await get(addressOf(scene, list))).data.find((each: Json) => each[field] === id)
}

function put(scene: Scene, name: EndpointName, body: Json, headers = {}): Promise<Answer> {
  const token = scene.mine.tokens.platform
  return scene.world.call('PUT', addressOf(scene, name), { token, body, headers })
}

/** Returns another value of the same type, if there is one. */
function altered(value: Json): Json {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return `${value}0`
  if (Array.isArray(value)) return [...value, {}]
  return value === null || value === undefined ? 'x' : { ...value, more: 1 }
}

describe('A record that is read and sent back', () => {
  it('Every record that can be changed accepts its read-only fields', () => {
    const puts = NAMES.filter((name) => endpoints[name].method === 'PUT')
    expect([...CHANGES, ...OTHERS].sort()).toEqual(puts.sort())
  })

  it.each(CHANGES)('%s accepts the unchanged record and changes nothing', async (name) => {
    const scene = await createScene()
    const [record, before] = [await read(scene, name), await tracesOf(scene)]
    const answer = await put(scene, name, record)
    expect([answer.status, answer.message]).toEqual([200, 'OK'])
    expect(answer.headers['ETag']).toBe(`"${record.revision}"`)
    expect(await read(scene, name)).toEqual(record)
    expect(await tracesOf(scene)).toEqual(before)
  })

  it.each(CHANGES)('%s accepts the record with changed writable fields', async (name) => {
    const [byRecord, byFields] = [await createScene(), await createScene()]
    const record = await read(byRecord, name)
    const changes = byRecord.bodies[name]
    expect((await put(byRecord, name, { ...record, ...changes })).status).toBe(200)
    expect((await put(byFields, name, byFields.bodies[name])).status).toBe(200)
    const [changed, expected] = [await read(byRecord, name), await read(byFields, name)]
    expect(changed.revision).toBe(record.revision + 1)
    expect(Object.keys(changed)).toEqual(Object.keys(expected))
    for (const field of Object.keys(changes)) expect(changed[field]).toEqual(expected[field])
  })

  it.each(CHANGES)('%s refuses each changed read-only field and changes nothing', async (name) => {
    const scene = await createScene()
    const [record, before] = [await read(scene, name), await tracesOf(scene)]
    const fields = [...readOnlyFieldsOf(table[name].body).values()]
    const message = 'is read-only; omit it or send the stored value'
    for (const field of fields) {
      for (const value of [altered(record[field]), { unexpected: [] }]) {
        const answer = await put(scene, name, { ...record, [field]: value })
        const expected = [400, `${field}: ${message}`, [{ path: field, message }]]
        expect([answer.status, answer.message, answer.data.issues]).toEqual(expected)
      }
    }
    const all = Object.fromEntries(fields.map((field) => [field, altered(record[field])]))
    const { data } = await put(scene, name, all)
    const paths = data.issues.map(({ path }: Json) => path)
    expect(paths.sort()).toEqual(fields.sort().slice(0, 20))
    expect(await read(scene, name)).toEqual(record)
    expect(await tracesOf(scene)).toEqual(before)
  })

  it.each(CHANGES)('%s refuses unknown fields and stale revisions as before', async (name) => {
    const scene = await createScene()
    const record = await read(scene, name)
    const unknown = await put(scene, name, { ...record, unknown: 1 })
    expect([unknown.status, unknown.data.issues]).toEqual([
      400,
      [{ path: 'unknown', message: 'is not a known field' }],
    ])
    const headers = { 'if-match': `"${record.revision}"` }
    expect((await put(scene, name, scene.bodies[name], headers)).status).toBe(200)
    const stale = await put(scene, name, { ...record, ...scene.bodies[name] }, headers)
    expect([stale.status, stale.data.revision]).toEqual([409, record.revision + 1])
  })

  it('Records with all optional parts can be sent back', async () => {
    const scene = await createScene()
    const { world, mine } = scene
    const { project, live, tokens } = mine
    const at = addressesOf(mine)
    const done = async (method: string, address: string, body?: Json) => {
      const answer = await world.call(method, address, { token: tokens.owner, body })
      expect([address, answer.status]).toEqual([address, expect.toBeOneOf([200, 201])])
      return answer.data
    }
    const flag = scene.params['flagId'] ?? ''
    const other = await done('POST', at.flags, { key: 'other', type: 'boolean', tags: ['t'] })
    await done('POST', `${at.segments}/s/keys`, { list: 'included', add: ['u'] })
    const conditions = [{ attribute: 'user.age', operator: 'gt', value: 5, negate: true }]
    const rule = { name: 'r', segment_id: 's', conditions, variation_id: 'b' }
    const gradual = {
      ...{ name: 'g', strategy: 'gradual', variation_id: 'a', target_percentage: 50 },
      ...{ increment: 12.5, interval_hours: 24 },
    }
    const variants = [{ variation_id: 'a', weight: 33.333 }]
    await done('PUT', at.live(flag), {
      default_variation_id: 'b',
      targets: [{ variation_id: 'a', kind: 'user', keys: ['u'] }],
      prerequisites: [{ flag_id: 'other', variation_ids: ['true'] }],
    })
    const rules = `${at.live(flag)}/targeting-rules`
    const rollouts = `${at.live(flag)}/rollouts`
    const posted = { name: 'v', strategy: 'variant', variants }
    const addresses = [
      `${rules}/${(await done('POST', rules, rule)).id}`,
      `${rollouts}/${(await done('POST', rollouts, gradual)).id}`,
      `${rollouts}/${(await done('POST', rollouts, posted)).id}`,
      at.live(flag),
      at.flag(other.id),
      `${at.segments}/s`,
      `/projects/${project.id}`,
      `/projects/${project.id}/envs/${live.id}`,
    ]
    for (const address of addresses) {
      const record = await done('GET', address)
      const before = await tracesOf(scene)
      await done('PUT', address, record)
      expect(await done('GET', address)).toEqual(record)
      expect(await tracesOf(scene)).toEqual(before)
    }
  })

  it('An archived flag has a writable archived and a read-only archived_at', async () => {
    const { world, mine } = await createScene()
    const address = '/projects/shop/flags/secret-flag'
    const call = async (method: string, path: string, body?: Json) =>
      (await world.call(method, path, { token: mine.tokens.editor, body })).data
    const flag = await call('GET', address)
    expect(flag).toMatchObject({ archived: false, archived_at: null })
    const now = new Date(world.clock.now()).toISOString()
    const archived = await call('PUT', address, { ...flag, archived: true })
    expect(archived).toMatchObject({ archived: true, archived_at: now })
    expect((await call('GET', '/projects/shop/flags')).data).toMatchObject([{ archived: true }])
    const restored = await call('PUT', address, { ...archived, archived: false })
    expect(restored).toMatchObject({ archived: false, archived_at: null })
    const refused = await call('PUT', address, { archived_at: now })
    expect(refused.issues[0].path).toBe('archived_at')
  })

  it('A value that evaluations have increased since it was read is accepted', async () => {
    const scene = await createScene()
    const { storage } = scene.world
    const { flagId = '', orgId = '' } = scene.params
    const [flag, organization] = [
      await read(scene, 'updateFlag'),
      await read(scene, 'updateOrganization'),
    ]
    const [earlier, later, future] = [1, 2, 3].map((day) => `2030-01-0${day}T00:00:00.000Z`)
    const put2 = async (name: EndpointName, body: Json) => (await put(scene, name, body)).status
    await storage.update('flag', flagId, { lastEvaluatedAt: later ?? '' })
    await storage.update('organization', orgId, { apiUsage: 5 })
    expect(await put2('updateFlag', { ...flag, name: 'a' })).toBe(200)
    expect(await put2('updateFlag', { last_evaluated_at: earlier })).toBe(200)
    expect(await put2('updateFlag', { last_evaluated_at: future })).toBe(400)
    expect(await put2('updateFlag', { last_evaluated_at: 0 })).toBe(400)
    expect(await put2('updateFlag', { last_evaluated_at: '' })).toBe(400)
    expect(await put2('updateOrganization', { ...organization, name: 'a' })).toBe(200)
    await storage.addApiCalls([{ organizationId: orgId, instanceId: 'instance', calls: 3 }])
    expect(await put2('updateOrganization', { api_usage: 8 })).toBe(200)
    expect(await put2('updateOrganization', { api_usage: 9 })).toBe(400)
    expect(await put2('updateOrganization', { api_usage: null })).toBe(400)
    expect((await storage.find('organization', orgId))?.apiUsage).toBe(8)
    expect((await storage.find('flag', flagId))?.lastEvaluatedAt).toBe(later)
  })
})

describe('Records in process', () => {
  it('A record of a use case can be sent back, but not with changed read-only fields', async () => {
    const { world, mine } = await createScene()
    const actor = { id: 'a', email: '', name: 'A', role: 'admin', orgId: mine.orgId } as const
    const flags = world.as(actor)
    const params = { projectId: 'shop', flagId: 'secret-flag' }
    const flag = await flags.getFlag({ params })
    const changed = await flags.updateFlag({ params, body: { ...flag, name: 'New' } })
    expect(changed).toMatchObject({ name: 'New', revision: flag.revision + 1 })
    const body = { ...changed, createdAt: '2000-01-01T00:00:00.000Z', key: 'taken' }
    await expect(flags.updateFlag({ params, body })).rejects.toMatchObject({
      details: { issues: [{ path: 'key' }, { path: 'created_at' }] },
    })
    expect(await flags.getFlag({ params })).toEqual(changed)
  })
})

describe('Records in scheduled changes', () => {
  it('The read-only fields of a scheduled body are checked once and not stored', async () => {
    const scene = await createScene()
    const { world, mine } = scene
    const state = '/projects/shop/envs/live/flags/secret-flag'
    const call = (method: string, path: string, body?: Json) =>
      world.call(method, path, { token: mine.tokens.editor, body })
    const record = (await call('GET', state)).data
    const schedule = (body: Json) =>
      call('POST', `${state}/scheduled-changes`, {
        apply_at: '2030-06-01T00:00:00Z',
        operation: 'updateFlagState',
        body,
      })
    const refused = await schedule({ ...record, revision: 9 })
    expect([refused.status, refused.data.issues[0].path]).toEqual([400, 'body.revision'])
    const { data } = await schedule({ ...record, is_active: false })
    const { is_active, default_variation_id, off_variation_id, targets, prerequisites } = record
    const writable = { default_variation_id, off_variation_id, targets, prerequisites }
    expect(data.body).toEqual({ ...writable, is_active: !is_active })
    await call('PUT', state, { is_active: false })
    await call('PUT', state, { is_active: true })
    await world.clock.advance(Date.parse('2030-06-02T00:00:00Z') - world.clock.now())
    await world.runJob('apply scheduled changes')
    expect((await call('GET', state)).data.is_active).toBe(false)
  })
})
