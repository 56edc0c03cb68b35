import type { Environment, Role } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Json, type Tenant, World } from '../world/world.ts'

const USERS = Array.from({ length: 500 }, (_, n) => ({ kind: 'user', key: `user-${n}` }))

let world: World
let tenant: Tenant
let at: string

beforeEach(async () => {
  world = await World.create()
  tenant = await world.addTenant('Acme')
  at = `/projects/${tenant.project.id}/envs`
})

const send = (method: string, address: string, body?: Json, role: Role = 'admin') =>
  world.call(method, address, { token: tenant.tokens[role], body })

async function done(method: string, address: string, body?: Json): Promise<Json> {
  const answer = await send(method, address, body)
  if (answer.status >= 300) throw new Error(answer.text)
  return answer.data
}

describe('environments', () => {
  it('Every flag is active and serves its default in a new environment', async () => {
    const flags = `/projects/${tenant.project.id}/flags`
    const flag = await done('POST', flags, { key: 'f', type: 'boolean' })
    const state = `${at}/${tenant.live.id}/flags/${flag.id}`
    await done('PUT', state, { default_variation_id: flag.variations[0].id })
    const answer = await send('POST', at, { key: 'qa', name: 'Quality', context_privacy: 'none' })
    expect(answer).toMatchObject({ status: 201, headers: { ETag: '"1"' } })
    expect(answer.data).toEqual({
      id: expect.any(String),
      project_id: tenant.project.id,
      key: 'qa',
      name: 'Quality',
      is_default: false,
      is_production: false,
      comment_required: false,
      order_index: 2,
      kept_attributes: [],
      context_privacy: 'none',
      created_at: expect.any(String),
      updated_at: expect.any(String),
      deleted_at: null,
      revision: 1,
    })
    expect(await done('GET', `${at}/${answer.data.id}`)).toEqual(answer.data)
    expect(await world.evaluate(answer.data)).toEqual({ f: false })
    expect(await done('POST', at, { key: 'bare' })).toMatchObject({
      name: 'bare',
      context_privacy: 'minimal',
    })
    const list = await send('GET', `${at}?search=qua`, undefined, 'viewer')
    expect(list.data.data).toEqual([answer.data])
    const keys = (await done('GET', at)).data.map(({ key }: Json) => key)
    expect(keys).toEqual(['live', 'staging', 'qa', 'bare'])
  })

  it('An update of an environment does not publish a version', async () => {
    const flags = `/projects/${tenant.project.id}/flags`
    await done('POST', flags, { key: 'f', type: 'boolean' })
    const version = await world.version(tenant.live)
    world.hints.length = 0
    const body = { name: 'Production', context_privacy: 'all' }
    const address = `${at}/${tenant.live.id}`
    expect(await done('PUT', address, body)).toMatchObject({ ...body, key: 'live', revision: 2 })
    expect(await done('PUT', address, { context_privacy: null })).toMatchObject({
      context_privacy: 'minimal',
    })
    expect(await world.version(tenant.live)).toBe(version)
    const changed = { type: 'project', projectId: tenant.project.id }
    expect(world.hints).toEqual([changed, changed])
    for (const field of ['key', 'id', 'project_id', 'revision', 'copy_from']) {
      const answer = await send('PUT', address, { [field]: tenant.staging.id })
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
    }
    expect((await send('PUT', address, { context_privacy: 'some' })).status).toBe(400)
    const token = tenant.tokens.admin
    const headers = { 'if-match': '"1"' }
    for (const method of ['PUT', 'DELETE']) {
      const late = { token, headers, body: method === 'PUT' ? { name: 'Late' } : undefined }
      expect((await world.call(method, address, late)).status).toBe(409)
    }
  })

  it('The default environment of a new project is a production environment, and others are not', async () => {
    const list = (await done('GET', at)).data
    const settings = list.map(({ key, is_production, comment_required, order_index }: Json) => {
      return [key, is_production, comment_required, order_index]
    })
    expect(settings).toEqual([
      ['live', true, false, 0],
      ['staging', false, false, 1],
    ])
    const staging = `${at}/${tenant.staging.id}`
    await done('PUT', staging, { is_default: true })
    const [live, after] = (await done('GET', at)).data
    expect([live.is_production, after.is_production]).toEqual([true, false])
    await done('PUT', staging, { is_production: true })
    expect(await done('GET', staging)).toMatchObject({ is_default: true, is_production: true })
    const audited = (await world.audit()).findLast(({ eventType }) => {
      return eventType === 'environment.updated'
    })
    expect(audited?.payload).toMatchObject({
      before: { is_production: false },
      after: { is_production: true },
    })
  })

  it('A copy of an environment does not have its settings', async () => {
    const settings = { comment_required: true, order_index: 9, context_privacy: 'all' }
    await done('PUT', `${at}/${tenant.live.id}`, settings)
    expect(await done('POST', at, { key: 'copy', copy_from: 'live' })).toMatchObject({
      ...{ is_default: false, is_production: false, comment_required: false },
      ...{ order_index: 10, context_privacy: 'minimal' },
    })
  })

  it('Environments are listed by `order_index`, and a new one is the last', async () => {
    const keysOf = async (address: string) =>
      (await done('GET', address)).data.map(({ key }: Json) => key)
    await done('POST', at, { key: 'first', order_index: 0, is_production: true })
    await done('PUT', `${at}/${tenant.live.id}`, { order_index: 7 })
    expect(await done('POST', at, { key: 'last' })).toMatchObject({ order_index: 8 })
    expect(await keysOf(at)).toEqual(['first', 'staging', 'live', 'last'])
    expect(await keysOf(`${at}?page=2&limit=2`)).toEqual(['live', 'last'])
    const { environments } = await done('GET', `/projects/${tenant.project.id}`)
    expect(environments.map(({ key }: Json) => key)).toEqual(['live', 'first', 'staging', 'last'])
    await done('PUT', `${at}/${tenant.live.id}`, { order_index: 1_000_000 })
    expect(await done('POST', at, { key: 'beyond' })).toMatchObject({ order_index: 1_000_000 })
  })

  it('Settings of an environment that are not valid are refused with the field', async () => {
    const before = await done('GET', at)
    for (const [field, value] of [
      ['is_production', 'yes'],
      ['comment_required', 1],
      ['order_index', -1],
      ['order_index', 0.5],
      ['order_index', 1_000_001],
      ['order_index', '2'],
      ['order_index', null],
    ] as const) {
      for (const [method, address] of [
        ['PUT', `${at}/${tenant.live.id}`],
        ['POST', at],
      ] as const) {
        const body = { ...(method === 'POST' && { key: 'new' }), [field]: value }
        const answer = await send(method, address, body)
        expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
      }
    }
    expect(await done('GET', at)).toEqual(before)
  })

  it('A project has one default environment, also after concurrent changes', async () => {
    const qa = await done('POST', at, { key: 'qa' })
    const ids = [tenant.live.id, tenant.staging.id, qa.id]
    const defaults = async () =>
      (await done('GET', at)).data.filter((each: Json) => each.is_default).map(({ id }: Json) => id)
    expect(await defaults()).toEqual([tenant.live.id])
    await done('PUT', `${at}/${qa.id}`, { is_default: true })
    expect(await defaults()).toEqual([qa.id])
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(ids.map((id) => done('PUT', `${at}/${id}`, { is_default: true })))
      expect((await defaults()).length).toBe(1)
    }
    const [id] = await defaults()
    expect(await send('PUT', `${at}/${id}`, { is_default: false })).toMatchObject({
      status: 400,
      data: { issues: [{ path: 'is_default' }] },
    })
    expect((await send('DELETE', `${at}/${id}`)).status).toBe(409)
    expect(await defaults()).toEqual([id])
    const other = ids.find((each) => each !== id)
    expect((await send('PUT', `${at}/${other}`, { is_default: false })).status).toBe(200)
  })

  it('Deleting an environment deletes its SDK keys, flag states, rules and rollouts', async () => {
    const flags = `/projects/${tenant.project.id}/flags`
    const flag = await done('POST', flags, { key: 'f', type: 'boolean' })
    const address = `${at}/${tenant.staging.id}`
    await done('POST', `${address}/flags/${flag.id}/targeting-rules`, { name: 'r', conditions: [] })
    await done('POST', `${address}/sdk-keys`, { name: 'k', kind: 'server' })
    world.hints.length = 0
    const version = await world.version(tenant.live)
    expect(await send('DELETE', address)).toMatchObject({ status: 200, data: null })
    for (const path of [address, `${address}/sdk-keys`, `${address}/flags/${flag.id}`]) {
      expect((await send('GET', path)).status).toBe(404)
    }
    expect(await world.evaluate(tenant.staging)).toEqual({})
    expect(await world.evaluate(tenant.live)).toEqual({ f: false })
    expect(await world.version(tenant.live)).toBe(version)
    expect(world.hints).toEqual([
      { type: 'flagSet', environmentId: tenant.staging.id, version: 3 },
      { type: 'sdkKeys' },
      { type: 'project', projectId: tenant.project.id },
    ])
    const where = { environmentId: tenant.staging.id }
    for (const kind of ['sdkKey', 'flagState', 'targetingRule', 'rollout'] as const) {
      expect((await world.storage.list(kind, { where })).total).toBe(0)
    }
    const variation = `${flags}/${flag.id}/variations/${flag.variations[1].id}`
    expect((await send('PUT', variation, { value: 'true' })).status).toBe(200)
    expect(await world.evaluate(tenant.staging)).toEqual({})
  })

  it('Of twenty concurrent requests to create an environment with the same key, exactly one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send('POST', at, { key: 'same' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
  })

  it('An environment that is recreated with the same key has nothing of the deleted one', async () => {
    const flags = `/projects/${tenant.project.id}/flags`
    const flag = await done('POST', flags, { key: 'f', type: 'boolean' })
    const ids = new Set<string>()
    for (let round = 0; round < 100; round += 1) {
      const environment: Environment & { readonly id: string } = await done('POST', at, {
        key: 'qa',
      })
      ids.add(environment.id)
      expect(await world.evaluate(environment)).toEqual({ f: false })
      const state = `${at}/${environment.id}/flags/${flag.id}`
      const body = { name: 'r', conditions: [], variation_id: flag.variations[0].id }
      await done('POST', `${state}/targeting-rules`, body)
      expect(await world.evaluate(environment, { kind: 'user', key: 'u' })).toEqual({ f: true })
      await done('DELETE', `${at}/${environment.id}`)
      expect(await world.evaluate(environment, { kind: 'user', key: 'u' })).toEqual({})
    }
    expect(ids.size).toBe(100)
  })
})

