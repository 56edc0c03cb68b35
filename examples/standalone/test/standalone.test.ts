import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bucketOf, type FlagSetDefinition, type JsonObject, parseFlagValue } from '@ff/core'
import { sqlite } from '@ff/storage/sqlite'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import type { Standalone } from '../src/serve.ts'
import { startStandalone } from '../src/standalone.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const KEYS = 10_000
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-/

const dataDir = mkdtempSync(join(tmpdir(), 'ff-demo-'))
const ADMINISTRATOR = { email: 'root@acme.test', password: 'a password for the root' }
const config = readConfig({
  PORT: '0',
  FF_DATA_DIR: dataDir,
  FF_ADMIN_TOKEN: ADMIN_TOKEN,
  FF_ADMIN_EMAIL: ADMINISTRATOR.email,
  FF_ADMIN_PASSWORD: ADMINISTRATOR.password,
})
const printed: string[] = []
let standalone: Standalone
let pool: Pool

beforeAll(async () => {
  standalone = await startStandalone(config, (lines) => void printed.push(...lines))
  pool = new Pool(standalone.url, { connections: 32 })
})

afterAll(async () => {
  await pool.close()
  await standalone.close()
  rmSync(dataDir, { recursive: true, force: true })
})

function liveKey(): string {
  return /live\s+(ff_[0-9a-f]{64})/.exec(printed.join('\n'))?.[1] ?? ''
}

async function evaluate(context: JsonObject): Promise<JsonObject> {
  const { statusCode, body } = await pool.request({
    path: '/evaluator/evaluate',
    method: 'POST',
    headers: { 'x-api-key': liveKey(), 'content-type': 'application/json' },
    body: JSON.stringify({ context }),
  })
  expect(statusCode).toBe(200)
  return (await body.json()) as JsonObject
}

/** Reads the flag set of the live environment from the store. */
async function readFlagSet(): Promise<FlagSetDefinition> {
  const { storage } = sqlite({ path: join(dataDir, 'ff.sqlite') })
  try {
    await storage.migrate()
    const live = await storage.list('environment', { where: { key: 'live' } })
    const flagSet = await storage.loadFlagSet(live.data[0]?.id ?? '')
    if (flagSet === undefined) throw new Error('nothing is published')
    return flagSet
  } finally {
    await storage.close()
  }
}

/** Returns a function that computes a user's value from the ranges of the first rollout. */
function expectedValueOf(
  flagSet: FlagSetDefinition,
  flagKey: string,
): (userKey: string) => unknown {
  const flag = flagSet.flags.find(({ key }) => key === flagKey)
  const rollout = flag?.rollouts[0]
  if (flag === undefined || rollout === undefined || rollout.strategy === 'gradual') {
    throw new Error(`${flagKey} has no rollout with ranges`)
  }
  return (userKey) => {
    const bucket = bucketOf(rollout.salt, userKey)
    const range = rollout.ranges.find(({ from, to }) => from <= bucket && bucket < to)
    const served = range?.variationId ?? flag.defaultVariationId
    const variation = flag.variations.find(({ id }) => id === served)
    return parseFlagValue(flag.type, variation?.value ?? '')
  }
}

