import { compileFlagSet } from '@ff/core'
import { evaluateAll, valuesOf } from '@ff/core/all-flags'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { call, evaluate } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, settle } from '../fake-clock.ts'
import { flagChange, publish, rampFlag, type SeededEnvironment, seed, textFlag } from '../seed.ts'

const capabilities = () => ({ ...allInMemory(), clock: new FakeClock() })

let parts: ReturnType<typeof capabilities>
let flags: FlagServer
let live: SeededEnvironment
let staging: SeededEnvironment

const user = { kind: 'user', key: 'user-1', plan: 'pro' }
const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }

beforeEach(async () => {
  parts = capabilities()
  ;({ live, staging } = await seed(parts.storage))
  await publish(parts, live.environmentId, flagChange(textFlag('banner', 'hello', [proRule])))
  flags = createFlagServer(parts)
  return () => flags.close()
})

describe('POST /evaluator/evaluate', () => {
  it('An evaluation returns a flat object of values by flag key [EVAL-3]', async () => {
    const { status, headers, body } = await evaluate(flags, live.sdkKey, user)
    expect(status).toBe(200)
    expect(body).toEqual({ banner: 'other' })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('x-ff-version')).toBe('1')
    expect(headers.get('etag')).toMatch(/^"1\.0-[0-9a-f]{32}-[0-9a-f]{32}"$/)
    expect(await evaluate(flags, live.sdkKey, {})).toMatchObject({ body: { banner: 'hello' } })
  })

  it('An evaluation returns no flags for an environment without publications', async () => {
    const { status, headers, body } = await evaluate(flags, staging.sdkKey, user)
    expect([status, body, headers.get('x-ff-version')]).toEqual([200, {}, '0'])
  })

  it('An evaluation returns the values of the engine, over HTTP and in process', async () => {
    const definition = await parts.storage.loadFlagSet(live.environmentId)
    if (definition === undefined) throw new Error('nothing published')
    const expected = valuesOf(evaluateAll(compileFlagSet(definition), user, parts.clock.now()))
    expect((await evaluate(flags, live.sdkKey, user)).body).toEqual({ ...expected })
    expect(await flags.allOrThrow(live, user)).toEqual(expected)
    expect(await flags.detailOrThrow(live, 'banner', user)).toMatchObject({
      value: 'other',
      reason: 'TARGETING_MATCH',
      ruleId: 'rule-banner-0',
    })
  })

  it('An evaluation in process rejects an unknown environment and an invalid context', async () => {
    await expect(flags.allOrThrow({ environmentId: 'none' }, user)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    const wrong = { kind: '' } as never
    await expect(flags.allOrThrow(live, wrong)).rejects.toMatchObject({ code: 'INVALID_CONTEXT' })
  })

  it('An evaluation returns 304 for the current tag, strong, weak, changed by a proxy, or in a list', async () => {
    const first = await evaluate(flags, live.sdkKey, user)
    const tag = first.headers.get('etag') ?? ''
    const compressed = `${tag.slice(0, -1)}-gzip"`
    const lists = [`"other", ${tag}`, `W/"a" ,W/${tag}`]
    for (const ifNoneMatch of [tag, `W/${tag}`, compressed, `W/${compressed}`, ...lists]) {
      const again = await evaluate(flags, live.sdkKey, user, { 'if-none-match': ifNoneMatch })
      expect([again.status, again.body]).toEqual([304, undefined])
      expect(again.headers.get('etag')).toBe(tag)
      expect(again.headers.get('x-ff-version')).toBe('1')
    }
  })

  it('An evaluation never returns 304 for another context, after a change, or for an invalid tag', async () => {
    const tag = (await evaluate(flags, live.sdkKey, user)).headers.get('etag') ?? ''
    const other = await evaluate(flags, live.sdkKey, {}, { 'if-none-match': tag })
    expect(other.status).toBe(200)
    for (const junk of ['*', 'x', `"${'0'.repeat(2000)}"`, '"1.0-a-b"', tag.slice(1)]) {
      const answer = await evaluate(flags, live.sdkKey, user, { 'if-none-match': junk })
      expect(answer.status).toBe(200)
    }
    await publish(parts, live.environmentId, flagChange(textFlag('banner', 'hello')))
    await settle()
    const changed = await evaluate(flags, live.sdkKey, user, { 'if-none-match': tag })
    expect([changed.status, changed.body]).toEqual([200, { banner: 'hello' }])
    expect(changed.headers.get('x-ff-version')).toBe('2')
  })

  it('An evaluation never returns 304 after a step of a gradual rollout', async () => {
    const startAt = new Date(parts.clock.now() + 60_000).toISOString()
    await publish(parts, live.environmentId, flagChange(rampFlag('ramp', startAt, 100)))
    const before = await evaluate(flags, live.sdkKey, user)
    expect(before.body).toMatchObject({ ramp: 'base' })
    const tag = before.headers.get('etag') ?? ''
    await parts.clock.advance(59_999)
    expect((await evaluate(flags, live.sdkKey, user, { 'if-none-match': tag })).status).toBe(304)
    await parts.clock.advance(1)
    const after = await evaluate(flags, live.sdkKey, user, { 'if-none-match': tag })
    expect([after.status, after.body]).toMatchObject([200, { ramp: 'other' }])
    expect(after.headers.get('etag')).toMatch(/^"2\.1-/)
  })

  it('An evaluation returns 304 if the same body is sent again, in any valid format', async () => {
    const send = (body: string, headers = {}) =>
      call(flags, '/evaluator/evaluate', { key: live.sdkKey, body, headers })
    for (const body of ['{"context":{}}', ' { "context": {} }', '{"more":1,"context":{}}\n']) {
      const ifNoneMatch = { 'if-none-match': (await send(body)).headers.get('etag') ?? '' }
      expect((await send(body, ifNoneMatch)).status).toBe(304)
      expect((await send(body.replace('{}', '{"kind":"user"}'), ifNoneMatch)).status).toBe(200)
      expect((await send(body.replace('{}', '{"key":"a"}'), ifNoneMatch)).status).toBe(400)
      expect((await send(body.slice(0, 11), ifNoneMatch)).status).toBe(400)
    }
  })

  it('An evaluation never returns 304 for the tag of another environment with the same version', async () => {
    const tag = (await evaluate(flags, live.sdkKey, user)).headers.get('etag') ?? ''
    await publish(parts, staging.environmentId, flagChange(textFlag('banner', 'hello')))
    const other = await evaluate(flags, staging.sdkKey, user, { 'if-none-match': tag })
    expect([other.status, other.body]).toEqual([200, { banner: 'hello' }])
    expect(other.headers.get('x-ff-version')).toBe('1')
  })

  it('An evaluation accepts multi-contexts', async () => {
    const context = { kind: 'multi', user: { key: 'u', plan: 'pro' }, organization: { key: 'o' } }
    expect((await evaluate(flags, live.sdkKey, context)).body).toEqual({ banner: 'other' })
  })
})

describe('Invalid input of POST /evaluator/evaluate', () => {
  const send = (request: object) =>
    call(flags, '/evaluator/evaluate', { key: live.sdkKey, ...request })

  it.each([
    ['malformed JSON', '{"context":'],
    ['an empty body', ''],
    ['text that is not an object', '"context"'],
    ['a body without context', '{}'],
    ['a context that is not an object', '{"context":[]}'],
    ['a null context', '{"context":null}'],
    ['a context without kind', '{"context":{"key":"a"}}'],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
  ])('An evaluation with %s receives 400', async (_name, body) => {
    const answer = await send({ body })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.any(String), statusCode: 400 })
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('5999')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('An evaluation without a body receives 400', async () => {
    expect((await send({})).status).toBe(400)
  })

  it('The error for an invalid context names the invalid part', async () => {
    const { body } = await send({ body: { context: { kind: 'multi', user: 'me' } } })
    expect(body).toMatchObject({ error: expect.stringContaining('user') })
  })

  it('The body of an evaluation is read as JSON for every content type', async () => {
    const bytes = new TextEncoder().encode('{"context":{}}')
    for (const contentType of ['application/json;charset=UTF-8', '', 'text/plain']) {
      const answer = await send({ body: bytes, headers: { 'content-type': contentType } })
      expect(answer.status, contentType).toBe(200)
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await send({ body: bytes, headers: form })).status).toBe(200)
    const notJson = new TextEncoder().encode('context=1')
    expect((await send({ body: notJson, headers: form })).status).toBe(400)
  })

  it('An evaluation with a compressed body receives 400', async () => {
    const answer = await send({ body: '{"context":{}}', headers: { 'content-encoding': 'gzip' } })
    expect(answer.status).toBe(400)
  })

  it('A body of more than 256 KiB receives 413, with or without Content-Length, and is not read to its end', async () => {
    const large = JSON.stringify({ context: { kind: 'user', text: 'x'.repeat(256 * 1024) } })
    expect((await send({ body: large })).status).toBe(413)
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20))
      },
    })
    const answer = await send({ body: endless })
    expect([answer.status, answer.body]).toEqual([
      413,
      { error: expect.any(String), statusCode: 413 },
    ])
    expect(sent).toBeLessThan(10)
  })

  it('A body of exactly 256 KiB is accepted', async () => {
    const body = '{"context":{}}'.padEnd(256 * 1024, ' ')
    expect((await send({ body })).status).toBe(200)
    expect((await send({ body: `${body} ` })).status).toBe(413)
  })
})

