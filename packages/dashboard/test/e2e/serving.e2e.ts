import { expect, it, onTestFinished } from 'vitest'
import { ApiSession, PASSWORD } from './api-session.ts'
import { openPage, useBrowser } from './browser.ts'
import { recordFaults } from './faults.ts'
import { listen, startHostApp } from './host-app.ts'
import { RunningServer, useServer } from './running-server.ts'

const server = useServer()
const browser = useBrowser()

it('The standalone server leads from / to the dashboard, with the headers of the policy', async () => {
  const page = await fetch(server().url)
  expect([page.status, page.url]).toEqual([200, `${server().url}/dashboard`])
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
  )
  expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  expect(page.headers.get('referrer-policy')).toBe('no-referrer')
  expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin')
  const again = await fetch(`${server().url}/dashboard`, {
    headers: { 'if-none-match': page.headers.get('etag') ?? '' },
  })
  expect(again.status).toBe(304)
})

it('Every file that the page names is immutable, compressed, and has no reference to another host', async () => {
  const html = await (await fetch(`${server().url}/dashboard`)).text()
  const names = [...html.matchAll(/(?:src|href)="(?:\.\/)?(assets\/[^"]+)"/g)].map(
    ([, n = '']) => n,
  )
  expect(names.length).toBeGreaterThanOrEqual(2)
  for (const name of names) {
    const headers = { 'accept-encoding': 'br' }
    const file = await fetch(`${server().url}/dashboard/${name}`, { headers })
    expect([name, file.status, file.headers.get('cache-control')]).toEqual([
      name,
      200,
      'public, max-age=31536000, immutable',
    ])
    expect(file.headers.get('vary')).toBe('Accept-Encoding')
    if (/\.(?:css|js)$/.test(name)) expect(file.headers.get('content-encoding')).toBe('br')
  }
})

it('A missing chunk is answered with 404 and never with the page', async () => {
  const missing = await fetch(`${server().url}/dashboard/assets/page-00000000.js`)
  expect([missing.status, await missing.text()]).toEqual([404, 'Not Found\n'])
})

it.each(['wide', 'narrow'] as const)(
  'The first page opens in a %s window without a violation of the policy',
  async (width) => {
    const page = await openPage(browser(), `${server().url}/`, { width })
    await page.waitForLoadState('networkidle')
    expect(new URL(page.url()).pathname).toMatch(/^\/dashboard/)
    expect(await page.locator('body').textContent()).not.toBe('')
  },
)

it('Below FF_BASE_PATH, the printed address, the first log-in and a reload work in a browser', async () => {
  const below = await RunningServer.start({ FF_BASE_PATH: '/ff' })
  onTestFinished(() => below.close())
  const page = await openPage(browser(), below.firstAddress)
  await page.getByLabel('New password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Save password and log in' }).click()
  await page.waitForURL(({ pathname }) => /^\/ff\/dashboard\/(?!accept)./.test(pathname))
  await page.reload()
  await page.locator('h1').first().waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/ff\/dashboard\/(?!accept|log-in)/)
})

it('A violation of the policy, a request to another host and an exception are recorded as faults', async () => {
  const context = await browser().newContext()
  onTestFinished(() => context.close())
  const faults = await recordFaults(context, server().url)
  const page = await context.newPage()
  await page.goto(`${server().url}/dashboard`)
  await page.waitForLoadState('networkidle')
  expect(faults).toEqual([])
  await page.evaluate(() => {
    new Image().src = 'http://other.invalid/x.png'
    setTimeout(() => Promise.reject(new Error('an exception')), 0)
  })
  const kinds = () => [...new Set(faults.map((fault) => fault.split(':')[0]))].sort()
  await expect.poll(kinds).toEqual(['console', 'exception', 'failed', 'other host', 'policy'])
})

it('A page of another origin cannot show the dashboard in a frame', async () => {
  const address = `${server().url}/dashboard`
  const other = await listen((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<iframe src="${address}"></iframe>`)
  })
  const page = await openPage(browser(), other, { permitted: [/./] })
  await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
})

it('Scripts cannot read the session cookie, and a request without the CSRF token or from another origin is refused', async () => {
  const address = `${server().url}/dashboard`
  const page = await openPage(browser(), address, { permitted: [/status of 403/] })
  const seen = await page.evaluate(
    async ({ token, password }) => {
      const send = (path: string, body: object) =>
        fetch(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      const accepted = await send('/auth/password', { token, new_password: password })
      const refused = await send('/auth/logout', {})
      return [accepted.status, refused.status, document.cookie]
    },
    { token: server().link, password: PASSWORD },
  )
  expect(seen.slice(0, 2)).toEqual([200, 403])
  expect(seen[2]).not.toContain('ff_session')
  const cookies = await page.context().cookies()
  expect(cookies.find(({ name }) => name === 'ff_session')).toMatchObject({
    httpOnly: true,
    sameSite: 'Lax',
  })
  const owner = await ApiSession.logIn(server().url, 'owner@shop.example')
  expect((await owner.send('GET', '/auth/me')).status).toBe(200)
  const foreign = await fetch(`${server().url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'http://other.test' },
    body: JSON.stringify({ email: 'owner@shop.example', password: PASSWORD }),
  })
  expect(foreign.status).toBe(403)
})

it.each(['', '/', '/p/1/flags?env=live', '/login'])(
  'A dashboard below a path of an application opens at its path "%s" without a violation',
  async (path) => {
    const url = await startHostApp()
    const page = await openPage(browser(), `${url}/deep/ui${path}`)
    await page.waitForLoadState('networkidle')
    expect(await page.evaluate(() => document.baseURI)).toBe(`${url}/deep/ui/`)
    expect(await page.locator('body').textContent()).not.toBe('')
  },
)
