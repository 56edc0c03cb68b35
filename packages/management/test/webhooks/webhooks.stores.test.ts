import { type AuditEventRow, auditEvents } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { type Json, type Tenant, World } from '../world/world.ts'

const SECRET_KEY = '7c'.repeat(32)
const URL = 'https://hooks.acme.example/flags'
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/

describe('webhooks', () => {
  let world: World
  let acme: Tenant
  let token: string
  let webhooks: string

  beforeEach(async () => {
    world = await World.create(undefined, { secretKey: SECRET_KEY })
    acme = await world.addTenant('Acme')
    token = acme.tokens.admin
    webhooks = `/organizations/${acme.orgId}/webhooks`
  })

  const ask = (method: string, address: string, body?: Json) =>
    world.call(method, address, { token, body })
  const create = (fields: Json = {}) =>
    ask('POST', webhooks, { url: URL, event_types: ['*'], ...fields })

  it('A webhook secret is returned only once and stored encrypted', async () => {
    const { status, data, headers } = await create({ event_types: ['flag.updated', 'segment.*'] })
    expect([status, headers['ETag']]).toEqual([201, '"1"'])
    const { secret, ...shown } = data
    expect(secret).toMatch(SECRET)
    expect(shown).toEqual({
      id: expect.any(String),
      org_id: acme.orgId,
      url: URL,
      event_types: ['flag.updated', 'segment.*'],
      active: true,
      failing_since: null,
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: '2030-01-01T00:00:00.000Z',
      deleted_at: null,
      revision: 1,
    })
    expect((await ask('GET', `${webhooks}/${shown.id}`)).data).toEqual(shown)
    expect((await ask('GET', webhooks)).data.data).toEqual([shown])
    const stored = await world.storage.find('webhook', shown.id)
    expect(stored?.sealedSecret).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9+/]+=*$/)
    expect(JSON.stringify([stored, await world.audit()])).not.toContain('whsec_')
    expect(JSON.stringify(await world.audit())).not.toContain(stored?.sealedSecret)
    expect((await create()).data.secret).not.toBe(secret)
  })

  it('Creating, changing and deleting a webhook is audited', async () => {
    const { id } = (await create()).data
    const address = `${webhooks}/${id}`
    expect((await ask('PUT', address, { active: false })).data).toMatchObject({
      active: false,
      url: URL,
      revision: 2,
    })
    expect((await ask('PUT', address, { event_types: ['flag.*'] })).data).toMatchObject({
      event_types: ['flag.*'],
      active: false,
    })
    expect((await ask('PUT', address, {})).data.revision).toBe(3)
    const elsewhere = { url: 'https://other.acme.example/' }
    expect((await ask('PUT', address, elsewhere)).data).toMatchObject(elsewhere)
    expect(await ask('DELETE', address)).toMatchObject({ status: 200, data: null })
    for (const [method, body] of [['GET'], ['PUT', {}], ['DELETE']] as const) {
      expect(await ask(method, address, body)).toMatchObject({
        status: 404,
        message: 'There is no such webhook.',
      })
    }
    expect((await ask('GET', `${address}/deliveries`)).status).toBe(404)
    const audited = (await world.audit()).filter(({ streamId }) => streamId === `webhook:${id}`)
    expect(audited.map(({ eventType }) => eventType)).toEqual([
      'webhook.created',
      'webhook.updated',
      'webhook.updated',
      'webhook.updated',
      'webhook.deleted',
    ])
  })

  it('A webhook is not found in another organization', async () => {
    const { id } = (await create()).data
    const other = await world.addTenant('Other')
    const theirs = `/organizations/${other.orgId}/webhooks/${id}`
    for (const address of [theirs, `${theirs}/deliveries`]) {
      const answer = await world.call('GET', address, { token: other.tokens.owner })
      expect(answer).toMatchObject({ status: 404, message: 'There is no such webhook.' })
    }
  })

  it.each([
    ['http://hooks.acme.example/', 'must begin with https://'],
    ['https://127.0.0.1/', 'must not point to a private, local or reserved address'],
    ['https://[::ffff:10.0.0.1]/', 'must not point to a private, local or reserved address'],
    ['https://0x7f000001/', 'must not point to a private, local or reserved address'],
    ['https://169.254.169.254/latest', 'must not point to a private, local or reserved address'],
    ['https://localhost:8080/', 'must not point to a private, local or reserved address'],
    ['https://ada:lovelace@hooks.acme.example/', 'must not contain credentials'],
    ['https://hooks.acme.example:99999/', 'is not a URL'],
    ['ftp://hooks.acme.example/', 'must be an absolute URL that begins with https://'],
    ['hooks.acme.example', 'must be an absolute URL that begins with https://'],
    ['https://hooks.acme.example/a b', 'must be an absolute URL that begins with https://'],
    ['https://hooks.acme.example/\r\nHost: x', 'must be an absolute URL that begins with https://'],
  ])('A webhook cannot have the URL %s', async (url, message) => {
    const { id } = (await create()).data
    const before = (await world.audit()).length
    const refusals = [await create({ url }), await ask('PUT', `${webhooks}/${id}`, { url })]
    for (const { status, data } of refusals) {
      expect([status, data]).toEqual([400, { issues: [{ path: 'url', message }] }])
    }
    expect(await world.audit()).toHaveLength(before)
  })

  it('A webhook URL has at most 2048 characters', async () => {
    const url = `${URL}/`.padEnd(2048, 'x')
    expect((await create({ url })).status).toBe(201)
    expect((await create({ url: `${url}x` })).data.issues[0].path).toBe('url')
  })

  it('A webhook URL can be on this machine if allowLoopback is set', async () => {
    const options = { secretKey: SECRET_KEY, webhooks: { allowLoopback: true } }
    const open = await World.create(undefined, options)
    const { orgId, tokens } = await open.addTenant('Acme')
    const post = (url: string) =>
      open.call('POST', `/organizations/${orgId}/webhooks`, {
        token: tokens.owner,
        body: { url, event_types: ['*'] },
      })
    expect((await post('http://127.0.0.1:4000/hook')).status).toBe(201)
    expect((await post('http://localhost:4000/hook')).status).toBe(201)
    expect((await post('http://10.0.0.1/hook')).status).toBe(400)
  })

  it('A webhook subscribes to event types, resources or all events, but not to log-ins', async () => {
    const rows: readonly [string, AuditEventRow][] = Object.entries(auditEvents)
    const types = rows.filter(([, { log }]) => log !== 'logins').map(([type]) => type)
    const resources = new Set(types.map((type) => `${type.split('.')[0]}.*`))
    for (const pattern of ['*', ...types.slice(0, 4), ...resources]) {
      const { status, data } = await create({ event_types: [pattern] })
      expect([pattern, status]).toEqual([pattern, 201])
      await ask('DELETE', `${webhooks}/${data.id}`)
    }
    const unknown = [
      'user.login_success',
      'flag.exploded',
      'flags.*',
      '*.*',
      'flag',
      '',
      '__proto__.*',
    ]
    for (const pattern of unknown) {
      const { status, data } = await create({ event_types: ['flag.created', pattern] })
      expect([pattern, status]).toEqual([pattern, 400])
      expect(data.issues[0].path).toBe('event_types.1')
    }
    expect((await create({ event_types: [] })).data.issues[0].path).toBe('event_types')
  })

  it('An organization has at most twenty webhooks, also after concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, () => create()))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(20)
    expect(statuses.filter((status) => status === 409)).toHaveLength(5)
    const [first] = (await ask('GET', webhooks)).data.data
    await ask('DELETE', `${webhooks}/${first.id}`)
    expect((await create()).status).toBe(201)
  })

  it('Deliveries are listed newest first, without response bodies', async () => {
    const { id } = (await create()).data
    for (const key of ['a', 'b', 'c']) {
      await world.call('POST', `/projects/${acme.project.id}/flags`, {
        token,
        body: { key, type: 'boolean' },
      })
    }
    const { data, meta } = (await ask('GET', `${webhooks}/${id}/deliveries?limit=3`)).data
    expect(meta).toEqual({ total: 4, page: 1, pageCount: 2 })
    expect(data.map((each: Json) => each.event_type)).toEqual(Array(3).fill('flag.created'))
    const events = data.map((each: Json) => each.event_id)
    expect(events).toEqual([...events].sort().reverse())
    expect(data[0]).toEqual({
      id: expect.any(String),
      org_id: acme.orgId,
      webhook_id: id,
      event_id: events[0],
      event_type: 'flag.created',
      status: 'pending',
      attempts: 0,
      next_attempt_at: '2030-01-01T00:00:00.000Z',
      last_status: null,
      last_error: null,
      duration_ms: null,
      created_at: '2030-01-01T00:00:00.000Z',
    })
    const entry = (await world.audit()).find((each) => each.id === events[0])
    expect(entry?.eventType).toBe('flag.created')
  })

  it('Deleting an organization deletes its webhooks', async () => {
    const { id } = (await create()).data
    const owner = acme.tokens.owner
    await world.call('DELETE', `/organizations/${acme.orgId}`, { token: owner })
    expect(await world.storage.find('webhook', id)).toBeUndefined()
  })

  it('A server without a secret key refuses new webhooks with a reason', async () => {
    const bare = await World.create()
    const { orgId, tokens } = await bare.addTenant('Acme')
    const body = { url: URL, event_types: ['*'] }
    const address = `/organizations/${orgId}/webhooks`
    const answer = await bare.call('POST', address, { token: tokens.admin, body })
    expect(answer).toMatchObject({
      status: 503,
      message: expect.stringContaining('Webhooks need a secretKey'),
    })
    expect((await bare.call('GET', address, { token: tokens.admin })).data.data).toEqual([])
    // The permission is checked first.
    expect((await bare.call('POST', address, { token: tokens.editor, body })).status).toBe(403)
  })

  it('A malformed secret key is refused', async () => {
    for (const secretKey of ['', 'short', [], ['7c'.repeat(32), 'x']]) {
      await expect(World.create(undefined, { secretKey })).rejects.toThrow(/^secretKey must be/)
    }
  })
})

