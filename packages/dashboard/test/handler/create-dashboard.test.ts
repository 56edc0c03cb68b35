import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createDashboard } from '../../src/handler/index.ts'
import { fixtureApp, SCRIPT } from './fixture-app.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

function ask(path: string, init: RequestInit = {}, options = {}): Response {
  const dashboard = createDashboard({
    basePath: '/ui',
    apiPath: '/api',
    folder: fixtureApp(),
    ...options,
  })
  const response = dashboard(new Request(`http://flags.test${path}`, init))
  if (response === undefined) throw new Error(`${path} is not below the base.`)
  return response
}

const encodedAs = (encoding: string) => ({ headers: { 'accept-encoding': encoding } })

describe('createDashboard', () => {
  it.each([
    '/ui',
    '/ui/',
    '/ui/p/1/flags?env=live',
    '/ui/index.html',
    '/ui/assetsx',
    '/ui//a.test/',
    '/ui/%zz',
  ])('The reply to %s is the page with the paths of the dashboard and of the API', async (path) => {
    const response = ask(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    const html = await response.text()
    expect(html).toContain('<base href="/ui/">')
    expect(html).toContain('<meta name="ff-api" content="/api">')
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(html)))
  })

  it.each(['/', '/uix', '/other', '/ui/../other', '/ui/%2e%2e/other', '/UI'])(
    'The path %s is not below the base, and the dashboard returns undefined',
    (path) => {
      const dashboard = createDashboard({ basePath: '/ui', folder: fixtureApp() })
      expect(dashboard(new Request(`http://flags.test${path}`))).toBeUndefined()
    },
  )

  it('A dashboard without options is below the root and uses the API of the root', async () => {
    const html = await ask('/p/1', {}, { basePath: undefined, apiPath: undefined }).text()
    expect(html).toContain('<base href="/">')
    expect(html).toContain('<meta name="ff-api" content="">')
  })

  it('Special characters of the paths are escaped in the page', async () => {
    const paths = { basePath: "/a&b/$'$&/", apiPath: '/c&amp;d' }
    const html = await ask("/a&b/$'$&/x", {}, paths).text()
    expect(html).toContain('<base href="/a&amp;b/$\'$&amp;/">')
    expect(html).toContain('<meta name="ff-api" content="/c&amp;amp;d">')
  })

  it.each([
    ['br', 'br', (body: Buffer) => brotliDecompressSync(body)],
    ['gzip, deflate, br', 'br', (body: Buffer) => brotliDecompressSync(body)],
    ['gzip', 'gzip', (body: Buffer) => gunzipSync(body)],
    ['GZIP;q=1, br;q=0.5', 'gzip', (body: Buffer) => gunzipSync(body)],
    ['br;q=0, *', 'gzip', (body: Buffer) => gunzipSync(body)],
    ['deflate', null, (body: Buffer) => body],
    ['', null, (body: Buffer) => body],
  ])(
    'With Accept-Encoding "%s", an asset has the encoding %s',
    async (accepted, encoding, decode) => {
      const response = ask('/ui/assets/index-1234.js', encodedAs(accepted))
      const { headers } = response
      expect(headers.get('content-encoding')).toBe(encoding)
      expect(headers.get('vary')).toBe('Accept-Encoding')
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
      const body = Buffer.from(await response.arrayBuffer())
      expect(headers.get('content-length')).toBe(String(body.byteLength))
      expect(decode(body).toString()).toBe(SCRIPT)
    },
  )

  it('The page is compressed, and each encoding has a validator of its own', async () => {
    const folder = fixtureApp()
    const replies = ['br', 'gzip', 'identity'].map((each) =>
      ask('/ui/', encodedAs(each), { folder }),
    )
    expect(replies.map(({ headers }) => headers.get('content-encoding'))).toEqual([
      'br',
      'gzip',
      null,
    ])
    expect(new Set(replies.map(({ headers }) => headers.get('etag'))).size).toBe(3)
    const [body = Buffer.of()] = await Promise.all(
      replies.map(async (r) => Buffer.from(await r.arrayBuffer())),
    )
    expect(brotliDecompressSync(body).toString()).toContain('<base href="/ui/">')
  })

  it('If-None-Match with the validator is answered with 304, and another path of the API with 200', () => {
    const folder = fixtureApp()
    const etag = ask('/ui/', {}, { folder }).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    const send = (header: string, options = {}) =>
      ask('/ui/', { headers: { 'if-none-match': header } }, { folder, ...options })
    for (const header of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const response = send(header)
      expect([header, response.status, response.body]).toEqual([header, 304, null])
      expect(response.headers.get('etag')).toBe(etag)
      expect(response.headers.get('content-length')).toBeNull()
      expect(response.headers.get('content-security-policy')).toBe(POLICY)
    }
    expect(send('"other"').status).toBe(200)
    expect(send(etag, { apiPath: '/other' }).status).toBe(200)
  })

  it.each([
    '/ui/assets/index-0000.js',
    '/ui/assets/',
    '/ui/assets/link.txt',
    '/ui/assets/parent/secret.txt',
    '/ui/assets/..%2f..%2fsecret.txt',
    '/ui/assets/index-1234.js.br',
    '/ui/assets/index-1234.js.gz',
    '/ui/assets/__proto__',
  ])('The path %s is not a file of the application, and the reply is 404', async (path) => {
    const response = ask(path)
    const text = await response.text()
    expect(text).not.toContain('a secret')
    // A backslash separates segments in a URL, so that the path leads out of the folder `assets`.
    expect([404, 200]).toContain(response.status)
    if (response.status === 200) expect(text).toContain('<base href="/ui/">')
    else expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.status === 200).toBe(path.includes('\\'))
  })

  it('A file that appears or disappears after the start changes no reply', async () => {
    const folder = fixtureApp()
    const dashboard = createDashboard({ folder })
    const send = (path: string) => dashboard(new Request(`http://flags.test${path}`))
    writeFileSync(join(folder, 'assets', 'late.js'), 'late')
    rmSync(join(folder, 'assets', 'index-1234.js'))
    expect(send('/assets/late.js')?.status).toBe(404)
    expect(await send('/assets/index-1234.js')?.text()).toBe(SCRIPT)
  })

  it('A file outside of the folder assets is checked again at each request', async () => {
    const response = ask('/ui/notices.txt')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe('MIT')
  })

  it('HEAD has the headers of GET and no body', async () => {
    const folder = fixtureApp()
    for (const path of ['/ui', '/ui/assets/index-1234.js', '/ui/assets/none.js']) {
      const [get, head] = [ask(path, {}, { folder }), ask(path, { method: 'HEAD' }, { folder })]
      expect([...head.headers]).toEqual([...get.headers])
      expect([head.status, await head.text()]).toEqual([get.status, ''])
    }
  })

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('The method %s is refused with 405', (method) => {
    const response = ask('/ui/assets/index-1234.js', { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it.each([
    ['the page', '/ui', 'GET', 200],
    ['an asset', '/ui/assets/index-1234.js', 'GET', 200],
    ['a missing asset', '/ui/assets/none.js', 'GET', 404],
    ['a refused method', '/ui', 'POST', 405],
  ])('The reply for %s has all security headers', (_, path, method, status) => {
    const response = ask(path, { method })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-security-policy')).toBe(POLICY)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(response.headers.get('permissions-policy')).toMatch(/^(?:[a-z-]+=\(\)(?:, |$))+$/)
  })

  it.each(['<head></head>', '<base href="/">', '<meta name="ff-api" content="">'])(
    'A page that consists of %s is refused at the start',
    (html) => {
      const folder = fixtureApp(html)
      expect(() => createDashboard({ folder })).toThrow('index.html must contain <base href="">')
    },
  )
})
