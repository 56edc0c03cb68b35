import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { readConfig } from '../src/config.ts'
import type { Standalone } from '../src/serve.ts'
import { startStandalone } from '../src/standalone.ts'

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
type Json = any

const dataDir = mkdtempSync(join(tmpdir(), 'ff-base-path-'))
const printed: string[] = []
let standalone: Standalone
let origin: string
let key: string

beforeAll(async () => {
  const config = readConfig({ PORT: '0', FF_DATA_DIR: dataDir, FF_BASE_PATH: '/ff' })
  standalone = await startStandalone(config, (lines) => void printed.push(...lines))
  origin = new URL(standalone.url).origin
  key = /live\s+(ff_[0-9a-f]{64})/.exec(printed.join('\n'))?.[1] ?? ''
})

afterAll(async () => {
  await standalone.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const get = (path: string) => fetch(origin + path, { redirect: 'manual' })
const ofrep = (path: string) =>
  fetch(origin + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ context: { targetingKey: 'user-1' } }),
  })

describe('A server with FF_BASE_PATH=/ff', () => {
  it('The printed addresses are below the path', () => {
    expect(standalone.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ff$/)
    const urls = printed.join('\n').match(/http:\S+/g) ?? []
    expect(urls.length).toBeGreaterThan(3)
    for (const url of urls) expect(url.startsWith(standalone.url)).toBe(true)
  })

  it.each(['/ff', ''])('Requests with the prefix %j of the path are served', async (prefix) => {
    for (const path of ['/health', '/ready', '/docs', '/openapi.json'])
      expect([path, (await get(prefix + path)).status]).toEqual([path, 200])
    expect((await ofrep(`${prefix}/ofrep/v1/evaluate/flags`)).status).toBe(200)
    const socket = new WebSocket(`${origin.replace('http', 'ws')}${prefix}/ws/sdk`)
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'init', sdkKey: key, context: {} }))
    const [message] = await once(socket, 'message')
    expect(JSON.parse(String(message)).type).toBe('flags')
    socket.close()
  })

  it('The start page redirects to the dashboard below the path, with and without the prefix', async () => {
    for (const path of ['/ff', '/ff/', '/ff?a', '/', '/?a']) {
      const { status, headers } = await get(path)
      expect([path, status, headers.get('location')]).toEqual([path, 302, '/ff/dashboard'])
    }
  })

  it('The API document, cookies and event streams name the path', async () => {
    const document: Json = await (await get('/openapi.json')).json()
    expect(document.servers).toEqual([expect.objectContaining({ url: '/ff' })])
    const { eventStreams }: Json = await (await ofrep('/ofrep/v1/evaluate/flags')).json()
    expect(eventStreams[0].endpoint.requestUri).toMatch(/^\/ff\/ofrep\/v1\//)
    const token = /accept#(\S+)/.exec(printed.join('\n'))?.[1]
    const accepted = await fetch(`${origin}/auth/password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, new_password: 'a password of the owner' }),
    })
    expect(accepted.status).toBe(200)
    expect(accepted.headers.get('set-cookie')).toContain('Path=/ff;')
  })

  it('A path that only begins with the same letters is a path without the prefix', async () => {
    expect((await get('/ffx/health')).status).not.toBe(200)
    expect((await get('/FF/health')).status).not.toBe(200)
    expect((await get('/ff/../health')).status).toBe(200)
  })

  it('WebSockets of other paths are refused with 404', async () => {
    for (const path of ['/ffx/ws/sdk', '/ff/ff/ws/sdk', '/other']) {
      const headers = { connection: 'Upgrade', upgrade: 'websocket' }
      const request = httpRequest(origin + path, { headers }).end()
      const [response] = await once(request, 'response')
      expect([path, response.statusCode]).toEqual([path, 404])
      response.resume()
    }
  })
})
