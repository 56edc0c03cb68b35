import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OFREPProvider } from '@openfeature/ofrep-provider'
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider'
import { OpenFeature as ServerOpenFeature } from '@openfeature/server-sdk'
import { OpenFeature, type Provider, ProviderEvents } from '@openfeature/web-sdk'
import { EventSource } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { assertPublished } from '../../../packages/server/test/ofrep/published-schema.ts'
import { readConfig } from '../src/config.ts'
import type { Standalone } from '../src/serve.ts'
import { startStandalone } from '../src/standalone.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const dataDir = mkdtempSync(join(tmpdir(), 'ff-ofrep-'))

/** The flags of the tests, with the type, the value and another value of each. */
const FLAGS = {
  'is-on': ['boolean', 'true', 'false'],
  title: ['string', 'hello', 'other'],
  limit: ['number', '0.5', '7'],
  theme: ['json', '{"dark":true}', '{}'],
  sizes: ['json', '[1,2]', '[]'],
} as const

// biome-ignore lint/suspicious/noExplicitAny: the test reads parts of responses
type Json = any

let standalone: Standalone
let inLive = ''
const keys: Record<'client' | 'server', { id: string; key: string }> = {
  client: { id: '', key: '' },
  server: { id: '', key: '' },
}
const flagIds = new Map<string, { id: string; variations: Json[] }>()

/** Starts the server on a port; a free one by default. */
async function start(port = '0'): Promise<void> {
  const config = readConfig({ PORT: port, FF_DATA_DIR: dataDir, FF_ADMIN_TOKEN: ADMIN_TOKEN })
  standalone = await startStandalone(config, () => undefined)
}