describe('copied environments', () => {
  let theme: Json
  let gate: Json

  beforeEach(async () => {
    const flags = `/projects/${tenant.project.id}/flags`
    const variations = ['a', 'b', 'c'].map((key) => ({ key, value: key }))
    theme = await done('POST', flags, { key: 'theme', type: 'string', variations })
    gate = await done('POST', flags, { key: 'gate', type: 'boolean' })
    const segment = await done('POST', `/projects/${tenant.project.id}/segments`, { key: 's' })
    const keys = `/projects/${tenant.project.id}/segments/${segment.id}/keys`
    await done('POST', keys, { list: 'included', add: ['user-1', 'user-2', 'user-3'] })
    const inLive = (flag: Json) => `${at}/${tenant.live.id}/flags/${flag.id}`
    const [first, second, third] = theme.variations.map(({ id }: Json) => id)
    const split = [
      { variation_id: second, weight: 33.3 },
      { variation_id: third, weight: 20 },
    ]
    const rollouts = `${inLive(theme)}/rollouts`
    const body = { name: 'Split', strategy: 'variant', variants: split }
    const rollout = await done('POST', rollouts, body)
    // After a change, the ranges cannot be derived from the weights alone.
    const variants = split.map((each) => ({ ...each, weight: each.weight / 2 }))
    await done('PUT', `${rollouts}/${rollout.id}`, { variants })
    await done('PUT', `${rollouts}/${rollout.id}`, { variants: split.toReversed() })
    const rules = `${inLive(theme)}/targeting-rules`
    await done('POST', rules, { name: 'S', segment_id: segment.id, variation_id: second })
    await done('POST', rules, { name: 'All', conditions: [], rollout_id: rollout.id })
    const on = gate.variations[0].id
    await done('PUT', inLive(gate), { default_variation_id: on })
    await done('PUT', inLive(theme), {
      off_variation_id: third,
      targets: [{ variation_id: first, kind: 'user', keys: ['user-7', 'user-8'] }],
      prerequisites: [{ flag_id: gate.id, variation_ids: [on] }],
    })
  })

  it('A copied environment serves the same values as its source', async () => {
    const copy = await done('POST', at, { key: 'copy', copy_from: tenant.live.id })
    const there = await world.evaluateEach(tenant.live, USERS)
    expect(await world.evaluateEach(copy, USERS)).toEqual(there)
    expect(new Set(there.map(({ theme: value }) => value)).size).toBe(3)
    const plain = await done('POST', at, { key: 'plain' })
    expect(await world.evaluateEach(plain, USERS)).not.toEqual(there)
    const events = (await world.audit()).map(({ eventType }) => eventType)
    expect(events.filter((type) => type === 'environment.created').length).toBe(2)
  })

  it('Changes of a copied environment do not affect its source', async () => {
    const copy = await done('POST', at, { key: 'copy', copy_from: tenant.live.id })
    const before = await world.evaluateEach(tenant.live, USERS)
    const state = `${at}/${copy.id}/flags/${theme.id}`
    const [rollout] = (await done('GET', `${state}/rollouts`)).data
    const variants = [{ variation_id: theme.variations[2].id, weight: 100 }]
    await done('PUT', `${state}/rollouts/${rollout.id}`, { variants })
    await done('PUT', state, { targets: [], prerequisites: [] })
    expect(await world.evaluateEach(tenant.live, USERS)).toEqual(before)
    await done('DELETE', `${at}/${copy.id}`)
    expect(await world.evaluateEach(tenant.live, USERS)).toEqual(before)
  })

  it('Only an environment of the same project can be copied', async () => {
    const other = await world.addTenant('Other')
    const gone = await done('POST', at, { key: 'gone' })
    await done('DELETE', `${at}/${gone.id}`)
    for (const copy_from of [other.live.id, gone.id, theme.id]) {
      const answer = await send('POST', at, { key: 'copy', copy_from })
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, 'copy_from'])
    }
    expect((await send('POST', at, { key: 'copy', copy_from: 'unknown' })).status).toBe(400)
    expect((await done('GET', at)).meta.total).toBe(2)
    expect((await send('POST', at, { key: 'copy', copy_from: null })).status).toBe(201)
  })
})
