import { beforeEach, describe, expect, it } from 'vitest'
import { createManagedServer } from '../world/managed-server.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

let world: World
let tenant: Tenant
let token: string

beforeEach(async () => {
  world = await World.create()
  tenant = await world.addTenant('Acme')
  token = tenant.tokens.owner
})

const as = (method: string, path: string, body?: Json) => world.call(method, path, { token, body })

describe('messages about credentials', () => {
  const refusal = async (headers: Record<string, string>) => {
    const { status, message } = await world.call('GET', '/organizations', { headers })
    return [status, message]
  }

  it('A missing, a malformed and a wrong token have different messages.', async () => {
    const missing =
      'The Authorization header is missing. Send "Authorization: Bearer <access token>".'
    expect(await refusal({})).toEqual([401, missing])
    const malformed = 'The Authorization header must be "Bearer " followed by an access token.'
    for (const authorization of [token, `Basic ${token}`, 'Bearer', `Bearer ${token} x`]) {
      expect(await refusal({ authorization })).toEqual([401, malformed])
    }
    const wrong = 'The access token is unknown, deleted or expired. Use another access token.'
    expect(await refusal({ authorization: `Bearer ${token}x` })).toEqual([401, wrong])
  })

  it('A refusal names the required role and the role of the token.', async () => {
    const body = { key: 'a', type: 'boolean' }
    const { flags } = addressesOf(tenant)
    const viewer = await world.call('POST', flags, { token: tenant.tokens.viewer, body })
    expect([viewer.status, viewer.message]).toEqual([
      403,
      'Requires role editor or higher; this token is viewer.',
    ])
    const plan = await as('POST', '/plan-limits/plans', { name: 'x' })
    expect(plan.message).toBe('Requires role platform; this token is owner.')
  })

  it('A refusal for a foreign project is that of a project that does not exist.', async () => {
    const other = await world.addTenant('Other')
    const body = { key: 'a', type: 'boolean' }
    const viewer = tenant.tokens.viewer
    const foreign = await world.call('POST', addressesOf(other).flags, { token: viewer, body })
    const none = await world.call('POST', `/projects/${crypto.randomUUID()}/flags`, {
      ...{ token: viewer, body },
    })
    expect([foreign.status, foreign.message]).toEqual([404, 'There is no such project.'])
    expect([none.status, none.message]).toEqual([foreign.status, foreign.message])
  })
})

describe('messages about paths', () => {
  it('A path without a route is named, and the API description is mentioned.', async () => {
    const server = createManagedServer({ basePath: '/flags' })
    const get = async (path: string): Promise<Json> =>
      (await server.fetch(new Request(`http://a.test${path}`))).json()
    const message = 'No route GET /flags/x; see /flags/openapi.json.'
    expect(await get('/flags/x?secret')).toEqual({ statusCode: 404, message, data: null })
    expect((await get('/x?secret')).message).toBe(
      'No route GET /x; this server handles the paths below /flags.',
    )
    expect((await get(`/flags/${'x'.repeat(10_000)}`)).message.length).toBeLessThan(200)
    await server.close()
  })

  it('A path is shown with visible ASCII characters only.', async () => {
    const { message } = await world.call('PATCH', '/é\u0000\n<b>')
    expect(message).toBe('No route PATCH /???<b>; see /openapi.json.')
  })

  it.each([
    ['GET', '/auth/oidc/start', 'OpenID Connect', 'FF_OIDC_ISSUER'],
    ['GET', '/auth/oidc/callback?state=s&code=c', 'OpenID Connect', 'FF_OIDC_ISSUER'],
    ['POST', '/billing/webhooks/stripe', 'Stripe', 'FF_STRIPE_SECRET_KEY'],
  ])('%s %s says how to configure the feature.', async (method, path, feature, variable) => {
    const sent = method === 'POST' ? { body: '{}' } : {}
    const { status, message } = await world.call(method, path, sent)
    expect(status).toBe(404)
    expect(message).toMatch(
      new RegExp(`^${feature} is not configured on this server; set .*${variable}`),
    )
  })
})

