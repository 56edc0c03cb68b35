import { beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../../server/src/access/secrets.ts'
import { call, evaluate } from '../../../server/test/call.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'
import type { Json } from '../world/world.ts'

const PLATFORM = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
const PATH = '/contexts/observed-contexts'
const START = '2030-01-01T00:00:00.000Z'

let shop: MetricsShop

beforeEach(async () => {
  shop = await openMetricsShop()
  return () => shop.flags.close()
})

const list = (query = ''): Promise<Json> => shop.read(`${PATH}?${query}`)
const keysOf = async (query = ''): Promise<readonly string[]> =>
  (await list(query)).data.map(({ context_json: { key } }: Json) => key)

/** Evaluates for a context, then writes the observed contexts. */
async function see(context: unknown, key = shop.mine.clientKey): Promise<void> {
  expect((await evaluate(shop.flags, key, context)).status).toBe(200)
  await shop.clock.advance(2000)
}

const user = (name: string) => ({ kind: 'user', key: name })

describe('GET /contexts/observed-contexts', () => {
  it('Observed contexts are returned with all fields, most recently seen first', async () => {
    await see(user('ada'))
    await see(user('bob'))
    await see(user('ada'))
    const { data, meta } = await list()
    expect(meta).toEqual({ total: 2, page: 1, pageCount: 1 })
    expect(data.map(({ context_json }: Json) => context_json.key)).toEqual(['ada', 'bob'])
    expect(data[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      env_id: shop.mine.live,
      org_id: shop.mine.orgId,
      hash: expect.any(String),
      context_json: user('ada'),
      first_seen: START,
      last_seen: '2030-01-01T00:00:04.000Z',
      seen_count: 2,
      evaluation_success: true,
      variation_results: '{"theme":"dark"}',
      source: 'rest',
      deleted_at: null,
    })
  })

  it('The results of an observed context are those of the newest version when the list is read', async () => {
    await see(user('ada'))
    const management = shop.flags.as(PLATFORM)
    const params = { projectId: shop.mine.projectId, environmentId: shop.mine.live }
    const resultOf = async () => (await list()).data[0].variation_results
    await management.updateFlagState({
      params: { ...params, flagId: 'theme' },
      body: { isActive: true, defaultVariationId: 'light' },
    })
    expect(await resultOf()).toBe('{"theme":"light"}')
    await management.deleteFlag({ params: { projectId: params.projectId, flagId: 'theme' } })
    expect(await resultOf()).toBe('{}')
  })

  it('An observed context lists the attributes with integers that are not exact', async () => {
    await shop.flags.as(PLATFORM).updateEnvironment({
      params: { projectId: shop.mine.projectId, environmentId: shop.mine.live },
      body: { contextPrivacy: 'all' },
    })
    await shop.clock.advance(10_000)
    await see({ ...user('ada'), id: 2 ** 53, ids: [{ id: -1e300 }], exact: 2 ** 53 - 1 })
    await see({ kind: 'multi', user: { key: 'bob', id: 2 ** 53 }, shop: { key: 's', open: true } })
    const inexact = (await list()).data.map(({ inexact_attributes }: Json) => inexact_attributes)
    expect(inexact).toEqual([['user.id'], ['id', 'ids']])
  })

  it('Observed contexts are returned in pages of 20 by default', async () => {
    for (let n = 0; n < 25; n += 1) {
      await evaluate(shop.flags, shop.mine.clientKey, user(`user-${n}`))
    }
    await shop.clock.advance(2000)
    expect((await list()).data).toHaveLength(20)
    expect((await list()).meta).toEqual({ total: 25, page: 1, pageCount: 2 })
    const pages = [1, 2, 3].map((page) => keysOf(`perPage=10&page=${page}`))
    const walked = (await Promise.all(pages)).flat()
    expect(new Set(walked).size).toBe(25)
    expect(await keysOf('perPage=100')).toEqual(walked)
    expect((await list('page=9')).data).toEqual([])
  })

  it('Observed contexts can be filtered by kind, by success and by environment', async () => {
    await see(user('ada'))
    await see({ kind: 'device', key: 'd-1' })
    await see({ kind: 'multi', user: { key: 'eve' }, organization: { key: 'o' } })
    expect(await keysOf('kind=user')).toEqual(['ada'])
    expect(await keysOf('kind=device')).toEqual(['d-1'])
    expect((await list('kind=multi')).meta.total).toBe(1)
    expect(await keysOf('kind=USER')).toEqual([])
    expect((await list('success=true')).meta.total).toBe(3)
    expect((await list('success=false')).meta.total).toBe(0)
    expect((await list(`env_id=${shop.mine.live}`)).meta.total).toBe(3)
    expect((await list(`env_id=${shop.mine.staging}`)).meta.total).toBe(0)
  })

  it('The filters from and to compare the time of the last observation, including both ends', async () => {
    await see(user('ada'))
    await see(user('bob'))
    await see(user('eve'))
    const [first, second, third] = [0, 2, 4].map((s) => `2030-01-01T00:00:0${s}.000Z`)
    expect(await keysOf(`from=${second}`)).toEqual(['eve', 'bob'])
    expect(await keysOf(`to=${second}`)).toEqual(['bob', 'ada'])
    expect(await keysOf(`from=${first}&to=${first}`)).toEqual(['ada'])
    expect(await keysOf('from=2030-01-01T00:00:00.001Z&to=2030-01-01T00:00:01.999Z')).toEqual([])
    expect(await keysOf(`from=2030-01-01T01:00:04%2B01:00&to=${third}`)).toEqual(['eve'])
  })

  it('Members see the observed contexts of their organization, and the platform sees all', async () => {
    await see(user('ada'))
    await see(user('foreigner'), shop.theirs.clientKey)
    expect(await keysOf()).toEqual(['ada'])
    const { body } = await shop.ask('GET', PATH, shop.mine.tokens.platform)
    expect((body as Json).data.meta.total).toBe(2)
    const foreign = await shop.ask('GET', `${PATH}?env_id=${shop.theirs.live}`)
    const unknown = await shop.ask('GET', `${PATH}?env_id=${crypto.randomUUID()}`)
    expect(foreign).toMatchObject({ status: 404, body: { data: null } })
    expect(unknown.body).toEqual(foreign.body)
  })

  it.each([
    ['page=0', 'page'],
    ['page=1.5', 'page'],
    ['perPage=0', 'perPage'],
    ['perPage=101', 'perPage'],
    ['limit=10', 'limit'],
    ['success=1', 'success'],
    ['success=TRUE', 'success'],
    ['from=yesterday', 'from'],
    ['to=2030-01-01', 'to'],
    ['env_id=x', 'env_id'],
    ['kind=', 'kind'],
    [`kind=${'k'.repeat(65)}`, 'kind'],
  ])('The list of observed contexts refuses %s and names %s', async (query, field) => {
    const { status, body } = await shop.ask('GET', `${PATH}?${query}`)
    expect(status).toBe(400)
    expect(body).toMatchObject({ data: { issues: [{ path: field }] } })
  })

  it('The filter kind accepts 64 characters', async () => {
    await see({ kind: 'k'.repeat(64), key: 'ada' })
    expect(await keysOf(`kind=${'k'.repeat(64)}`)).toEqual(['ada'])
  })
})

describe('DELETE /contexts/observed-contexts', () => {
  const forget = (query: string, token = shop.mine.tokens.admin) =>
    shop.ask('DELETE', `${PATH}?${query}`, token)
  const audited = async () =>
    (await shop.storage.list('auditEvent', { where: { eventType: 'observed_context.forgotten' } }))
      .data

  it('Forgetting a key permanently deletes every context with it in one environment', async () => {
    await see(user('ada'))
    await see({ ...user('ada'), plan: 'pro' })
    await see({ kind: 'multi', user: { key: 'ada' }, organization: { key: 'o' } })
    await see(user('ada-2'))
    await see(user('ada'), shop.theirs.clientKey)
    const answer = await forget(`env_id=${shop.mine.live}&key=ada`)
    expect([answer.status, answer.body]).toEqual([
      200,
      { statusCode: 200, message: 'OK', data: { deleted: 2 } },
    ])
    expect(await keysOf()).toEqual(['ada-2'])
    expect((await shop.storage.list('observedContext', {})).total).toBe(2)
  })

  it('The response says that nothing was forgotten if a plus was not encoded', async () => {
    await see(user('ada+x@example.com'))
    const deleted = async (key: string) =>
      ((await forget(`env_id=${shop.mine.live}&key=${key}`)).body as Json).data.deleted
    expect(await deleted('ada+x@example.com')).toBe(0)
    expect(await deleted('ada%2Bx@example.com')).toBe(1)
    expect(await keysOf()).toEqual([])
  })

  it('A key of the greatest length, contexts without a key and multi-contexts without a user can be forgotten', async () => {
    const long = 'k'.repeat(8192)
    await see(user(long))
    await see({ kind: 'user', plan: 'pro' })
    await see({ kind: 'multi', device: { key: 'd' } })
    await see(user('ada'))
    const deleted = async (key: string) =>
      ((await forget(`env_id=${shop.mine.live}&key=${key}`)).body as Json).data.deleted
    expect([await deleted(long), await deleted('')]).toEqual([1, 2])
    expect(await keysOf()).toEqual(['ada'])
  })

  it('A key with U+0000 or an unpaired surrogate can be forgotten', async () => {
    const [nul, half] = [user('a\0da'), user('a\ud800da')]
    for (const context of [nul, half, user('a'), user('ada')]) await see(context)
    expect(await keysOf()).toEqual(['ada', 'a', 'a\uFFFDda', 'a\uFFFDda'])
    expect((await forget(`env_id=${shop.mine.live}&key=a%00da`)).status).toBe(200)
    expect(await keysOf()).toEqual(['ada', 'a'])
    await see(nul)
    await forget(`env_id=${shop.mine.live}&key=${encodeURIComponent('a\uFFFDda')}`)
    expect(await keysOf()).toEqual(['ada', 'a'])
  })

  it('Forgetting a key leaves an audit entry that does not contain the key', async () => {
    await see(user('ada@shop.example'))
    await forget(`env_id=${shop.mine.live}&key=ada%40shop.example`)
    const [entry, ...others] = await audited()
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      streamId: `environment:${shop.mine.live}`,
      orgId: shop.mine.orgId,
      projectId: shop.mine.projectId,
      payload: {
        before: { key_hash: await sha256(`${shop.mine.live}:ada@shop.example`), contexts: 1 },
        after: null,
      },
    })
    expect(JSON.stringify(entry)).not.toContain('ada@')
  })

  it('Forgetting an unobserved key changes nothing and leaves no audit entry', async () => {
    await see(user('ada'))
    expect((await forget(`env_id=${shop.mine.live}&key=bob`)).status).toBe(200)
    expect(await audited()).toEqual([])
    expect(await keysOf()).toEqual(['ada'])
  })

  it('A forgotten key is observed again as a new context', async () => {
    await see(user('ada'))
    const [before] = (await list()).data
    await forget(`env_id=${shop.mine.live}&key=ada`)
    await see(user('ada'))
    const [after] = (await list()).data
    expect(after).toMatchObject({ seen_count: 1, hash: before.hash })
    expect(after.id).not.toBe(before.id)
  })

  it('Viewers, editors and owners of another organization cannot forget keys', async () => {
    await see(user('ada'))
    const query = `env_id=${shop.mine.live}&key=ada`
    for (const role of ['viewer', 'editor'] as const) {
      expect((await forget(query, shop.mine.tokens[role])).status).toBe(403)
    }
    expect((await forget(query, shop.theirs.tokens.owner)).status).toBe(404)
    expect(await keysOf()).toEqual(['ada'])
  })

  it.each([
    ['key=ada', 'env_id'],
    ['env_id=x&key=ada', 'env_id'],
    ['env_id=LIVE', 'key'],
    ['env_id=LIVE&key=LONG', 'key'],
  ])('Forgetting refuses %j and names %s', async (query, field) => {
    const filled = query.replace('LIVE', shop.mine.live).replace('LONG', 'x'.repeat(8193))
    const { status, body } = await forget(filled)
    expect(status).toBe(400)
    expect(body).toMatchObject({ data: { issues: [{ path: field }] } })
  })
})

it('Deleting an environment deletes its observed contexts', async () => {
  const { mine, storage, clock, flags } = shop
  const staging = `/projects/${mine.projectId}/envs/${mine.staging}`
  const made = await call(flags, `${staging}/sdk-keys`, {
    headers: { authorization: `Bearer ${mine.tokens.admin}` },
    body: { name: 'k', kind: 'client' },
  })
  await evaluate(flags, (made.body as Json).data.key, user('ada'))
  await see(user('bob'))
  expect((await storage.list('observedContext', {})).total).toBe(2)
  expect((await shop.ask('DELETE', staging, mine.tokens.admin)).status).toBe(200)
  await clock.advance(2000)
  expect(await keysOf()).toEqual(['bob'])
  expect((await storage.list('observedContext', {})).total).toBe(1)
})
