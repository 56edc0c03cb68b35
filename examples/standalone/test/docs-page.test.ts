import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { toNodeHandler } from '@ff/server/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withDocsPage } from '../src/docs-page.ts'

const flags = createFlagServer({ management: createManagement() })
let server: Server
let url: string

beforeAll(async () => {
  server = createServer(withDocsPage(toNodeHandler(flags))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await flags.close()
})

/** Requests a path without normalizing it and returns the status. */
async function statusOf(path: string): Promise<number | undefined> {
  const sent = request(`${url}/`, { path })
  sent.end()
  const [response] = await once(sent, 'response')
  response.resume()
  return response.statusCode
}

describe('the API documentation page', () => {
  it('The documentation page loads all its files from this server with the correct types', async () => {
    const page = await fetch(`${url}/docs`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await page.text()
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
    expect(links.length).toBe(5)
    const types: Record<string, string> = {
      css: 'text/css; charset=utf-8',
      js: 'text/javascript; charset=utf-8',
      json: 'application/json; charset=utf-8',
      png: 'image/png',
    }
    for (const link of links) {
      const target = new URL(link, `${url}/docs`)
      expect(target.origin, link).toBe(url)
      const answer = await fetch(target)
      expect(answer.status, link).toBe(200)
      const extension = link.split('.').at(-1) ?? ''
      expect(answer.headers.get('content-type'), link).toBe(types[extension])
      expect((await answer.arrayBuffer()).byteLength, link).toBeGreaterThan(100)
    }
    expect(html).toContain('href="openapi.json"')
  })

  it('The documentation page loads the OpenAPI document from a reachable URL', async () => {
    const script = await (await fetch(`${url}/docs/page.js`)).text()
    const link = /url: '([^']+)'/.exec(script)?.[1] ?? ''
    const document = await (await fetch(new URL(link, `${url}/docs`))).json()
    expect(document).toMatchObject({
      openapi: '3.1.0',
      servers: [{ url: '/' }],
      components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
    })
    expect(script).toContain('tryItOutEnabled: true')
    expect(script).toContain('validatorUrl: null')
  })

  it('The documentation page permits only its own scripts and styles', async () => {
    const page = await fetch(`${url}/docs`)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    const html = await page.text()
    expect(html).not.toMatch(/<script>|<style|\son\w+=|style=|javascript:/)
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('The documentation page serves no other files', async () => {
    const tricks = [
      '/docs/',
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
      '//docs',
    ]
    for (const path of tricks) expect(await statusOf(path), path).toBe(404)
    expect(await statusOf('/docs?x=1')).toBe(200)
    expect((await fetch(`${url}/docs`, { method: 'POST' })).status).toBe(404)
    const head = await fetch(`${url}/docs`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('The documentation page passes all other paths to the server', async () => {
    expect((await fetch(`${url}/health`)).status).toBe(200)
    expect((await fetch(`${url}/organizations`)).status).toBe(401)
  })
})
