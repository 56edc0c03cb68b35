import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createFlagServer } from '@ff/server'
import { toNodeHandler } from '@ff/server/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createManagement } from '../../src/index.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import { NodeWebhookSender } from '../../src/node/webhook-sender.ts'
import { createManagedServer } from '../world/managed-server.ts'

const flags = createManagedServer({ basePath: '/flags' })
let server: Server
let url: string

beforeAll(async () => {
  server = createServer(toNodeHandler(flags)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/flags`
})

afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await flags.close()
})

/** Requests a path without normalizing it and returns the status. */
async function statusOf(path: string): Promise<number | undefined> {
  const sent = request(`${url}/`, { path: `/flags${path}` })
  sent.end()
  const [response] = await once(sent, 'response')
  response.resume()
  return response.statusCode
}

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  png: 'image/png',
}

describe('the API page', () => {
  it('The API page loads all its files below the base path, with the correct types.', async () => {
    const page = await fetch(`${url}/docs`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await page.text()
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
    expect(links.length).toBe(5)
    for (const link of links) {
      const target = new URL(link, page.url)
      expect(target.href.startsWith(`${url}/`), link).toBe(true)
      const answer = await fetch(target)
      expect(answer.status, link).toBe(200)
      expect(answer.headers.get('content-type'), link).toBe(TYPES[link.split('.').at(-1) ?? ''])
      expect((await answer.arrayBuffer()).byteLength, link).toBeGreaterThan(100)
    }
  })

  it('The API page loads an OpenAPI document that names the base path.', async () => {
    const script = await (await fetch(`${url}/docs/page.js`)).text()
    const link = /url: '([^']+)'/.exec(script)?.[1] ?? ''
    const document = await (await fetch(new URL(link, `${url}/docs`))).json()
    expect(document).toMatchObject({
      openapi: '3.1.0',
      servers: [{ url: '/flags' }],
      components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
    })
    expect(script).toContain('tryItOutEnabled: true')
    expect(script).toContain('validatorUrl: null')
  })

  it('The API page permits only its own scripts and styles.', async () => {
    const page = await fetch(`${url}/docs`)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    const html = await page.text()
    expect(html).not.toMatch(/<script>|<style|\son\w+=|style=|javascript:/)
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('The API page redirects a path with a slash at its end to the page.', async () => {
    const moved = await fetch(`${url}/docs/`, { redirect: 'manual' })
    expect(moved.status).toBe(308)
    const target = new URL(moved.headers.get('location') ?? '', `${url}/docs/`)
    expect(target.href).toBe(`${url}/docs`)
  })

  it('The API page serves no other files.', async () => {
    const tricks = [
      '/docs/../package.json',
      '/docs/..%2fpackage.json',
      '/docs/%2e%2e/package.json',
      '/docs//swagger-ui.css',
      '/docs/./swagger-ui.css',
      '/docs/package.json',
      '/docs/index.js',
      '/docs/swagger-ui-bundle.js.map',
      '/docs/swagger-ui.css/..',
      '/docs\\..\\package.json',
      '/DOCS',
    ]
    for (const path of tricks) expect(await statusOf(path), path).toBe(404)
    expect(await statusOf('/docs?x=1')).toBe(200)
    expect((await fetch(`${url}/docs`, { method: 'POST' })).status).toBe(405)
    const head = await fetch(`${url}/docs`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(500)
  })

  it('Without the files of Swagger UI, the reply at /docs describes how to install them.', async () => {
    const webhookSender = new NodeWebhookSender({ allowLoopback: false })
    const passwordHasher = new ScryptPasswordHasher()
    const plain = createFlagServer({
      management: createManagement({ webhookSender, passwordHasher }),
    })
    const reply = await plain.fetch(new Request('http://flags.test/docs'))
    expect(reply.status).toBe(404)
    expect(await reply.json()).toMatchObject({
      message: expect.stringContaining('install the package swagger-ui-dist'),
    })
    expect((await plain.fetch(new Request('http://flags.test/openapi.json'))).status).toBe(200)
    await plain.close()
  })
})
