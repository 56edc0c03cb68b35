import type { Role } from '@ff/protocol/management'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { type Json, type Tenant, World } from '../world/world.ts'

const WRITERS = 16
const ROUNDS = 12

let world: World
let tenant: Tenant
let at: string

async function open(storage?: Parameters<typeof World.create>[0]): Promise<void> {
  world = await World.create(storage)
  tenant = await world.addTenant('Acme')
  at = `/organizations/${tenant.orgId}`
}

const send = (method: string, address: string, body?: Json, role: Role = 'owner') =>
  world.call(method, address, { token: tenant.tokens[role], body })

async function done(method: string, address: string, body?: Json, role?: Role): Promise<Json> {
  const answer = await send(method, address, body, role)
  if (answer.status >= 300) throw new Error(answer.text)
  return answer.data
}

describe('organizations', () => {
  beforeEach(() => open())

  it('The platform creates an organization, and only its own actors can read it', async () => {
    const body = { name: 'New', billing_email: 'bills@new.test' }
    const founded = await send('POST', '/organizations', body, 'platform')
    expect(founded).toMatchObject({ status: 201, headers: { ETag: '"1"' } })
    expect(founded.data).toEqual({
      id: expect.any(String),
      ...body,
      metadata: {},
      plan_id: null,
      flag_count: 0,
      project_count: 0,
      environment_count: 0,
      trial_starts_at: null,
      trial_ends_at: null,
      current_period_end: null,
      api_usage: 0,
      has_used_paid_trial: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      deleted_at: null,
      revision: 1,
    })
    expect(await done('GET', `/organizations/${founded.data.id}`, undefined, 'platform')).toEqual(
      founded.data,
    )
    expect((await send('GET', `/organizations/${founded.data.id}`)).status).toBe(404)
    expect(await done('GET', at, undefined, 'viewer')).toMatchObject({ name: 'Acme' })
  })

  it('Organizations are listed in pages, sorted by name, and can be searched by a part of the name', async () => {
    const names = ['Delta', 'Alpha', 'Charlie', 'Bravo']
    for (const name of names) await world.management.createOrganization({ body: { name } })
    const list = async (query: string) =>
      (await done('GET', `/organizations?${query}`, undefined, 'platform')) as Json
    const seen: string[] = []
    for (const page of [1, 2, 3]) {
      const { data, meta } = await list(`page=${page}&limit=2`)
      expect(meta).toEqual({ total: 5, page, pageCount: 3 })
      seen.push(...data.map(({ name }: Json) => name))
    }
    expect(seen).toEqual(['Acme', 'Alpha', 'Bravo', 'Charlie', 'Delta'])
    expect((await list('search=ALPHA')).data.map(({ name }: Json) => name)).toEqual(['Alpha'])
    const bad = ['page=0', 'limit=101', 'limit=-1', 'page=1.5', 'limit=ten', 'search=', 'name=x']
    for (const query of bad) {
      const answer = await send('GET', `/organizations?${query}`)
      expect([query, answer.status]).toEqual([query, 400])
    }
  })

  it('An update of an organization changes only the fields that are sent', async () => {
    const body = { name: 'Acme Ltd', billing_email: 'b@acme.test' }
    expect(await done('PUT', at, body, 'admin')).toMatchObject({ ...body, revision: 2 })
    const cleared = await send('PUT', at, { billing_email: null })
    expect(cleared.data).toMatchObject({ name: 'Acme Ltd', billing_email: null, revision: 3 })
    expect(cleared.headers['ETag']).toBe('"3"')
    const late = await world.call('PUT', at, {
      token: tenant.tokens.owner,
      headers: { 'if-match': '"2"' },
      body: { name: 'Late' },
    })
    expect(late).toMatchObject({ status: 409, data: { name: 'Acme Ltd', revision: 3 } })
    const [event] = (await world.audit()).filter(
      ({ eventType, payload }) =>
        eventType === 'organization.updated' && (payload['after'] as Json).revision === 2,
    )
    expect(event).toMatchObject({
      streamId: `organization:${tenant.orgId}`,
      orgId: tenant.orgId,
      projectId: '',
      payload: { before: { name: 'Acme' }, after: body },
    })
  })

  it('Fields that the server maintains cannot be set by any role', async () => {
    const before = await done('GET', at)
    const fields: Json = {
      id: tenant.project.id,
      plan_id: tenant.project.id,
      flag_count: 9,
      project_count: 9,
      environment_count: 9,
      trial_starts_at: '2000-01-01T00:00:00.000Z',
      trial_ends_at: '2099-01-01T00:00:00.000Z',
      current_period_end: '2099-01-01T00:00:00.000Z',
      api_usage: 9,
      has_used_paid_trial: true,
      created_at: '2000-01-01T00:00:00.000Z',
      deleted_at: '2099-01-01T00:00:00.000Z',
      revision: 9,
      metadata: { taken: true },
      role: 'owner',
    }
    for (const [field, value] of Object.entries(fields)) {
      for (const role of ['admin', 'owner', 'platform'] as const) {
        const answer = await send('PUT', at, { name: 'Taken', [field]: value }, role)
        expect([field, answer.status, answer.data.issues[0].path]).toEqual([field, 400, field])
      }
      const founding = await send(
        'POST',
        '/organizations',
        { name: 'x', [field]: value },
        'platform',
      )
      expect([field, founding.status]).toEqual([field, 400])
    }
    expect(await done('GET', at)).toEqual(before)
  })

  it.each([
    ['', 'name'],
    ['two\nlines', 'name'],
    ['nul\u0000', 'name'],
    ['x'.repeat(257), 'name'],
    [7, 'name'],
    ['b@acme.test\r\nBcc: all@acme.test', 'billing_email'],
    ['b@acme.test, c@acme.test', 'billing_email'],
    ['Bills <b@acme.test>', 'billing_email'],
    ['b@acme', 'billing_email'],
    [`${'b'.repeat(250)}@acme.test`, 'billing_email'],
    ['javascript:alert(1)', 'billing_email'],
    [{ toString: [] }, 'billing_email'],
  ])('The value %j is refused as %s', async (value, field) => {
    const before = await done('GET', at)
    const answer = await send('PUT', at, { [field]: value })
    expect([answer.status, answer.data.issues[0].path]).toEqual([400, field])
    expect(await done('GET', at)).toEqual(before)
  })
})

