import { memory } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { call } from '../../../server/test/call.ts'
import { settle, until } from '../../../server/test/fake-clock.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { Installation, type Json } from './installation.ts'

let world: Installation

beforeEach(async () => {
  world = await Installation.open()
  return () => world.flags.close()
})

const user = (key: string, more: Json = {}) => ({ kind: 'user', key, ...more })
const isPro = { attribute: 'plan', operator: 'eq', value: 'pro' }

/** Creates a flag that serves `on` to 50 % of all users. */
async function addHalf(key: string): Promise<void> {
  const flag = await world.addFlag(key)
  const rollouts = world.rules(flag.id).replace('targeting-rules', 'rollouts')
  const served = { variation_id: flag.variations[1].id, percentage: 50 }
  const body = { name: 'half', strategy: 'percentage', ...served }
  const rollout = await world.done('POST', rollouts, body)
  await world.addRule(flag.id, { rollout_id: rollout.id })
}

describe('the server', () => {
  it('The server serves all paths below its base path [GEN-1]', async () => {
    for (const basePath of ['', '/flags', '/a/b']) {
      const flags = createManagedServer({ basePath })
      const response = await call(flags, `${basePath}/evaluator/evaluate`, {
        body: { context: {} },
      })
      expect(response.status).toBe(401)
      expect((await call(flags, `${basePath}/organizations`, { method: 'GET' })).status).toBe(401)
      expect((await call(flags, '/c/evaluator/evaluate', { body: {} })).status).toBe(404)
      await flags.close()
    }
  })

  it('The values are the same over every transport [GEN-3] [AUTH-2] [WS-2] [WS-3]', async () => {
    const flag = await world.addFlag('a')
    await world.addRule(flag.id, { conditions: [isPro], variation_id: flag.variations[1].id })
    await addHalf('b')
    for (const key of ['u1', 'u2', 'u3', 'u4']) {
      const context = user(key, { plan: 'pro' })
      const { body } = await world.evaluate(context)
      expect(body.a).toBe('on')
      const headers = { 'x-api-key': world.sdkKey }
      const request = { context, since: 'whatever' }
      expect((await world.send('POST', '/evaluator/poll', headers, request)).body).toEqual(body)
      const socket = new TestSocket()
      const init = { type: 'init', sdkKey: world.sdkKey, context }
      world.flags.acceptSocket(socket).receive(JSON.stringify(init))
      await until(() => socket.messages.length > 0)
      expect(socket.take()).toMatchObject([{ flags: body }])
    }
  })

  it('Rules, segments and rollouts select the variation [GEN-2]', async () => {
    const segment = await world.done('POST', `/projects/${world.projectId}/segments`, {
      key: 'pros',
      rules: [{ attribute: 'plan', value: 'pro' }],
    })
    const [byRule, bySegment] = [await world.addFlag('rule'), await world.addFlag('segment')]
    const on = (flag: Json) => ({ variation_id: flag.variations[1].id })
    await world.addRule(byRule.id, { ...on(byRule), conditions: [isPro] })
    await world.addRule(bySegment.id, { ...on(bySegment), segment_id: segment.id })
    await addHalf('rollout')
    expect((await world.evaluate(user('u', { plan: 'pro' }))).body).toMatchObject({
      rule: 'on',
      segment: 'on',
    })
    expect((await world.evaluate(user('u'))).body).toMatchObject({ rule: 'off', segment: 'off' })
    const values = new Set<string>()
    for (let n = 0; n < 30; n += 1) values.add((await world.evaluate(user(`u${n}`))).body.rollout)
    expect([...values].sort()).toEqual(['off', 'on'])
  })
})

