import { beforeEach, describe, expect, it } from 'vitest'
import { call } from '../call.ts'
import { settle } from '../fake-clock.ts'
import { addSdkKey, flagChange, OCCASION, publish, rampFlag, textFlag } from '../seed.ts'
import { type OfrepScene, ofrepScene } from './ofrep-scene.ts'
import { assertPublished } from './published-schema.ts'

const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }
const pro = { targetingKey: 'user-1', plan: 'pro' }

let scene: OfrepScene

beforeEach(async () => {
  scene = await ofrepScene()
  await publish(
    scene.parts,
    scene.live.environmentId,
    flagChange(textFlag('banner', 'hello', [proRule])),
    flagChange(textFlag('title', 'shop')),
    flagChange({ ...textFlag('old', 'x'), isActive: false }),
    flagChange({ ...textFlag('broken', 'x'), defaultVariationId: 'gone' }),
    flagChange({
      ...textFlag('size', '1'),
      type: 'json',
      variations: [{ id: 'size-1', key: 'one', value: '{"w":1}' }],
    }),
  )
  return () => scene.flags.close()
})

describe('POST /ofrep/v1/evaluate/flags', () => {
  it('The answer contains the value, variant and reason of each flag, as the schema requires', async () => {
    const { status, headers, body } = await scene.evaluate(pro)
    expect(status).toBe(200)
    assertPublished('bulkEvaluationSuccess', body)
    expect(body).toMatchObject({
      flags: [
        { key: 'banner', value: 'other', variant: 'other', reason: 'TARGETING_MATCH' },
        { key: 'broken', errorCode: 'GENERAL', errorDetails: expect.any(String) },
        { key: 'old', value: 'x', variant: 'x', reason: 'DISABLED' },
        { key: 'size', value: { w: 1 }, variant: 'one', reason: 'STATIC' },
        { key: 'title', value: 'shop', variant: 'shop', reason: 'STATIC' },
      ],
      metadata: { version: 1 },
    })
    expect(headers.get('x-ff-version')).toBe('1')
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  it('A json value that is no object is answered as it is, although the schema has no such value', async () => {
    const list = { id: 'list-1', key: 'list', value: '[1]' }
    const definition = { ...textFlag('list', '1'), type: 'json' as const, variations: [list] }
    await publish(scene.parts, scene.live.environmentId, flagChange(definition))
    const { body } = await scene.evaluate(pro, { flag: 'list' })
    expect(body).toMatchObject({ key: 'list', value: [1], variant: 'list' })
  })

  it('A flag without a match has the reason UNKNOWN, with DEFAULT in its metadata', async () => {
    const { body } = await scene.evaluate({ targetingKey: 'user-2' })
    expect(bannerIn(body)).toEqual({
      key: 'banner',
      value: 'hello',
      variant: 'hello',
      reason: 'UNKNOWN',
      metadata: { reason: 'DEFAULT' },
    })
  })

  it.each([
    ['a context with a kind', { kind: 'user', key: 'u', plan: 'pro' }],
    ['a context with a kind and a targeting key', { kind: 'user', targetingKey: 'u', plan: 'pro' }],
    ['a multi context', { kind: 'multi', targetingKey: 'u', user: { key: 'u', plan: 'pro' } }],
    ['a context without a targeting key', { plan: 'pro' }],
  ])('%s is evaluated', async (_, context) => {
    const { status, body } = await scene.evaluate(context)
    expect(status).toBe(200)
    expect(bannerIn(body)).toMatchObject({ value: 'other' })
  })

  it('The targeting key is the key of the user', async () => {
    const target = { kind: 'user', keys: ['user-1'], variationId: 'banner-other' }
    const definition = { ...textFlag('banner', 'hello'), targets: [target] }
    await publish(scene.parts, scene.live.environmentId, flagChange(definition))
    await settle()
    const { body } = await scene.evaluate({ targetingKey: 'user-1', key: 'x' })
    expect(bannerIn(body)).toMatchObject({ value: 'other', reason: 'TARGETING_MATCH' })
  })

  it('The same request returns 304 until the flag set, its step, or the context changes', async () => {
    await publish(
      scene.parts,
      scene.live.environmentId,
      flagChange(rampFlag('ramp', '2030-01-01T00:00:00.000Z', 50)),
    )
    const first = await scene.evaluate(pro)
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    const again = await scene.evaluate(pro, { headers })
    expect([again.status, again.body]).toEqual([304, undefined])
    const compressed = { 'if-none-match': headers['if-none-match'].replace(/"$/, '-gzip"') }
    expect((await scene.evaluate(pro, { headers: compressed })).status).toBe(304)
    expect((await scene.evaluate({ ...pro, age: 3 }, { headers })).status).toBe(200)
    await scene.parts.clock.advance(60 * 60_000)
    expect((await scene.evaluate(pro, { headers })).status).toBe(200)
  })

  it('The answer changes with the address of the event stream, so that no client keeps an expired one', async () => {
    const first = await scene.evaluate(pro)
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    const { sdkKey } = await addSdkKey(scene.parts.storage, scene.live)
    await scene.parts.changeFeed.publish({ type: 'sdkKeys' })
    expect((await scene.evaluate(pro, { headers, key: sdkKey })).status).toBe(200)
    await scene.parts.clock.advance(60 * 60_000)
    const later = await scene.evaluate(pro, { headers })
    expect(later.status).toBe(200)
    expect(uriIn(later.body)).not.toBe(uriIn(first.body))
  })

  it('A request with the position of an event is answered with that version', async () => {
    await scene.evaluate(pro)
    // The change feed loses the notification.
    await scene.parts.storage.publish(
      scene.live.environmentId,
      [flagChange(textFlag('title', 'news'))],
      OCCASION,
    )
    expect((await scene.evaluate(pro)).headers.get('x-ff-version')).toBe('1')
    const { headers } = await scene.evaluate(pro, { query: '?flagConfigEtag=2.0' })
    expect(headers.get('x-ff-version')).toBe('2')
    const beyond = await scene.evaluate(pro, { query: '?flagConfigEtag=9.0' })
    expect(beyond.headers.get('x-ff-restored')).toBe('true')
    for (const junk of ['x', '', '2', '%00', '9'.repeat(400)]) {
      expect((await scene.evaluate(pro, { query: `?flagConfigEtag=${junk}` })).status).toBe(200)
    }
  })

  it('An SDK key of kind `client` receives only the flags that are visible to clients', async () => {
    const hidden = { ...textFlag('hidden', 'x'), clientVisible: false }
    await publish(scene.parts, scene.live.environmentId, flagChange(hidden))
    const { sdkKey } = await addSdkKey(scene.parts.storage, scene.live, { kind: 'server' })
    await scene.parts.changeFeed.publish({ type: 'sdkKeys' })
    await settle()
    expect(JSON.stringify((await scene.evaluate(pro)).body)).not.toContain('hidden')
    const all = await scene.evaluate(pro, { key: sdkKey })
    expect(JSON.stringify(all.body)).toContain('"hidden"')
    expect((await scene.evaluate(pro, { flag: 'hidden' })).status).toBe(404)
  })
})

describe('POST /ofrep/v1/evaluate/flags/{key}', () => {
  it('The answer contains the value, variant and reason of the flag', async () => {
    const { status, body } = await scene.evaluate(pro, { flag: 'banner' })
    expect([status, body]).toEqual([
      200,
      { key: 'banner', value: 'other', variant: 'other', reason: 'TARGETING_MATCH' },
    ])
    assertPublished('serverEvaluationSuccess', body)
  })

  it('An unknown flag is 404 with FLAG_NOT_FOUND', async () => {
    for (const flag of ['none', '%', 'a%2Fb', '__proto__', 'x'.repeat(3000)]) {
      const { status, body } = await scene.evaluate(pro, { flag })
      expect([status, body]).toMatchObject([404, { errorCode: 'FLAG_NOT_FOUND' }])
      assertPublished('flagNotFound', body)
    }
  })

  it('A broken flag is 400 with GENERAL', async () => {
    const { status, body } = await scene.evaluate(pro, { flag: 'broken' })
    expect([status, body]).toMatchObject([400, { key: 'broken', errorCode: 'GENERAL' }])
    assertPublished('evaluationFailure', body)
  })
})

describe('Bad requests over OFREP', () => {
  it.each([
    ['not JSON', 'x', 'PARSE_ERROR'],
    ['empty', '', 'PARSE_ERROR'],
    ['without a context', {}, 'INVALID_CONTEXT'],
    ['with a list as context', { context: [] }, 'INVALID_CONTEXT'],
    ['with a number as kind', { context: { kind: 3 } }, 'INVALID_CONTEXT'],
    ['with an object as targeting key', { context: { targetingKey: {} } }, 'INVALID_CONTEXT'],
    ['with no kinds in a multi context', { context: { kind: 'multi' } }, 'INVALID_CONTEXT'],
  ])('A body %s is 400', async (_, body, errorCode) => {
    const bulk = await scene.evaluate(undefined, { body })
    expect([bulk.status, bulk.body]).toMatchObject([400, { errorCode }])
    assertPublished('bulkEvaluationFailure', bulk.body)
    const one = await scene.evaluate(undefined, { body, flag: 'title' })
    expect([one.status, one.body]).toMatchObject([400, { key: 'title', errorCode }])
    assertPublished('evaluationFailure', one.body)
  })

  it('A body of more than 256 KiB is 413', async () => {
    const { status, body } = await scene.evaluate({ targetingKey: 'u'.repeat(300_000) })
    expect([status, body]).toMatchObject([413, { errorCode: 'GENERAL' }])
  })

  it('An SDK key is accepted as a bearer token, and no other token is', async () => {
    const bearer = (token: string) =>
      scene.evaluate(pro, {
        body: { context: pro },
        headers: { 'x-api-key': '', authorization: `Bearer ${token}` },
      })
    const withoutKey = (headers: Record<string, string>, query = '') =>
      call(scene.flags, `/flags/ofrep/v1/evaluate/flags${query}`, {
        headers,
        body: { context: pro },
      })
    const { sdkKey } = scene.live
    const authorization = `Bearer ${sdkKey}`
    expect((await withoutKey({ authorization })).status).toBe(200)
    expect((await withoutKey({ authorization: `bearer  ${sdkKey}` })).status).toBe(200)
    for (const refused of [
      await withoutKey({}),
      await withoutKey({ authorization: 'Bearer ffat_0123' }),
      await withoutKey({ authorization: `Basic ${sdkKey}` }),
      await withoutKey({}, `?api_key=${sdkKey}&token=${sdkKey}&sdkKey=${sdkKey}`),
      await bearer('x'),
    ]) {
      expect([refused.status, refused.body]).toMatchObject([401, { errorCode: 'GENERAL' }])
    }
    const { headers } = await withoutKey({})
    expect(headers.get('www-authenticate')).toBe('ApiKey')
  })

  it('The bearer token is accepted on no other path', async () => {
    const headers = { authorization: `Bearer ${scene.live.sdkKey}` }
    const body = { context: {} }
    expect((await call(scene.flags, '/flags/evaluator/evaluate', { headers, body })).status).toBe(
      401,
    )
  })

  it('An unknown path is 404, and a wrong method 405', async () => {
    const unknown = await call(scene.flags, '/flags/ofrep/v1/x', { key: scene.live.sdkKey })
    expect([unknown.status, unknown.body]).toMatchObject([404, { errorCode: 'GENERAL' }])
    const wrong = await call(scene.flags, '/flags/ofrep/v1/evaluate/flags', { method: 'GET' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  it('A preflight request permits the headers of both kinds of clients', async () => {
    const { status, headers } = await call(scene.flags, '/flags/ofrep/v1/evaluate/flags/a', {
      method: 'OPTIONS',
    })
    expect([status, headers.get('access-control-allow-headers')]).toEqual([
      204,
      'x-api-key, authorization, content-type, if-none-match',
    ])
  })

  it('Requests beyond the rate limit are 429 with Retry-After', async () => {
    const { sdkKey } = await addSdkKey(scene.parts.storage, scene.live, { rateLimit: 1 })
    await scene.parts.changeFeed.publish({ type: 'sdkKeys' })
    expect((await scene.evaluate(pro, { key: sdkKey })).status).toBe(200)
    const { status, headers, body } = await scene.evaluate(pro, { key: sdkKey })
    expect([status, body]).toMatchObject([429, { errorCode: 'GENERAL' }])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('Without the option `ofrep`, its paths do not exist', async () => {
    await scene.flags.close()
    scene = await ofrepScene({ ofrep: false })
    expect((await scene.evaluate(pro)).status).toBe(404)
  })
})

function bannerIn(body: unknown): unknown {
  return (body as { flags: { key: string }[] }).flags.find(({ key }) => key === 'banner')
}

function uriIn(body: unknown): string {
  const { eventStreams } = body as { eventStreams: { endpoint: { requestUri: string } }[] }
  return eventStreams[0]?.endpoint.requestUri ?? ''
}