describe('metadata', () => {
  beforeEach(() => open())

  const metadata = async () => (await done('GET', at)).metadata
  const update = (metadata_updates: Json, metadata_deletes: Json = []) =>
    send('PUT', at, { metadata_updates, metadata_deletes })

  it('Metadata entries are any JSON, are replaced as a whole, and can be deleted by key', async () => {
    const entries = { text: 'a', number: 1.5, nothing: null, list: [1, [2]], deep: { a: { b: 1 } } }
    expect((await update(entries)).data.metadata).toEqual(entries)
    expect((await update({ deep: { c: 2 } }, ['text', 'unknown'])).data.metadata).toEqual({
      number: 1.5,
      nothing: null,
      list: [1, [2]],
      deep: { c: 2 },
    })
    const { revision } = await done('GET', at)
    expect((await update({ number: 1.5 }, ['unknown'])).data.revision).toBe(revision)
  })

  it('Names of JavaScript built-ins are ordinary metadata keys', async () => {
    const names = [
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '0',
      ' ',
      'größe',
      '💡',
    ]
    const entries = Object.fromEntries(names.map((name) => [name, { polluted: name }]))
    expect((await update(entries)).data.metadata).toEqual(entries)
    expect(await metadata()).toEqual(entries)
    expect((await update({}, ['constructor'])).data.metadata).not.toHaveProperty(['constructor'])
    expect((await update({}, names)).data.metadata).toEqual({})
    expect(({} as Json).polluted).toBe(undefined)
  })

  it('The key __proto__ is refused at every level of the metadata', async () => {
    const bodies = [
      '{"metadata_updates":{"__proto__":{"polluted":1}}}',
      '{"metadata_updates":{"a":{"__proto__":{"polluted":1}}}}',
    ]
    for (const body of bodies) expect((await send('PUT', at, body)).status).toBe(400)
    const metadataUpdates = JSON.parse('{"__proto__":{"polluted":1}}')
    const inProcess = world.management.updateOrganization({
      params: { orgId: tenant.orgId },
      body: { metadataUpdates },
    })
    await expect(inProcess).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect((await update({}, ['__proto__'])).status).toBe(200)
    expect(await metadata()).toEqual({})
    expect(({} as Json).polluted).toBe(undefined)
  })

  it('Metadata has at most 1000 keys and 64 KiB', async () => {
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]))
    expect((await update(keys(1000))).status).toBe(200)
    const more = await update({ one: 1 })
    expect(more).toMatchObject({ status: 400, data: { issues: [{ path: 'metadata_updates' }] } })
    expect((await update({ one: 1 }, ['k0'])).status).toBe(200)
    expect((await update({}, Object.keys(keys(1000)))).data.metadata).toEqual({ one: 1 })
    expect((await update({}, ['one'])).data.metadata).toEqual({})
    const overhead = JSON.stringify({ a: '' }).length
    expect((await update({ a: 'ä'.repeat((65_536 - overhead) / 2) })).status).toBe(200)
    expect((await update({ a: 'ä'.repeat((65_538 - overhead) / 2) })).status).toBe(400)
    expect((await update({ ['k'.repeat(257)]: 1 })).status).toBe(400)
    expect((await update({ '': 1 })).status).toBe(400)
  })

  it('A metadata key that is both set and deleted is refused', async () => {
    expect(await update({ a: 1 }, ['b', 'a'])).toMatchObject({
      status: 400,
      data: { issues: [{ path: 'metadata_deletes.1', message: 'is also in metadata_updates' }] },
    })
    for (const body of [[], 'x', null, 1]) expect((await update(body)).status).toBe(400)
    expect((await update({}, { a: 1 })).status).toBe(400)
  })
})