describe('Paths and methods', () => {
  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('The method %s receives 405', async (method) => {
    const answer = await call(flags, '/evaluator/evaluate', { method, key: live.sdkKey })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
    expect(answer.body).toEqual({ error: expect.any(String), statusCode: 405 })
  })

  it('The reply to HEAD has no body', async () => {
    const answer = await call(flags, '/evaluator/evaluate', { method: 'HEAD' })
    expect([answer.status, answer.body]).toEqual([405, undefined])
  })

  it.each(['/evaluator/', '/evaluator/other', '/evaluator/evaluate/x', '/ws/other'])(
    'The path %s receives 404 in the format of the SDK endpoints',
    async (path) => {
      const answer = await call(flags, path, { key: live.sdkKey })
      expect([answer.status, answer.body]).toEqual([
        404,
        { error: expect.any(String), statusCode: 404 },
      ])
    },
  )

  it('A plain GET request at the socket path receives 400', async () => {
    expect((await call(flags, '/ws/sdk', { method: 'GET' })).status).toBe(400)
    expect((await call(flags, '/ws/sdk')).status).toBe(405)
  })

  it('The path is checked before the method, the method before the key, and the key before the body', async () => {
    expect((await call(flags, '/evaluator/none', { method: 'GET' })).status).toBe(404)
    expect((await call(flags, '/evaluator/evaluate', { method: 'GET' })).status).toBe(405)
    expect((await call(flags, '/evaluator/evaluate', { body: '{' })).status).toBe(401)
    expect((await call(flags, '/evaluator/poll', { body: '{' })).status).toBe(401)
  })

  it('A server serves only paths below its base path', async () => {
    const mounted = createFlagServer({ ...parts, basePath: '/flags/' })
    const body = { context: {} }
    expect(mounted.basePath).toBe('/flags')
    expect(
      (await call(mounted, '/flags/evaluator/evaluate', { key: live.sdkKey, body })).status,
    ).toBe(200)
    expect((await call(mounted, '/evaluator/evaluate', { key: live.sdkKey, body })).status).toBe(
      404,
    )
    expect(
      (await call(mounted, '/flagship/evaluator/evaluate', { key: live.sdkKey, body })).status,
    ).toBe(404)
  })

  it.each(['flags', '/a b', '/a?b', '//'])('The base path %j is refused', (basePath) => {
    expect(() => createFlagServer({ basePath })).toThrow(/basePath/)
  })
})