describe('contexts', () => {
  it('A single-kind context has a key and any attributes [CTX-1]', async () => {
    const flag = await world.addFlag('a')
    await world.addRule(flag.id, { conditions: [isPro], variation_id: flag.variations[1].id })
    const context = { kind: 'device', key: 'd', plan: 'pro', nested: { deep: [1] }, age: 3 }
    expect(await world.evaluate(context)).toMatchObject({ status: 200, body: { a: 'on' } })
    expect((await world.evaluate({ ...context, plan: 'free' })).body).toEqual({ a: 'off' })
  })

  it('A multi-kind context has a user and an organization [CTX-2] [CTX-9]', async () => {
    const flag = await world.addFlag('a')
    const conditions = [{ attribute: 'organization.plan', operator: 'eq', value: 'pro' }]
    await world.addRule(flag.id, { conditions, variation_id: flag.variations[1].id })
    await addHalf('b')
    for (const key of ['u1', 'u2', 'u3', 'u4', 'u5', 'u6']) {
      const organization = { kind: 'organization', key: 'o', plan: 'pro' }
      const multi = { kind: 'multi', user: user(key), organization }
      const { status, body } = await world.evaluate(multi)
      expect([status, body.a]).toEqual([200, 'on'])
      expect(body.b).toBe((await world.evaluate(user(key))).body.b)
    }
  })

  it('A context may be empty, and then no rule matches [CTX-3] [CTX-6]', async () => {
    const flag = await world.addFlag('a')
    const always = { variation_id: flag.variations[1].id }
    const not = { attribute: 'plan', operator: 'eq', value: 'pro', negate: true }
    await world.addRule(flag.id, always)
    await world.addRule(flag.id, { ...always, conditions: [not] })
    expect(await world.evaluate({})).toMatchObject({ status: 200, body: { a: 'off' } })
    expect((await world.evaluate(user('u'))).body).toEqual({ a: 'on' })
  })

  it('A rollout requires a key and always assigns the same variation to a key [CTX-7] [CTX-8]', async () => {
    await addHalf('a')
    const value = async (context: Json) => (await world.evaluate(context)).body.a
    const first = new Map<string, string>()
    for (let n = 0; n < 40; n += 1) first.set(`u${n}`, await value(user(`u${n}`)))
    expect([...new Set(first.values())].sort()).toEqual(['off', 'on'])
    for (const [key, expected] of first) {
      expect(await value(user(key, { plan: key }))).toBe(expected)
    }
    for (const context of [{ kind: 'user' }, { kind: 'user', name: 'u1' }, {}]) {
      expect(await value(context)).toBe('off')
    }
  })
})

describe('results', () => {
  it('The result is a flat object of flag keys and values of any type [CTX-4] [CTX-5] [EVAL-1] [EVAL-2] [EVAL-3]', async () => {
    const of = (type: string, value: string) => ({
      type,
      variations: [{ key: 'v', value, is_default: true }],
    })
    await world.addFlag('text', of('string', 'x'))
    await world.addFlag('number', of('number', '1.5'))
    await world.addFlag('object', of('json', '{"a":[1]}'))
    await world.done('POST', `/projects/${world.projectId}/flags`, {
      key: 'truth',
      type: 'boolean',
    })
    const { status, headers, body } = await world.evaluate({})
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('application/json')
    expect(body).toEqual({ text: 'x', number: 1.5, object: { a: [1] }, truth: false })
  })
})