describe.each(stores)('an organization without webhooks in %s', (_name, open) => {
  it('A change in an organization without webhooks reads the webhooks only once', async () => {
    const { storage, clean } = open()
    const world = await World.create(storage, { secretKey: SECRET_KEY })
    const { orgId, tokens } = await world.addTenant('Acme')
    const calls: string[] = []
    const transaction: typeof storage.transaction = (lock, work) =>
      storage.transaction(lock, (session) => {
        // Only the last run of the work counts.
        calls.length = 0
        return work(
          new Proxy(session, {
            get: (target, name) => {
              const method = Reflect.get(target, name)
              if (typeof method !== 'function') return method
              return (kind: string, ...others: unknown[]) => {
                if (kind.startsWith('webhook')) calls.push(`${String(name)} ${kind}`)
                return method.call(target, kind, ...others)
              }
            },
          }),
        )
      })
    const counted = new Proxy(storage, {
      get: (target, name) => {
        if (name === 'transaction') return transaction
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const watched = await World.create(counted, { secretKey: SECRET_KEY })
    const body = { key: 'another' }
    const address = `/organizations/${orgId}/projects`
    expect((await watched.call('POST', address, { token: tokens.owner, body })).status).toBe(201)
    expect(calls).toEqual(['list webhook'])
    await storage.close()
    clean()
  })
})