describe('the standalone server with its demo shop', () => {
  it('The standalone server prints its URL, keys and a curl command, but not a configured token', () => {
    const text = printed.join('\n')
    expect(text).toContain(standalone.url)
    expect(text.match(/\bff_[0-9a-f]{64}\b/g)).toHaveLength(3)
    expect(text).toContain('the one in FF_ADMIN_TOKEN')
    expect(text).toContain(`${standalone.url}/projects/shop/flags`)
    expect(text).not.toMatch(UUID)
    expect(text).not.toContain(ADMIN_TOKEN)
    expect(text).not.toContain(ADMINISTRATOR.password)
  })

  it('The demo rollouts split ten thousand users by the weights and each user by the ranges', async () => {
    const flagSet = await readFlagSet()
    const layoutOf = expectedValueOf(flagSet, 'product-page-layout')
    const checkoutOf = expectedValueOf(flagSet, 'new-checkout')
    const counts = new Map<unknown, number>()
    const users = Array.from({ length: KEYS }, (_, index) => `user-${index}`)
    await Promise.all(
      users.map(async (key) => {
        const values = await evaluate({ kind: 'user', key })
        expect(values['product-page-layout'], key).toBe(layoutOf(key))
        expect(values['new-checkout'], key).toBe(checkoutOf(key))
        for (const name of ['product-page-layout', 'new-checkout']) {
          const outcome = `${name}: ${values[name]}`
          counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
        }
      }),
    )
    const percentOf = (outcome: string) => ((counts.get(outcome) ?? 0) / KEYS) * 100
    for (const [outcome, weight] of [
      ['product-page-layout: list', 50],
      ['product-page-layout: gallery', 30],
      ['product-page-layout: story', 20],
      ['new-checkout: true', 25],
    ] as const) {
      expect(Math.abs(percentOf(outcome) - weight), outcome).toBeLessThan(1.5)
    }
  })

  it('The demo flags depend on plan, country, organization, version and user', async () => {
    const pro = { kind: 'user', key: 'u', plan: 'pro', country: 'DE', app_version: '2.10.0' }
    expect(await evaluate(pro)).toMatchObject({
      'support-channel': 'chat',
      'express-delivery': true,
      'free-shipping-threshold': 40,
      'app-offline-mode': true,
      'admin-tools': false,
      'holiday-theme': false,
    })
    const wholesale = {
      kind: 'multi',
      user: { key: 'ada', beta: true },
      organization: { key: 'acme', orders: 12 },
    }
    expect(await evaluate(wholesale)).toMatchObject({
      'max-cart-items': 5000,
      'bulk-pricing': {
        steps: [
          { from: 100, discount: 0.05 },
          { from: 1000, discount: 0.12 },
        ],
      },
      'payment-methods': { methods: ['card', 'invoice'] },
      'admin-tools': true,
      'new-checkout': true,
    })
  })

  it('The demo flags serve their defaults to the empty context', async () => {
    expect(await evaluate({})).toMatchObject({
      'checkout-enabled': true,
      'new-checkout': false,
      'product-page-layout': 'list',
      'support-channel': 'email',
      'max-cart-items': 50,
    })
  })

  it('The configured administrator can log in and log out', async () => {
    const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
      fetch(standalone.url + path, {
        method,
        headers: { origin: standalone.url, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    const session = await send('POST', '/auth/login', {}, ADMINISTRATOR)
    expect(session.status).toBe(200)
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const { data } = (await session.json()) as { data: { csrf_token: string } }
    const csrf = { 'x-csrf-token': data.csrf_token }
    expect((await send('GET', '/organizations', { cookie })).status).toBe(200)
    expect((await send('POST', '/organizations', { cookie }, { name: 'New' })).status).toBe(403)
    const created = await send('POST', '/organizations', { cookie, ...csrf }, { name: 'New' })
    expect(created.status).toBe(201)
    const foreign = { cookie, ...csrf, origin: 'https://evil.test' }
    expect((await send('POST', '/auth/logout', foreign)).status).toBe(403)
    expect((await send('POST', '/auth/logout', { cookie, ...csrf })).status).toBe(200)
    expect((await send('GET', '/organizations', { cookie })).status).toBe(401)
  })

  it('A connection without a request stays open for longer than most load balancers keep it', async () => {
    const { headers, body } = await pool.request({ path: '/health', method: 'GET' })
    await body.dump()
    expect(headers['keep-alive']).toBe('timeout=76')
  })

  it('The path / redirects readers to the dashboard and refuses other methods', async () => {
    const send = (path: string, method: string) =>
      fetch(standalone.url + path, { method, redirect: 'manual' })
    for (const [path, method] of [
      ['/', 'GET'],
      ['/?from=mail', 'GET'],
      ['/', 'HEAD'],
    ] as const) {
      const answer = await send(path, method)
      expect([answer.status, answer.headers.get('location')]).toEqual([302, 'dashboard'])
    }
    expect((await send('/', 'POST')).status).toBe(404)
    const page = await fetch(standalone.url)
    expect(page.url).toBe(`${standalone.url}/dashboard`)
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect((await fetch(`${standalone.url}//evil.test`, { redirect: 'manual' })).status).toBe(404)
  })

  it('The management API accepts the configured token and refuses other tokens', async () => {
    const flagsUrl = /http\S+\/projects\/\S+/.exec(printed.join('\n'))?.[0] ?? ''
    const ask = (token: string) =>
      fetch(flagsUrl, { headers: { authorization: `Bearer ${token}` } })
    expect((await ask(ADMIN_TOKEN)).status).toBe(200)
    expect((await ask(`${ADMIN_TOKEN}x`)).status).toBe(401)
    expect((await ask(liveKey())).status).toBe(401)
  })
})
