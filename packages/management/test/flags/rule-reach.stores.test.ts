import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const isPro = { attribute: 'plan', operator: 'eq', value: 'pro' }

describe.each(stores)('The contexts that a targeting rule matches, in %s', (_name, open) => {
  let world: World
  let tenant: Tenant
  let rules: string
  let yes: string
  let segment: Json
  let clean: () => void

  beforeEach(async () => {
    const opened = open()
    clean = opened.clean
    world = await World.create(opened.storage)
    tenant = await world.addTenant('Acme')
    const at = addressesOf(tenant)
    const flag = (await call('POST', at.flags, { key: 'a', type: 'boolean' })).data
    const segments = `/projects/${tenant.project.id}/segments`
    segment = (await call('POST', segments, { key: 's', rules: [isPro] })).data
    yes = flag.variations[0].id
    rules = at.rules(flag.id)
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  const call = (method: string, address: string, body?: Json) =>
    world.call(method, address, { token: tenant.tokens.editor, body })
  const create = (body: Json) => call('POST', rules, { name: 'r', variation_id: yes, ...body })
  const valueFor = async (plan: string) =>
    (await world.evaluate(tenant.live, { kind: 'user', key: 'u', plan }))['a']

  it('A rule without conditions and segment is refused unless the list of conditions is explicitly empty', async () => {
    for (const body of [{}, { kind: 'custom' }, { conditions: null }, { segment_id: null }]) {
      const answer = await create(body)
      expect([body, answer.status]).toEqual([body, 400])
      expect(answer.data.issues[0].path).toBe('conditions')
    }
    expect(await valueFor('free')).toBe(false)
    expect((await create({ conditions: [] })).status).toBe(201)
    expect(await valueFor('free')).toBe(true)
  })

  it('A change with conditions of null is refused and keeps the conditions', async () => {
    const { id } = (await create({ conditions: [isPro] })).data
    for (const body of [{ conditions: null }, { kind: 'custom', conditions: null }]) {
      const answer = await call('PUT', `${rules}/${id}`, body)
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, 'conditions'])
    }
    expect((await call('GET', `${rules}/${id}`)).data).toMatchObject({ revision: 1 })
    expect(await valueFor('free')).toBe(false)
  })

  it('A rule that becomes custom loses its segment', async () => {
    const { id } = (await create({ segment_id: segment.id })).data
    const change = { kind: 'custom', conditions: [{ ...isPro, value: 'team' }] }
    const changed = await call('PUT', `${rules}/${id}`, change)
    expect(changed.data.rule).toMatchObject({ kind: 'custom', segment_id: null })
    expect([await valueFor('pro'), await valueFor('team')]).toEqual([false, true])
  })

  it('A rule that becomes custom keeps a segment that the change names', async () => {
    const { id } = (await create({ segment_id: segment.id })).data
    const change = { kind: 'custom', conditions: [], segment_id: segment.id }
    const changed = await call('PUT', `${rules}/${id}`, change)
    expect(changed.data.rule).toMatchObject({ kind: 'custom', segment_id: segment.id })
    expect([await valueFor('pro'), await valueFor('team')]).toEqual([true, false])
  })
})