describe('messages about flags', () => {
  const create = async (key: string) =>
    (await as('POST', addressesOf(tenant).flags, { key, type: 'boolean' })).data
  const needs = (flag: Json, other: Json) =>
    as('PUT', addressesOf(tenant).live(flag.id), {
      prerequisites: [{ flag_id: other.id, variation_ids: [other.variations[0].id] }],
    })

  it('A condition with the operator of another system is refused with a suggestion.', async () => {
    const { id } = await create('a')
    const conditions = [{ attribute: 'plan', operator: 'equals', value: 'pro' }]
    const refused = await as('POST', addressesOf(tenant).rules(id), { name: 'r', conditions })
    const message = 'There is no operator "equals". Did you mean "eq"?'
    expect([refused.status, refused.message]).toEqual([400, `conditions.0: ${message}`])
    expect(refused.data.issues).toEqual([{ path: 'conditions.0', message }])
  })

  it('A body that is a whole reply is refused with the part to send.', async () => {
    const { id } = await create('a')
    const reply = JSON.parse((await as('GET', addressesOf(tenant).flag(id))).text)
    const refused = await as('PUT', addressesOf(tenant).flag(id), reply)
    const message = 'The body is a whole reply: send only its field `data`.'
    expect([refused.status, refused.message]).toEqual([400, message])
    expect((await as('PUT', addressesOf(tenant).flag(id), reply.data)).status).toBe(200)
  })

  it('An old revision in a body says that the record has changed.', async () => {
    const { id } = await create('a')
    const { data } = await as('GET', addressesOf(tenant).flag(id))
    await as('PUT', addressesOf(tenant).flag(id), { name: 'Another' })
    const refused = await as('PUT', addressesOf(tenant).flag(id), { revision: data.revision })
    const message = `the record has changed and its revision is now ${data.revision + 1}: read it again`
    expect([refused.status, refused.message]).toEqual([400, `revision: is read-only; ${message}`])
  })

  it('A cycle of prerequisites is refused with the keys of its flags.', async () => {
    const [a, b] = [await create('a'), await create('b')]
    expect((await needs(a, b)).status).toBe(200)
    const refused = await needs(b, a)
    expect([refused.status, refused.message]).toEqual([
      400,
      'prerequisites: Prerequisite cycle: a → b → a.',
    ])
  })

  it('A prerequisite or a condition on an archived flag says that the flag is archived.', async () => {
    const [a, b] = [await create('a'), await create('b')]
    await as('PUT', addressesOf(tenant).flag(b.id), { archived: true })
    const archived =
      'refers to the flag "b", which is archived. Set its field "archived" to false, or use another flag.'
    expect((await needs(a, b)).message).toBe(`prerequisites.0.flag_id: ${archived}`)
    const conditions = [{ attribute: 'b', operator: 'flag_is', value: 'true' }]
    const rule = await as('POST', addressesOf(tenant).rules(a.id), { name: 'r', conditions })
    expect(rule.message).toBe(`conditions.0: The condition ${archived}`)
    const foreign = { id: crypto.randomUUID(), variations: b.variations }
    const none = await needs(a, foreign)
    expect(none.message).toBe(
      'prerequisites.0.flag_id: must be the id or the key of a flag of this project',
    )
  })

  it('The message about a segment in use names the environments and at most ten resources.', async () => {
    const { id } = await create('a')
    const segment = (await as('POST', addressesOf(tenant).segments, { key: 's' })).data
    const add = (name: string) =>
      as('POST', addressesOf(tenant).rules(id), { name, kind: 'segment', segment_id: segment.id })
    expect((await add('Rule A')).status).toBe(201)
    const staging = `${addressesOf(tenant).staging(id)}/targeting-rules`
    const other = { name: 'Rule A', kind: 'segment', segment_id: segment.id }
    expect((await as('POST', staging, other)).status).toBe(201)
    const path = `${addressesOf(tenant).segments}/${segment.id}`
    const { message } = await as('DELETE', path)
    expect(message).toMatch(/^The segment is in use by targeting rule "Rule A \(.*"\.$/)
    expect(message).toContain('"Rule A (live)"')
    expect(message).toContain('"Rule A (staging)"')
    for (let rule = 0; rule < 10; rule += 1) await add(`Rule ${rule}`)
    const refused = await as('DELETE', path)
    expect(refused.message).toMatch(/, 2 more\.$/)
    expect(refused.data.used_by).toHaveLength(12)
  })
})