describe('SDK keys', () => {
  it('An SDK key starts with ff_ and is not accepted as a bearer token [AUTH-4] [AUTH-6]', async () => {
    expect(world.sdkKey).toMatch(/^ff_/)
    expect(world.token).not.toMatch(/^ff_/)
    expect((await world.evaluate({}, world.token)).status).toBe(401)
    const path = `/projects/${world.projectId}/flags`
    const asBearer = { authorization: `Bearer ${world.sdkKey}` }
    expect((await world.send('GET', path, asBearer)).status).toBe(401)
  })

  it('An SDK key is accepted only in x-api-key [AUTH-1] [POLL-1]', async () => {
    const places: readonly [string, Record<string, string>][] = [
      ['', {}],
      ['', { authorization: `Bearer ${world.sdkKey}` }],
      ['', { cookie: `x-api-key=${world.sdkKey}` }],
      [`?x-api-key=${world.sdkKey}`, {}],
      [`?sdkKey=${world.sdkKey}`, {}],
    ]
    for (const path of ['/evaluator/evaluate', '/evaluator/poll']) {
      for (const [query, headers] of places) {
        const answer = await world.send('POST', `${path}${query}`, headers, { context: {} })
        expect([path, query, answer.status]).toEqual([path, query, 401])
      }
      const headers = { 'x-api-key': world.sdkKey }
      const body = { context: {}, since: 'x' }
      expect((await world.send('POST', path, headers, body)).status).toBe(200)
    }
  })

  it('An SDK key is valid for one environment of one project [AUTH-5]', async () => {
    const path = `/organizations/${world.orgId}/projects`
    const other = await world.done('POST', path, { key: 'other' })
    await world.addFlag('a')
    const flags = `/projects/${other.id}/flags`
    await world.done('POST', flags, { key: 'b', type: 'boolean' })
    expect((await world.evaluate({})).body).toEqual({ a: 'off' })
    const keys = `/projects/${other.id}/envs/${other.environments[1].id}/sdk-keys`
    const { key } = await world.done('POST', keys, { name: 'k', kind: 'client' })
    expect((await world.evaluate({}, key)).body).toEqual({ b: false })
  })

  it('An SDK key cannot create, update or delete flags [AUTH-7]', async () => {
    const flag = await world.addFlag('a')
    const flags = `/projects/${world.projectId}/flags`
    const { key } = await world.addSdkKey({ kind: 'server' })
    for (const each of [world.sdkKey, key]) {
      for (const name of ['authorization', 'x-api-key']) {
        const headers = { [name]: name === 'authorization' ? `Bearer ${each}` : each }
        const create = await world.send('POST', flags, headers, { key: 'b', type: 'boolean' })
        const change = await world.send('PUT', `${flags}/${flag.id}`, headers, { name: 'x' })
        const remove = await world.send('DELETE', `${flags}/${flag.id}`, headers)
        expect([create.status, change.status, remove.status]).toEqual([401, 401, 401])
      }
    }
    expect(await world.done('GET', `${flags}/${flag.id}`)).toMatchObject({ revision: 1 })
  })

  it('An SDK key that is unknown, expired or revoked is refused with 401 [AUTH-8] [AUTH-9] [AUTH-10] [ERR-4]', async () => {
    const refused = async (key: string) => {
      const { status, body } = await world.evaluate({}, key)
      expect(body).toEqual({ error: expect.any(String), statusCode: status })
      return status
    }
    expect(await refused(`ff_${'0'.repeat(64)}`)).toBe(401)
    expect(await refused('x')).toBe(401)
    const expires_at = new Date(world.clock.now() + 60_000).toISOString()
    const expiring = await world.addSdkKey({ expires_at })
    const revoked = await world.addSdkKey()
    expect((await world.evaluate({}, expiring.key)).status).toBe(200)
    expect((await world.evaluate({}, revoked.key)).status).toBe(200)
    const keys = `/projects/${world.projectId}/envs/${world.environmentId}/sdk-keys`
    await world.done('DELETE', `${keys}/${revoked.id}`)
    await settle()
    expect(await refused(revoked.key)).toBe(401)
    await world.clock.advance(60_000)
    expect(await refused(expiring.key)).toBe(401)
  })
})

