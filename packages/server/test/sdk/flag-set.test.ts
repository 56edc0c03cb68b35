import { compileFlagSet, type FlagSetDefinition } from '@ff/core'
import { evaluateAll, valuesOf } from '@ff/core/all-flags'
import { flagSetRoot } from '@ff/core/flag-set-root'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { call, evaluate } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, settle } from '../fake-clock.ts'
import {
  addSdkKey,
  flagChange,
  publish,
  rampFlag,
  type SeededEnvironment,
  seed,
  textFlag,
} from '../seed.ts'

const capabilities = () => ({ ...allInMemory(), clock: new FakeClock() })

let parts: ReturnType<typeof capabilities>
let flags: FlagServer
let live: SeededEnvironment
let staging: SeededEnvironment
let serverKey: string

const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }

beforeEach(async () => {
  parts = capabilities()
  ;({ live, staging } = await seed(parts.storage))
  serverKey = (await addSdkKey(parts.storage, live, { kind: 'server' })).sdkKey
  await publish(parts, live.environmentId, flagChange(textFlag('banner', 'hello', [proRule])))
  flags = createFlagServer(parts)
  return () => flags.close()
})

const fetchFlagSet = (key: string, headers: Readonly<Record<string, string>> = {}) =>
  call(flags, '/evaluator/flag-set', { method: 'GET', key, headers })

describe('GET /evaluator/flag-set', () => {
  it('The flag set, refusals and replies to preflight requests are sent without CORS headers', async () => {
    const preflight = new Request('http://flags.test/evaluator/flag-set', {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'GET' },
    })
    const answers = [
      await fetchFlagSet(serverKey),
      await fetchFlagSet(live.sdkKey),
      await fetchFlagSet('ff_unknown'),
      await flags.fetch(preflight),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 401, 204])
    for (const { headers } of answers) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  it('The flag set can be compiled by a client and evaluates to the same values as on the server', async () => {
    const ramp = rampFlag('ramp', '2029-12-31T00:00:00.000Z', 1)
    await publish(parts, live.environmentId, flagChange(ramp))
    const { status, headers, body } = await fetchFlagSet(serverKey)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('x-ff-version')).toBe('2')
    expect(headers.get('x-ratelimit-remaining')).toBe('5999')
    const definition = (await parts.storage.loadFlagSet(live.environmentId)) as FlagSetDefinition
    expect(body).toEqual({ ...definition, root: flagSetRoot(definition).root })
    const flagSet = compileFlagSet(body as FlagSetDefinition)
    for (const context of [
      {},
      { kind: 'user', key: 'u' },
      { kind: 'user', key: 'v', plan: 'pro' },
    ]) {
      const here = (await evaluate(flags, live.sdkKey, context)).body
      expect({ ...valuesOf(evaluateAll(flagSet, context, parts.clock.now())) }).toEqual(here)
    }
  })

  it('The flag set is not sent again to a client that has it, until the next version is published', async () => {
    const first = await fetchFlagSet(serverKey)
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toBe(`W/"1-${live.environmentId}"`)
    for (const named of [tag, tag.slice(2), `"0-x", ${tag}`, '*']) {
      const again = await fetchFlagSet(serverKey, { 'if-none-match': named })
      expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, undefined, tag])
      expect(again.headers.get('x-ff-version')).toBe('1')
    }
    await publish(parts, live.environmentId, flagChange(textFlag('banner', 'bye')))
    await settle()
    const changed = await fetchFlagSet(serverKey, { 'if-none-match': tag })
    expect([changed.status, changed.headers.get('x-ff-version')]).toEqual([200, '2'])
  })

  it('The tag of another environment with the same version does not match', async () => {
    const { sdkKey } = await addSdkKey(parts.storage, staging, { kind: 'server' })
    await publish(parts, staging.environmentId, flagChange(textFlag('banner', 'other')))
    const tag = (await fetchFlagSet(serverKey)).headers.get('etag') ?? ''
    expect((await fetchFlagSet(sdkKey, { 'if-none-match': tag })).status).toBe(200)
  })

  it('The flag set is not stored by shared caches', async () => {
    const { headers } = await fetchFlagSet(serverKey)
    expect(headers.get('cache-control')).toBe('private, no-cache')
  })

  it('The flag set is empty before the first publication', async () => {
    const { sdkKey } = await addSdkKey(parts.storage, staging, { kind: 'server' })
    expect((await fetchFlagSet(sdkKey)).body).toMatchObject({ version: 0, flags: [], segments: [] })
  })

  it('The flag set is refused for client keys, for unknown keys and for other methods', async () => {
    const { status, body } = await fetchFlagSet(live.sdkKey)
    const error = 'Only an SDK key of kind "server" may fetch the flag set.'
    expect([status, body]).toEqual([403, { error, statusCode: 403 }])
    expect((await fetchFlagSet(`ff_${'0'.repeat(64)}`)).status).toBe(401)
    const posted = await call(flags, '/evaluator/flag-set', { key: serverKey, body: {} })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, OPTIONS'])
  })
})
