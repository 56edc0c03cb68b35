import type { Role } from '@ff/protocol/management'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { type Json, type Tenant, World } from '../world/world.ts'

let world: World
let tenant: Tenant
let at: string

async function open(storage?: Parameters<typeof World.create>[0]): Promise<void> {
  world = await World.create(storage)
  tenant = await world.addTenant('Acme')
  at = `/organizations/${tenant.orgId}/projects`
}

const send = (method: string, address: string, body?: Json, role: Role = 'admin') =>
  world.call(method, address, { token: tenant.tokens[role], body })

async function done(method: string, address: string, body?: Json): Promise<Json> {
  const answer = await send(method, address, body)
  if (answer.status >= 300) throw new Error(answer.text)
  return answer.data
}

describe('projects', () => {
  beforeEach(() => open())

  it('A new project has the environments live and staging', async () => {
    const answer = await send('POST', at, { key: 'blog', name: 'Blog' })
    expect(answer).toMatchObject({ status: 201, headers: { ETag: '"1"' } })
    const { environments, ...project } = answer.data
    expect(project).toEqual({
      id: expect.any(String),
      org_id: tenant.orgId,
      key: 'blog',
      name: 'Blog',
      description: '',
      new_flags_client_visible: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      deleted_at: null,
      revision: 1,
    })
    expect(environments).toMatchObject([
      { project_id: project.id, key: 'live', name: 'Live', is_default: true },
      { project_id: project.id, key: 'staging', name: 'Staging', is_default: false },
    ])
    expect(await done('GET', `/projects/${project.id}`)).toEqual(answer.data)
    expect((await send('POST', at, { key: 'blog' })).status).toBe(409)
  })

  it('Projects are listed in pages, sorted by key, and can be searched by a part of the name', async () => {
    for (const key of ['zoo', 'blog']) await done('POST', at, { key, name: `The ${key}` })
    const list = async (query: string) =>
      (await send('GET', `${at}?${query}`, undefined, 'viewer')).data
    const keys = async (query: string) => (await list(query)).data.map(({ key }: Json) => key)
    expect(await keys('')).toEqual(['blog', 'shop', 'zoo'])
    expect((await list('page=2&limit=2')).meta).toEqual({ total: 3, page: 2, pageCount: 2 })
    expect(await keys('search=THE')).toEqual(['blog', 'zoo'])
    expect((await list('')).data[0]).not.toHaveProperty('environments')
  })

  it('The name and description of a project can be changed, but not its key', async () => {
    const address = `/projects/${tenant.project.id}`
    const body = { name: 'Web shop', description: 'Sells' }
    expect(await done('PUT', address, body)).toMatchObject({ ...body, key: 'shop', revision: 2 })
    expect(await done('PUT', address, { description: null })).toMatchObject({ description: '' })
    for (const field of ['key', 'id', 'org_id', 'deleted_at', 'revision', 'environments']) {
      const answer = await send('PUT', address, { [field]: crypto.randomUUID() })
      expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
    }
    const headers = { 'if-match': '"1"' }
    const token = tenant.tokens.admin
    const late = await world.call('PUT', address, { token, headers, body: { name: 'Late' } })
    expect(late).toMatchObject({ status: 409, data: { name: 'Web shop', revision: 3 } })
    expect((await world.call('DELETE', address, { token, headers })).status).toBe(409)
  })
})

describe.each(stores)('projects in %s', (_name, openStore) => {
  let clean: () => void

  beforeEach(async () => {
    const opened = openStore()
    clean = opened.clean
    await open(opened.storage)
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  it('Deleting a project deletes everything in it', async () => {
    const address = `/projects/${tenant.project.id}`
    const kept = await done('POST', at, { key: 'kept' })
    const keptFlags = `/projects/${kept.id}/flags`
    await done('POST', keptFlags, { key: 'kept', type: 'boolean' })
    const flag = await done('POST', `${address}/flags`, { key: 'f', type: 'boolean' })
    const other = await done('POST', `${address}/flags`, { key: 'g', type: 'boolean' })
    const inLive = `${address}/envs/${tenant.live.id}`
    const needs = [{ flag_id: flag.id, variation_ids: [flag.variations[0].id] }]
    await done('PUT', `${inLive}/flags/${other.id}`, { prerequisites: needs })
    const rules = `${inLive}/flags/${flag.id}/targeting-rules`
    await done('POST', rules, { name: 'r', conditions: [], variation_id: flag.variations[0].id })
    const segment = await done('POST', `${address}/segments`, { key: 's', force: true })
    await done('POST', `${address}/segments/${segment.id}/keys`, { list: 'included', add: ['u'] })
    await done('POST', `${inLive}/sdk-keys`, { name: 'k', kind: 'client' })
    expect(await world.evaluate(tenant.live, { kind: 'user', key: 'u' })).toEqual({
      f: true,
      g: false,
    })
    expect(await send('DELETE', address)).toMatchObject({ status: 200, data: null })
    const gone = [address, `${address}/envs`, `${address}/flags`, inLive, `${inLive}/sdk-keys`]
    for (const path of [...gone, rules, `${address}/segments/${segment.id}`]) {
      expect([path, (await send('GET', path)).status]).toEqual([path, 404])
    }
    for (const environment of [tenant.live, tenant.staging]) {
      const flagSet = await world.storage.loadFlagSet(environment.id)
      expect([flagSet?.flags, flagSet?.segments]).toEqual([[], []])
    }
    for (const kind of ['flagState', 'variation', 'targetingRule', 'rollout', 'segment'] as const) {
      const where = { projectId: tenant.project.id }
      expect([kind, (await world.storage.list(kind, { where })).total]).toEqual([kind, 0])
    }
    expect(world.hints).toContainEqual({ type: 'sdkKeys' })
    expect((await done('GET', keptFlags)).meta.total).toBe(1)
    const events = (await world.audit()).filter(({ projectId }) => projectId === tenant.project.id)
    const deletions = events.filter(({ payload }) => payload['after'] === null)
    expect(deletions.map(({ eventType }) => eventType)).toEqual(['project.deleted'])
  })

  it('Of twenty concurrent requests to create a project with the same key, exactly one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send('POST', at, { key: 'same' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
    const { environment_count } = await done('GET', `/organizations/${tenant.orgId}`)
    expect(environment_count).toBe(4)
  })

  it('A project that is recreated with the same key has nothing of the deleted one', async () => {
    const ids = new Set<string>()
    for (let round = 0; round < 20; round += 1) {
      const project = await done('POST', at, { key: 'again' })
      const [live] = project.environments
      ids.add(project.id).add(live.id)
      expect(await world.evaluate(live)).toEqual({})
      const body = { key: 'f', type: 'boolean' }
      const flag = await done('POST', `/projects/${project.id}/flags`, body)
      const state = `/projects/${project.id}/envs/${live.id}/flags/${flag.id}`
      await done('PUT', state, { default_variation_id: flag.variations[0].id })
      expect(await world.evaluate(live)).toEqual({ f: true })
      await done('DELETE', `/projects/${project.id}`)
      expect(await world.evaluate(live)).toEqual({})
    }
    expect(ids.size).toBe(40)
  })
})