async function call(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<Json> {
  const response = await fetch(standalone.url + path, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
  return text === '' ? undefined : JSON.parse(text).data
}

/** Every answer is compared with the published schema. */
const answers: { readonly status: number; readonly isBulk: boolean }[] = []

async function checkedFetch(
  input: string | URL | Request,
  init?: globalThis.RequestInit,
): Promise<Response> {
  const request = new Request(input, init)
  const response = await fetch(request)
  const isBulk = new URL(request.url).pathname.endsWith('/flags')
  answers.push({ status: response.status, isBulk })
  const body: Json = response.status === 304 ? undefined : await response.clone().json()
  if (response.status === 200 && isBulk) {
    // The published schema has no value of a list.
    const flags = body.flags.filter(({ value }: Json) => !Array.isArray(value))
    assertPublished('bulkEvaluationSuccess', { ...body, flags })
  } else if (response.status === 200 && !Array.isArray(body.value))
    assertPublished('serverEvaluationSuccess', body)
  else if (response.status === 404) assertPublished('flagNotFound', body)
  else if (response.status === 400) assertPublished('evaluationFailure', body)
  return response
}

beforeAll(async () => {
  vi.stubGlobal('EventSource', EventSource)
  await start()
  const org = await call('POST', '/organizations', { name: 'OpenFeature' })
  const project = await call('POST', `/organizations/${org.id}/projects`, { key: 'openfeature' })
  const environments = await call('GET', `/projects/${project.id}/envs`)
  inLive = `/projects/${project.id}/envs/${environments.data.find((each: Json) => each.is_default).id}`
  for (const kind of ['client', 'server'] as const) {
    keys[kind] = await call('POST', `${inLive}/sdk-keys`, { name: kind, kind })
  }
  for (const [key, [type, value, other]] of Object.entries(FLAGS)) {
    const variations = [
      { key: 'first', value },
      { key: 'second', value: other },
    ]
    const flag = await call('POST', `/projects/${project.id}/flags`, { key, type, variations })
    flagIds.set(key, flag)
  }
})

afterEach(async () => {
  await OpenFeature.clearProviders()
  await ServerOpenFeature.clearProviders()
  await OpenFeature.clearContexts()
})

afterAll(async () => {
  vi.unstubAllGlobals()
  await standalone.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Sets the variation that a flag serves to everyone. */
async function serve(key: string, variation: 0 | 1): Promise<void> {
  const flag = flagIds.get(key)
  await call('PUT', `${inLive}/flags/${flag?.id}`, {
    default_variation_id: flag?.variations[variation].id,
  })
}

/** Serves the second variation of `title` to users with an attribute. */
async function addRule(attribute: string, value: string): Promise<() => Promise<void>> {
  const flag = flagIds.get('title')
  const path = `${inLive}/flags/${flag?.id}/targeting-rules`
  const rule = await call('POST', path, {
    name: 'Rule',
    conditions: [{ attribute, operator: 'eq', value }],
    variation_id: flag?.variations[1].id,
  })
  await applied()
  return async () => {
    await call('DELETE', `${path}/${rule.id}`)
    await applied()
  }
}

/** Resolves when the server evaluates with the newest version. */
async function applied(): Promise<void> {
  const newest = (await call('GET', `${inLive}/versions?limit=1`)).data[0].version
  await expect
    .poll(async () => (await call('GET', `${inLive}/convergence`)).serving?.version)
    .toBe(newest)
}

function webProvider(key: string): Provider {
  const provider = new OFREPWebProvider({
    baseUrl: standalone.url,
    fetchImplementation: checkedFetch,
    headers: [['X-API-Key', key]],
    cacheMode: 'disabled',
  })
  // The types of both packages differ with `exactOptionalPropertyTypes`.
  return provider as Provider
}

async function webClient(key = keys.client.key) {
  await OpenFeature.setContext({ targetingKey: 'user-1' })
  await OpenFeature.setProviderAndWait(webProvider(key))
  return OpenFeature.getClient()
}

describe('The OFREP provider for servers', () => {
  it.each([
    ['X-API-Key', (key: string) => key],
    ['Authorization', (key: string) => `Bearer ${key}`],
  ])('All types, variants and reasons arrive, with the key in %s', async (header, withScheme) => {
    for (const kind of ['client', 'server'] as const) {
      const options = { baseUrl: standalone.url, fetchImplementation: checkedFetch }
      const headers: [string, string][] = [[header, withScheme(keys[kind].key)]]
      await ServerOpenFeature.setProviderAndWait(new OFREPProvider({ ...options, headers }))
      const client = ServerOpenFeature.getClient()
      const context = { targetingKey: 'user-1' }
      const expected = { variant: 'first', reason: 'STATIC' }
      expect(await client.getBooleanDetails('is-on', false, context)).toMatchObject({
        value: true,
        ...expected,
      })
      expect(await client.getStringDetails('title', '', context)).toMatchObject({
        value: 'hello',
        ...expected,
      })
      expect(await client.getNumberDetails('limit', 0, context)).toMatchObject({
        value: 0.5,
        ...expected,
      })
      expect(await client.getObjectDetails('theme', {}, context)).toMatchObject({
        value: { dark: true },
        ...expected,
      })
      expect(await client.getObjectDetails('sizes', [], context)).toMatchObject({
        value: [1, 2],
        ...expected,
      })
      expect(await client.getStringDetails('none', 'fallback', context)).toMatchObject({
        value: 'fallback',
        errorCode: 'FLAG_NOT_FOUND',
      })
      expect(await client.getStringDetails('limit', 'fallback', context)).toMatchObject({
        value: 'fallback',
        errorCode: 'TYPE_MISMATCH',
      })
    }
  })

  it('A rule over an attribute has the reason TARGETING_MATCH, and other contexts UNKNOWN', async () => {
    const remove = await addRule('plan', 'pro')
    const headers: [string, string][] = [['X-API-Key', keys.server.key]]
    await ServerOpenFeature.setProviderAndWait(
      new OFREPProvider({ baseUrl: standalone.url, fetchImplementation: checkedFetch, headers }),
    )
    const client = ServerOpenFeature.getClient()
    expect(await client.getStringDetails('title', '', { plan: 'pro' })).toMatchObject({
      value: 'other',
      reason: 'TARGETING_MATCH',
    })
    expect(await client.getStringDetails('title', '', { plan: 'free' })).toMatchObject({
      value: 'hello',
      reason: 'UNKNOWN',
      flagMetadata: { reason: 'DEFAULT' },
    })
    await remove()
  })
})

describe('The OFREP provider for browsers', () => {
  it.each(['client', 'server'] as const)(
    'All types, variants and reasons arrive with a %s key',
    async (kind) => {
      const client = await webClient(keys[kind].key)
      const expected = { variant: 'first', reason: 'STATIC' }
      expect(client.getBooleanDetails('is-on', false)).toMatchObject({ value: true, ...expected })
      expect(client.getStringDetails('title', '')).toMatchObject({ value: 'hello', ...expected })
      expect(client.getNumberDetails('limit', 0)).toMatchObject({ value: 0.5, ...expected })
      expect(client.getObjectDetails('theme', {})).toMatchObject({
        value: { dark: true },
        ...expected,
      })
      expect(client.getObjectDetails('sizes', [])).toMatchObject({ value: [1, 2], ...expected })
      expect(client.getStringDetails('none', 'x')).toMatchObject({
        value: 'x',
        errorCode: 'FLAG_NOT_FOUND',
      })
    },
  )

  it('A change arrives through the event stream, without polling', async () => {
    const client = await webClient()
    const changed = new Promise<readonly string[]>((resolve) => {
      client.addHandler(ProviderEvents.ConfigurationChanged, (event) =>
        resolve(event?.flagsChanged ?? []),
      )
    })
    const before = answers.length
    await serve('title', 1)
    expect(await changed).toEqual(['title'])
    // The stream can open after the first values, which causes a request that is answered with 304.
    expect(answers.slice(before)).toContainEqual({ status: 200, isBulk: true })
    expect(client.getStringValue('title', '')).toBe('other')
    await serve('title', 0)
  })

  it('A change of an attribute other than the key changes the values', async () => {
    const remove = await addRule('plan', 'pro')
    const client = await webClient()
    expect(client.getStringValue('title', '')).toBe('hello')
    await OpenFeature.setContext({ targetingKey: 'user-1', plan: 'pro' })
    expect(client.getStringValue('title', '')).toBe('other')
    await remove()
  })

  it('An unchanged answer is 304', async () => {
    await webClient()
    const before = answers.length
    await OpenFeature.setContext({ targetingKey: 'user-1' })
    expect(answers.slice(before)).toEqual([{ status: 304, isBulk: true }])
  })

  it('A change while the server was away arrives after its restart', async () => {
    const client = await webClient()
    const { port } = new URL(standalone.url)
    await standalone.close()
    await start(port)
    // The stream of the client is not open yet.
    await serve('title', 1)
    await expect.poll(() => client.getStringValue('title', '')).toBe('other')
    await serve('title', 0)
    await expect.poll(() => client.getStringValue('title', '')).toBe('hello')
  })

  it('A revoked key is refused, and the last values remain', async () => {
    const revoked = await call('POST', `${inLive}/sdk-keys`, { name: 'leaked', kind: 'client' })
    const client = await webClient(revoked.key)
    await call('DELETE', `${inLive}/sdk-keys/${revoked.id}`)
    await OpenFeature.setContext({ targetingKey: 'user-2' })
    expect(answers.at(-1)?.status).toBe(401)
    expect(client.getStringValue('title', '')).toBe('hello')
    await OpenFeature.clearProviders()
    await expect(OpenFeature.setProviderAndWait(webProvider(revoked.key))).rejects.toThrow()
  })
})
