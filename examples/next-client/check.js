// @ts-check
// Builds the application, and checks that its page, its route handler, its proxy, the adapter of the
// Flags SDK and its client component name the same value, and that the page does not flicker.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { bool, defineFlags, oneOf } from '@ff/core/flag-types'
import { runProgram, startHostProcess, startShopServer } from '@ff-examples/host-check'
import { createAccessProof } from 'flags'
import { chromium } from 'playwright-core'

const USERS = 50
const CHANGES = 50
const AWAY_MS = 10_000
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
assert.ok(
  existsSync(executablePath),
  `There is no ${executablePath}. Install Chromium, or set CHROMIUM to its path.`,
)

const require = createRequire(import.meta.url)
const NEXT = require.resolve('next/dist/bin/next')
rmSync(join(import.meta.dirname, '.next'), { recursive: true, force: true })
const server = await startShopServer(
  defineFlags({ 'new-checkout': bool(false), theme: oneOf('light', 'dark') }),
)
const env = {
  NEXT_TELEMETRY_DISABLED: '1',
  FF_URL: server.url,
  FF_SDK_KEY: server.sdkKey,
  FF_CLIENT_KEY: server.clientKey,
  FLAGS_SECRET: randomBytes(32).toString('base64url'),
}

/** @param {readonly string[]} args */
const run = (...args) => runProgram(args, { cwd: import.meta.dirname, env })

await Promise.all([run(NEXT, 'build'), run(require.resolve('typescript/bin/tsc'))])
const host = await startHostProcess({
  command: process.execPath,
  args: [NEXT, 'start', import.meta.dirname, '--hostname', '127.0.0.1', '--port', '0'],
  env: { ...env, NODE_ENV: 'production' },
  ready: /(http:\/\/127\.0\.0\.1:\d+)/,
})
const url = host.ready[1] ?? ''
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
})

/** @param {string} path */
const get = async (path) => (await fetch(url + path)).text()

/**
 * Returns the values of a user, as each part of the application names them, without duplicates.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} user
 */
async function valuesOf(page, user) {
  const response = await fetch(`${url}/?user=${user}`)
  const html = await response.text()
  /** @param {string} id */
  const inHtml = (id) => new RegExp(`id="${id}"[^>]*>(\\w+)<`).exec(html)?.[1]
  await page.goto(`${url}/?user=${user}`)
  await page.locator('#account[data-current=true]').waitFor()
  const values = {
    'server component': inHtml('server'),
    'HTML of the client component': inHtml('client'),
    proxy: response.headers.get('x-new-checkout'),
    'route handler': await get(`/value?user=${user}`),
    adapter: await get(`/adapter?user=${user}`),
    'client component': await page.locator('#client').textContent(),
  }
  const names = new Set(Object.values(values))
  assert.equal(names.size, 1, `${user}: ${JSON.stringify(values)}`)
  return [...names][0]
}

/** Returns when the proxy of the application has the same value for each of the users as before. */
async function checkUsers() {
  const page = await browser.newPage()
  const counts = new Map()
  for (let turn = 0; turn < USERS; turn += 1) {
    const value = await valuesOf(page, randomUUID())
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  await page.close()
  return counts
}

/** Checks that the discovery endpoint answers only requests with the secret. */
async function checkDiscovery() {
  const path = `${url}/.well-known/vercel/flags`
  assert.equal((await fetch(path)).status, 401)
  const authorization = `Bearer ${await createAccessProof(env.FLAGS_SECRET)}`
  const response = await fetch(path, { headers: { authorization } })
  assert.equal(response.status, 200)
  const { definitions } = await response.json()
  assert.deepEqual(Object.keys(definitions), ['new-checkout', 'theme'])
}

try {
  await checkDiscovery()
  await server.setPercentage(50)
  await wait(1000)
  console.log(`All parts name the same value for ${USERS} users at 50 %:`, await checkUsers())
  await server.setPercentage(80)
  await wait(1000)
  console.log(`All parts name the same value for ${USERS} users at 80 %:`, await checkUsers())
  await server.setPercentage(0)
  await wait(1000)

  const page = await browser.newPage()
  /** @type {string[]} */
  const messages = []
  page.on('pageerror', (error) => messages.push(String(error)))
  page.on('console', (message) => messages.push(message.text()))
  // Records every value that the page has shown.
  await page.addInitScript(() => {
    const shown = new Set()
    const watch = () => shown.add(document.querySelector('#client')?.textContent)
    const all = { childList: true, subtree: true, characterData: true }
    new MutationObserver(watch).observe(document, all)
    Object.assign(window, { shown })
  })
  const client = page.locator('#client')
  const current = page.locator('#account[data-current=true]')
  /** @param {string} value */
  const shows = (value) => page.locator(`#client:text-is("${value}")`).waitFor()
  await page.goto(`${url}/?user=ada`)
  await current.waitFor()
  const shown = await page.evaluate(() => [...Reflect.get(window, 'shown')].filter(Boolean))
  assert.deepEqual(shown, ['false'])

  const times = []
  for (let turn = 0; turn < CHANGES; turn += 1) {
    const start = performance.now()
    await server.setPercentage(turn % 2 === 0 ? 100 : 0)
    await shows(String(turn % 2 === 0))
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  console.log(
    `From the change to the page, ${CHANGES} changes:`,
    `p50 ${Math.round(times[CHANGES / 2] ?? 0)} ms, at most ${Math.round(times.at(-1) ?? 0)} ms`,
  )

  await server.pause()
  await wait(AWAY_MS)
  assert.equal(await client.textContent(), 'false')
  await server.resume()
  await server.setPercentage(100)
  await shows('true')
  await current.waitFor()
  await page.getByText('Sign out').click()
  // Nobody is signed in, so that the user is not part of a rollout.
  await shows('false')
  await page.getByText('Sign in').click()
  await shows('true')
  console.log(
    'The page keeps its value without the server, follows it again, and follows the user.',
  )

  // Chromium itself writes about each connection that fails.
  const network = /ERR_CONNECTION_REFUSED|WebSocket connection to/
  assert.deepEqual(
    messages.filter((message) => !network.test(message)),
    [],
  )
} finally {
  await browser.close()
  await host.stop()
  await server.close()
}