describe('CORS', () => {
  it.each(['/evaluator/evaluate', '/evaluator/poll'])(
    'A page of another origin can send a preflight request to %s',
    async (path) => {
      const answer = await call(flags, path, {
        method: 'OPTIONS',
        headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
      })
      expect([answer.status, answer.body]).toEqual([204, undefined])
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('access-control-allow-headers')).toBe(
        'x-api-key, authorization, content-type, if-none-match',
      )
      expect(answer.headers.get('access-control-allow-methods')).toContain('POST')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    },
  )

  it('A preflight request permits all headers that it names, and caches distinguish them', async () => {
    const permitted = async (requested: string) => {
      const { headers } = await call(flags, '/evaluator/evaluate', {
        method: 'OPTIONS',
        headers: { 'access-control-request-headers': requested },
      })
      expect(headers.get('vary')).toBe('Access-Control-Request-Headers')
      return headers.get('access-control-allow-headers')
    }
    const traced = 'baggage,content-type,sentry-trace,traceparent,x-api-key'
    expect(await permitted(traced)).toBe(traced)
    const usual = 'x-api-key, authorization, content-type, if-none-match'
    for (const malformed of ['', 'a;b', '"a"', 'a\u00e4', 'x'.repeat(4097)])
      expect(await permitted(malformed)).toBe(usual)
  })

  it('A page of another origin can read the headers of a reply', async () => {
    const { headers } = await evaluate(flags, live.sdkKey, user)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toBe(
      'ETag, X-FF-Version, X-FF-Restored, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id',
    )
  })

  it('Management paths send no CORS headers', async () => {
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await call(flags, '/audit/logs', {
        method,
        headers: { origin: 'https://shop.example' },
      })
      expect(headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})