describe('evaluation errors', () => {
  const send = (body: Json) =>
    world.send('POST', '/evaluator/evaluate', { 'x-api-key': world.sdkKey }, body)

  it('An evaluation with an invalid body fails with 400 and an error object [ERR-1] [ERR-2] [ERR-3]', async () => {
    for (const body of ['{"context":', 'x', '', '[]', {}, { contexts: {} }, { context: 'u' }]) {
      const { status, body: answered } = await send(body)
      expect([body, status]).toEqual([body, 400])
      expect(answered).toEqual({ error: expect.any(String), statusCode: 400 })
    }
  })

  it('An evaluation that fails in the server responds with 500 and an error object [ERR-6]', async () => {
    const parts = memory()
    const storage = Object.create(parts.storage)
    const broken = await Installation.open({ ...parts, storage })
    storage.loadFlagSet = () => Promise.reject(new Error('The disk failed.'))
    const { status, body } = await broken.evaluate({})
    expect(status).toBe(500)
    expect(body).toEqual({ error: expect.any(String), statusCode: 500 })
    expect(body.error).not.toContain('disk')
    await broken.flags.close()
  })
})

describe('rate limits', () => {
  it('Every response has the rate limit headers, and excess requests are refused with 429 until the reset [LIM-1] [LIM-2] [LIM-3] [ERR-5]', async () => {
    const { key } = await world.addSdkKey({ rate_limit: 3 })
    const received: string[][] = []
    for (let n = 0; n < 5; n += 1) {
      const { status, headers } = await world.evaluate({}, key)
      const names = ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}`)
      received.push([String(status), ...names.map((name) => headers.get(name) ?? '')])
    }
    const reset = received[0]?.[3] ?? ''
    expect(received).toEqual([
      ['200', '3', '2', reset],
      ['200', '3', '1', reset],
      ['200', '3', '0', reset],
      ['429', '3', '0', reset],
      ['429', '3', '0', reset],
    ])
    const seconds = Number(reset) - world.clock.now() / 1000
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    const { body } = await world.evaluate({}, key)
    expect(body).toEqual({ error: expect.any(String), statusCode: 429 })
    await world.clock.advance(seconds * 1000)
    expect((await world.evaluate({}, key)).status).toBe(200)
  })
})

describe('changes', () => {
  it('A change is pushed to sockets immediately and ends pending polls [EVT-1] [EVT-2] [POLL-2] [WS-4]', async () => {
    const [a] = [await world.addFlag('a'), await world.addFlag('b')]
    const socket = new TestSocket()
    const init = { type: 'init', sdkKey: world.sdkKey, context: user('u') }
    world.flags.acceptSocket(socket).receive(JSON.stringify(init))
    await until(() => socket.messages.length > 0)
    expect(socket.take()).toMatchObject([{ flags: { a: 'off', b: 'off' } }])
    const headers = { 'x-api-key': world.sdkKey }
    const poll = world.send('POST', '/evaluator/poll', headers, { context: user('u') })
    await settle()
    await world.addRule(a.id, { variation_id: a.variations[1].id })
    await until(() => socket.messages.length > 0)
    expect(socket.take()).toMatchObject([{ flags: { a: 'on' } }])
    expect(socket.messages).toEqual([])
    expect((await poll).body).toEqual({ a: 'on', b: 'off' })
  })

  it('A poll without a change receives a response after 60 seconds [POLL-3] [LIM-4]', async () => {
    await world.addFlag('a')
    const headers = { 'x-api-key': world.sdkKey }
    let answered = false
    const { timers } = world.clock
    const poll = world.send('POST', '/evaluator/poll', headers, { context: {} })
    void poll.then(() => {
      answered = true
    })
    await until(() => world.clock.timers > timers)
    await world.clock.advance(59_999)
    expect(answered).toBe(false)
    await world.clock.advance(1001)
    expect(await poll).toMatchObject({ status: 200, body: { a: 'off' } })
  })

  it('A change is visible over REST within ten seconds even if its hint is lost [LIM-5]', async () => {
    const parts = memory()
    world = await Installation.open(parts)
    const deaf = { publish: async () => undefined, subscribe: async () => async () => undefined }
    const other = createManagedServer({ ...parts, changeFeed: deaf, clock: world.clock })
    const flag = await world.addFlag('a')
    const ask = () =>
      call(other, '/evaluator/evaluate', { key: world.sdkKey, body: { context: user('u') } })
    expect((await ask()).body).toEqual({ a: 'off' })
    await world.addRule(flag.id, { variation_id: flag.variations[1].id })
    await world.clock.advance(10_000)
    expect((await ask()).body).toEqual({ a: 'on' })
    await other.close()
  })
})

describe('plans', () => {
  it('A plan limits projects, flags and environments, and has a soft limit of evaluations [GEN-5] [LIM-9] [LIM-10] [LIM-11] [LIM-12] [LIM-14]', async () => {
    await world.addFlag('a')
    const organization = `/organizations/${world.orgId}`
    const give = async (limits: Json) => {
      const plan = await world.done('POST', '/plan-limits/plans', { name: 'Small', ...limits })
      await world.done('PUT', `${organization}/plan`, { plan_id: plan.id })
    }
    const limited: readonly [string, Json, string, number][] = [
      [`/projects/${world.projectId}/flags`, { key: 'f', type: 'boolean' }, 'max_flags', 1],
      [`/projects/${world.projectId}/envs`, { key: 'e' }, 'max_environments', 2],
      [`${organization}/projects`, { key: 'p' }, 'max_projects', 1],
    ]
    for (const [path, made, limit, count] of limited) {
      await give({ [limit]: count })
      const refused = await world.manage('POST', path, made)
      expect([limit, refused.status]).toEqual([limit, 403])
      expect(refused.body.message).toContain(limit)
      await give({ [limit]: count + 1 })
      expect([limit, (await world.manage('POST', path, made)).status]).toEqual([limit, 201])
    }
    const overage = { overage_rate_eur_cents: 7, overage_block_size: 2, grace_buffer_pct: 50 }
    await give({ max_api_calls: 2, ...overage })
    for (let n = 0; n < 6; n += 1) expect((await world.evaluate({})).status).toBe(200)
    await world.clock.advance(5000)
    expect(await world.done('GET', `${organization}/usage`)).toMatchObject({
      api_usage: 6,
      free_api_calls: 3,
      overage_blocks: 2,
      overage_eur_cents: 14,
    })
  })
})

it('Organizations own projects, and projects own environments and flags [GEN-4]', async () => {
  const flag = await world.addFlag('a')
  expect(flag.project_id).toBe(world.projectId)
  const environments = (await world.done('GET', `/projects/${world.projectId}/envs`)).data
  expect(environments.map((each: Json) => each.project_id)).toEqual([
    world.projectId,
    world.projectId,
  ])
  const project = await world.done('GET', `/projects/${world.projectId}`)
  expect(project.org_id).toBe(world.orgId)
  await world.done('DELETE', `/organizations/${world.orgId}`)
  for (const path of ['', '/envs', '/flags']) {
    const { status } = await world.manage('GET', `/projects/${world.projectId}${path}`)
    expect(status).toBe(404)
  }
  expect((await world.evaluate({})).status).toBe(401)
})

it('A bearer token is refused by evaluation and accepted by management [AUTH-3]', async () => {
  const actor = { id: 'x', email: '', name: 'x', role: 'platform', orgId: null } as const
  const owner = { params: { orgId: world.orgId }, body: { name: 't', role: 'viewer' } } as const
  const { token } = await world.flags.as(actor).createAccessToken(owner)
  const path = `/organizations/${world.orgId}`
  const as = (authorization: string) => world.send('GET', path, { authorization })
  expect((await as(`Bearer ${token}`)).status).toBe(200)
  for (const wrong of [`Basic ${token}`, `${token}`, 'Bearer ', 'Bearer x', `Bearer x ${token}`]) {
    expect((await as(wrong)).status).toBe(401)
  }
  expect((await world.evaluate({}, token ?? '')).status).toBe(401)
})
