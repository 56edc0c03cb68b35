import { describe, expect, it, onTestFinished } from 'vitest'
import { call, evaluate } from '../../../server/test/call.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { settle, until } from '../../../server/test/fake-clock.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'
import { stores } from '../world/stores.ts'
import type { Json } from '../world/world.ts'

const CONTEXT = { kind: 'user', key: 'user-1' }

describe.each(stores)('flags that are not visible to clients, in %s', (_name, open) => {
  async function openShop(): Promise<MetricsShop> {
    const { storage, clean } = open()
    const shop = await openMetricsShop({ storage })
    onTestFinished(async () => {
      await shop.flags.close()
      clean()
    })
    return shop
  }

  const send = (shop: MetricsShop, method: string, path: string, body?: Json) =>
    call(shop.flags, path, {
      method,
      headers: { authorization: `Bearer ${shop.mine.tokens.admin}` },
      ...(body !== undefined && { body }),
    })

  async function ask(shop: MetricsShop, method: string, path: string, body?: Json): Promise<Json> {
    const answer = await send(shop, method, `/projects/${shop.mine.projectId}${path}`, body)
    expect(answer, JSON.stringify(answer.body)).toSatisfy(({ status }) => status < 300)
    return (answer.body as Json).data
  }

  const create = (shop: MetricsShop, key: string, more: Json = {}) =>
    ask(shop, 'POST', '/flags', { key, type: 'boolean', ...more })

  async function answers(shop: MetricsShop) {
    const { version } = await shop.storage.loadChanges(shop.mine.live, 0)
    const of = (key: string) => evaluate(shop.flags, key, CONTEXT)
    for (;;) {
      const server = await of(shop.mine.serverKey)
      if (server.headers.get('x-ff-version') === String(version)) {
        return { server, client: await of(shop.mine.clientKey) }
      }
      await settle()
    }
  }

  it('A new flag is visible to clients by default.', async () => {
    const shop = await openShop()
    expect(await create(shop, 'open')).toMatchObject({ client_visible: true })
    expect(await create(shop, 'secret', { client_visible: false })).toMatchObject({
      client_visible: false,
    })
    const { client, server } = await answers(shop)
    expect(client.body).toEqual({ open: false, theme: 'dark' })
    expect(server.body).toEqual({ open: false, secret: false, theme: 'dark' })
  })

  it('The project setting new_flags_client_visible applies to new flags.', async () => {
    const shop = await openShop()
    const changed = await ask(shop, 'PUT', '', { new_flags_client_visible: false })
    expect(changed).toMatchObject({ new_flags_client_visible: false })
    expect(await create(shop, 'secret')).toMatchObject({ client_visible: false })
    expect(await create(shop, 'open', { client_visible: true })).toMatchObject({
      client_visible: true,
    })
    expect((await answers(shop)).client.body).toEqual({ open: false, theme: 'dark' })
  })

  it.each([
    ['/flags', 'POST', { key: 'x', type: 'boolean', client_visible: 'no' }, 'client_visible'],
    ['', 'PUT', { new_flags_client_visible: null }, 'new_flags_client_visible'],
  ])('A visibility that is not a boolean is refused, at %s.', async (path, method, body, field) => {
    const shop = await openShop()
    const answer = await send(shop, method, `/projects/${shop.mine.projectId}${path}`, body)
    expect(answer.status).toBe(400)
    expect((answer.body as Json).data.issues).toMatchObject([{ path: field }])
    expect(await ask(shop, 'GET', '')).toMatchObject({ new_flags_client_visible: true })
  })

  it('Prerequisites and flag_is conditions work on a hidden flag.', async () => {
    const shop = await openShop()
    const secret = await create(shop, 'secret', { client_visible: false })
    const idOf = (flag: Json, value: string) =>
      flag.variations.find((each: Json) => each.value === value).id
    const behind = await create(shop, 'behind')
    const asking = await create(shop, 'asking')
    const inLive = (flag: Json) => `/envs/${shop.mine.live}/flags/${flag.id}`
    await ask(shop, 'PUT', inLive(behind), {
      default_variation_id: idOf(behind, 'true'),
      prerequisites: [{ flag_id: secret.id, variation_ids: [idOf(secret, 'true')] }],
    })
    await ask(shop, 'POST', `${inLive(asking)}/targeting-rules`, {
      name: 'as secret',
      conditions: [{ attribute: 'secret', operator: 'flag_is', value: '["true"]' }],
      variation_id: idOf(asking, 'true'),
    })
    const off = { asking: false, behind: false, theme: 'dark' }
    expect((await answers(shop)).client.body).toEqual(off)
    await ask(shop, 'PUT', inLive(secret), { default_variation_id: idOf(secret, 'true') })
    expect((await answers(shop)).client.body).toEqual({ ...off, asking: true, behind: true })
  })

  it('A change of a hidden flag affects no values, versions or entity tags of a client key.', async () => {
    const shop = await openShop()
    const secret = await create(shop, 'secret', { client_visible: false })
    const before = await answers(shop)
    const [tag] = [before.client.headers.get('etag') ?? '']
    await ask(shop, 'PUT', `/envs/${shop.mine.live}/flags/${secret.id}`, { is_active: false })
    await ask(shop, 'POST', '/segments', { key: 'beta' })
    await create(shop, 'another', { client_visible: false })
    const after = await answers(shop)
    for (const name of ['etag', 'x-ff-version']) {
      expect(after.client.headers.get(name)).toBe(before.client.headers.get(name))
      expect(after.server.headers.get(name)).not.toBe(before.server.headers.get(name))
    }
    const again = await evaluate(shop.flags, shop.mine.clientKey, CONTEXT, { 'if-none-match': tag })
    expect(again.status).toBe(304)
  })

  it('A client key receives the same version after a restart.', async () => {
    const shop = await openShop()
    const secret = await create(shop, 'secret', { client_visible: false })
    await ask(shop, 'PUT', `/envs/${shop.mine.live}/flags/${secret.id}`, { is_active: false })
    const before = (await answers(shop)).client
    const other = createManagedServer({
      ...allInMemory(),
      storage: shop.storage,
      clock: shop.clock,
    })
    const after = await evaluate(other, shop.mine.clientKey, CONTEXT)
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'))
    expect(after.headers.get('x-ff-version')).toBe(before.headers.get('x-ff-version'))
  })

  it('An entity tag of a server key does not match a request with a client key.', async () => {
    const shop = await openShop()
    const { server, client } = await answers(shop)
    expect(client.headers.get('x-ff-version')).toBe(server.headers.get('x-ff-version'))
    const tag = server.headers.get('etag') ?? ''
    const headers = { 'if-none-match': tag }
    const answer = await evaluate(shop.flags, shop.mine.clientKey, CONTEXT, headers)
    expect(answer.status).toBe(200)
  })

  it('A live client receives a change of visibility as a removed and as an added flag.', async () => {
    const shop = await openShop()
    const socket = new TestSocket()
    const connection = shop.flags.acceptSocket(socket)
    const init = { type: 'init', sdkKey: shop.mine.clientKey, context: CONTEXT }
    connection.receive(JSON.stringify(init))
    await until(() => socket.messages.length > 0)
    socket.take()
    const path = `/flags/${shop.mine.flag.id}`
    await ask(shop, 'PUT', path, { client_visible: false })
    await until(() => socket.messages.length > 0)
    expect(socket.take()).toMatchObject([{ flags: {}, removed: ['theme'], full: false }])
    await ask(shop, 'PUT', path, { client_visible: true })
    await until(() => socket.messages.length > 0)
    expect(socket.take()).toMatchObject([{ flags: { theme: 'dark' }, full: false }])
  })

  it('A change of visibility is audited and published.', async () => {
    const shop = await openShop()
    const { version } = await shop.storage.loadChanges(shop.mine.live, 0)
    await ask(shop, 'PUT', `/flags/${shop.mine.flag.id}`, { client_visible: false })
    const events = (await shop.storage.list('auditEvent', { where: { orgId: shop.mine.orgId } }))
      .data
    const event = events.find(({ eventType }) => eventType === 'flag.updated')
    expect(event?.payload).toMatchObject({
      before: { client_visible: true },
      after: { client_visible: false },
    })
    expect((await shop.storage.loadChanges(shop.mine.live, 0)).version).toBe(version + 1)
    const shown = await ask(shop, 'GET', `/envs/${shop.mine.live}/versions/${version + 1}`)
    expect(shown.flags).toMatchObject([{ key: 'theme', clientVisible: false }])
  })

  it('Reports of a client key about a hidden flag are ignored like those about an unknown flag.', async () => {
    const shop = await openShop()
    await create(shop, 'secret', { client_visible: false })
    await answers(shop)
    const report = (key: string, flagKey: string) => {
      const from = new Date(shop.clock.now()).toISOString()
      const event = { flag_key: flagKey, variation_key: 'false', reason: 'STATIC', count: 2, from }
      return call(shop.flags, '/evaluator/events', { key, body: { events: [event] } })
    }
    const hidden = await report(shop.mine.clientKey, 'secret')
    expect(hidden.body).toEqual({ accepted: 0, ignored: 2 })
    expect(hidden.body).toEqual((await report(shop.mine.clientKey, 'unknown')).body)
    expect((await report(shop.mine.serverKey, 'secret')).body).toEqual({ accepted: 2, ignored: 0 })
  })

  it('Server keys, the flag set and evaluation in process contain hidden flags.', async () => {
    const shop = await openShop()
    await create(shop, 'secret', { client_visible: false })
    await answers(shop)
    const environment = { environmentId: shop.mine.live }
    expect(await shop.flags.allOrThrow(environment, CONTEXT)).toHaveProperty('secret')
    const answer = await call(shop.flags, '/evaluator/flag-set', {
      method: 'GET',
      key: shop.mine.serverKey,
    })
    const keys = (answer.body as Json).flags.map(({ key }: Json) => key)
    expect(keys).toEqual(['secret', 'theme'])
  })

  it('Only flags that a client key receives are counted for it.', async () => {
    const shop = await openShop()
    const secret = await create(shop, 'secret', { client_visible: false })
    const environment = { environmentId: shop.mine.live }
    while (!('secret' in (await shop.flags.allOrThrow(environment, CONTEXT)))) await settle()
    for (let n = 0; n < 5; n += 1)
      await evaluate(shop.flags, shop.mine.clientKey, { ...CONTEXT, n })
    const requested = async (flagId: string) => {
      await shop.clock.advance(1000)
      const place = { environmentId: shop.mine.live, flagId, from: '', to: '9' }
      const totals = await shop.storage.loadEvaluationCounts(place)
      return totals.filter(({ source }) => source === 'rest').map(({ count }) => count)
    }
    await expect.poll(() => requested(shop.mine.flag.id)).toEqual([5])
    expect(await requested(secret.id)).toEqual([])
  })

  it('A live client with a client key counts as up to date after a change of a hidden flag.', async () => {
    const shop = await openShop()
    const socket = new TestSocket()
    const init = { type: 'init', sdkKey: shop.mine.clientKey, context: CONTEXT }
    shop.flags.acceptSocket(socket).receive(JSON.stringify(init))
    await until(() => socket.messages.length > 0)
    await create(shop, 'secret', { client_visible: false })
    await answers(shop)
    const shown = await ask(shop, 'GET', `/envs/${shop.mine.live}/convergence`)
    expect(shown.clients).toEqual({ ws: 1, poll: 0, behind: 0 })
  })

  it('Restoring a version keeps the visibility of a flag and reports that it was different.', async () => {
    const shop = await openShop()
    const { version } = await shop.storage.loadChanges(shop.mine.live, 0)
    await ask(shop, 'PUT', `/flags/${shop.mine.flag.id}`, { client_visible: false })
    const path = `/envs/${shop.mine.live}/versions/${version}/restore`
    const restored = await ask(shop, 'POST', path)
    expect(restored.skipped).toMatchObject([{ resource: 'flag', key: 'theme', reason: 'changed' }])
    expect((await answers(shop)).client.body).toEqual({})
  })
})