describe.each(stores)('organizations in %s', (_name, openStore) => {
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

  it(`${WRITERS} concurrent writers of metadata lose no key in ${ROUNDS} rounds`, async () => {
    const mark = (writer: number, round: number) => `mark-${writer}-${round}`
    const write = async (writer: number) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const name = `w${writer}-${round}`
        const updates = { [name]: round, [mark(writer, round)]: true }
        const body = { metadata_updates: updates, metadata_deletes: [mark(writer, round - 1)] }
        expect((await done('PUT', at, body)).metadata[name]).toBe(round)
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
    const expected: Record<string, unknown> = {}
    for (let writer = 0; writer < WRITERS; writer += 1) {
      for (let round = 0; round < ROUNDS; round += 1) expected[`w${writer}-${round}`] = round
      expected[mark(writer, ROUNDS - 1)] = true
    }
    const organization = await done('GET', at)
    expect(organization.metadata).toEqual(expected)
    expect(organization.revision).toBe(1 + WRITERS * ROUNDS)
    const updates = (await world.audit()).filter(
      (each) => each.eventType === 'organization.updated',
    )
    expect(updates.length).toBe(WRITERS * ROUNDS)
  })

  it('The counts of an organization are correct after concurrent changes', async () => {
    const counts = async () => {
      const { flag_count, project_count, environment_count, revision } = await done('GET', at)
      expect(revision).toBe(1)
      return { flag_count, project_count, environment_count }
    }
    expect(await counts()).toEqual({ flag_count: 0, project_count: 1, environment_count: 2 })
    const flags = `/projects/${tenant.project.id}/flags`
    const made = await Promise.all([
      ...Array.from({ length: 12 }, (_, n) =>
        send('POST', flags, { key: `f${n % 8}`, type: 'boolean' }),
      ),
      ...Array.from({ length: 4 }, (_, n) => send('POST', `${at}/projects`, { key: `p${n}` })),
      ...Array.from({ length: 3 }, (_, n) =>
        send('POST', `/projects/${tenant.project.id}/envs`, { key: `e${n}` }),
      ),
    ])
    expect(made.filter(({ status }) => status === 409).length).toBe(4)
    expect(await counts()).toEqual({ flag_count: 8, project_count: 5, environment_count: 13 })
    const living = made.slice(0, 12).filter(({ status }) => status === 201)
    const addresses = [
      ...living.slice(0, 4).map(({ data }) => `${flags}/${data.id}`),
      `/projects/${made[12]?.data.id}`,
      `/projects/${tenant.project.id}/envs/${made[16]?.data.id}`,
    ]
    await Promise.all(addresses.map((address) => done('DELETE', address)))
    expect(await counts()).toEqual({ flag_count: 4, project_count: 4, environment_count: 10 })
    expect((await done('GET', '/organizations')).data[0]).toMatchObject({ flag_count: 4 })
    await done('DELETE', `/projects/${tenant.project.id}`)
    expect(await counts()).toEqual({ flag_count: 0, project_count: 3, environment_count: 6 })
  })

  it('Deleting an organization immediately deletes everything in it', async () => {
    const other = await world.addTenant('Other')
    const project = `/projects/${tenant.project.id}`
    const flag = await done('POST', `${project}/flags`, { key: 'f', type: 'boolean' })
    const keys = `${project}/envs/${tenant.live.id}/sdk-keys`
    await done('POST', keys, { name: 'k', kind: 'client' })
    await done('POST', `${at}/members`, { email: 'a@acme.test', role: 'owner' })
    expect(await world.evaluate(tenant.live)).toEqual({ f: false })
    for (const role of ['admin', 'editor', 'viewer'] as const) {
      expect((await send('DELETE', at, undefined, role)).status).toBe(403)
    }
    world.hints.length = 0
    expect(await send('DELETE', at)).toMatchObject({ status: 200, data: null })
    for (const role of ['owner', 'admin', 'editor', 'viewer'] as const) {
      expect((await send('GET', at, undefined, role)).status).toBe(401)
    }
    const addresses = [at, `${at}/members`, `${at}/tokens`, `${at}/projects`, project, keys]
    for (const address of [...addresses, `${project}/flags/${flag.id}`]) {
      expect((await send('GET', address, undefined, 'platform')).status).toBe(404)
    }
    expect(await world.evaluate(tenant.live)).toEqual({})
    expect(world.hints).toContainEqual({ type: 'sdkKeys' })
    expect(world.hints).toContainEqual(
      expect.objectContaining({ type: 'flagSet', environmentId: tenant.live.id }),
    )
    expect((await world.storage.list('sdkKey', {})).total).toBe(0)
    const left = await world.storage.list('member', {})
    expect(left.total).toBe(0)
    const { data } = await world.call('GET', '/organizations', { token: other.tokens.platform })
    expect(data.data.map(({ id }: Json) => id)).toEqual([other.orgId])
    expect(await world.evaluate(other.live)).toEqual({})
    const [event] = (await world.audit()).filter(
      (each) => each.eventType === 'organization.deleted',
    )
    expect(event).toMatchObject({ orgId: tenant.orgId, payload: { after: null } })
  })
})
