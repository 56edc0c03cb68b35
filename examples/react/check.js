// @ts-check
// Opens the page in headless Chromium, changes its flags, stops the server, and signs in and out.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium } from 'playwright-core'

const FF_ADMIN_TOKEN = 'development-token'
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
assert.ok(
  existsSync(executablePath),
  `There is no ${executablePath}. Install Chromium, or set CHROMIUM to its path.`,
)
const CHANGES = 50
const AWAY_MS = 10_000

const folder = mkdtempSync(join(tmpdir(), 'ff-react-'))
const port = await freePort()
const url = `http://127.0.0.1:${port}`
let app = await start()

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' ? address?.port : undefined
}

async function start() {
  const data = {
    PORT: String(port),
    ORIGIN: url,
    FF_ADMIN_TOKEN,
    DATA_FILE: join(folder, 'flags.db'),
  }
  const env = { ...process.env, NODE_ENV: 'production', ...data }
  const main = join(import.meta.dirname, 'dist/server/main.js')
  const started = spawn(process.execPath, [main], { env, stdio: 'inherit' })
  for (let attempt = 0; attempt < 200; attempt += 1) {
    assert.equal(started.exitCode, null, 'The program has exited.')
    if (await fetch(url).then(Boolean, () => false)) return started
    await wait(50)
  }
  throw new Error('The program does not respond.')
}

async function stop() {
  app.kill()
  await once(app, 'exit')
}

/**
 * Changes a flag with a request: its default variation, or one for a user.
 *
 * @param {string} flag
 * @param {object} change
 */
async function change(flag, change) {
  const headers = {
    authorization: `Bearer ${FF_ADMIN_TOKEN}`,
    'content-type': 'application/json',
  }
  const path = `/flags/projects/shop/envs/live/flags/${flag}`
  const body = JSON.stringify(change)
  const response = await fetch(url + path, { method: 'PUT', headers, body })
  assert.ok(response.ok, await response.text())
}

/** @param {boolean} isNew */
const setCheckout = (isNew) => change('new-checkout', { default_variation_id: String(isNew) })

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
})
try {
  await setCheckout(true)
  const page = await browser.newPage()
  /** @type {string[]} */
  const messages = []
  let sockets = 0
  page.on('pageerror', (error) => messages.push(String(error)))
  page.on('console', (message) => messages.push(message.text()))
  page.on('websocket', () => {
    sockets += 1
  })
  // Records every text that the button and the reviews have shown.
  await page.addInitScript(() => {
    const shown = new Set()
    const watch = () => {
      for (const each of document.querySelectorAll('#root > button, #reviews')) {
        shown.add(each.textContent)
      }
    }
    const all = { childList: true, subtree: true, characterData: true }
    new MutationObserver(watch).observe(document, all)
    Object.assign(window, { shown })
  })
  const shown = () => page.evaluate(() => [...Reflect.get(window, 'shown')].sort())
  const current = page.locator('#account[data-current=true]')
  const button = page.locator('#root > button')

  await page.goto(`${url}/?user=ada`)
  await current.waitFor()
  await page.locator('#reviews').waitFor()
  assert.deepEqual(await shown(), ['Buy now', 'Reviews in the light theme'])
  assert.equal(sockets, 1)
  console.log('The page has only shown:', await shown())

  const times = []
  for (let turn = 0; turn < CHANGES; turn += 1) {
    const isNew = turn % 2 === 1
    const start = performance.now()
    await setCheckout(isNew)
    await page.getByText(isNew ? 'Buy now' : 'Add to cart').waitFor()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  console.log(
    `From the request to the page, ${CHANGES} changes:`,
    `p50 ${Math.round(times[CHANGES / 2] ?? 0)} ms, at most ${Math.round(times.at(-1) ?? 0)} ms`,
  )

  await stop()
  await wait(AWAY_MS)
  assert.equal(await button.textContent(), 'Buy now')
  app = await start()
  await setCheckout(false)
  await page.getByText('Add to cart').waitFor()
  await current.waitFor()
  console.log('The page has kept its value without the server, and follows changes again.')

  // Only one user has the new checkout.
  const targets = [{ variation_id: 'true', kind: 'user', keys: ['grace'] }]
  await change('new-checkout', { default_variation_id: 'false', targets })
  await page.getByText('Sign out').click()
  await page.getByText('Signed out').waitFor()
  await page.getByText('Sign in').click()
  await page.getByText('Buy now').waitFor()
  await page.getByText('Sign out').click()
  await page.getByText('Add to cart').waitFor()
  console.log('The page follows the user.')

  // Chromium itself writes about each connection that fails.
  const network = /ERR_CONNECTION_REFUSED|WebSocket connection to/
  assert.deepEqual(
    messages.filter((message) => !network.test(message)),
    [],
  )
} finally {
  await browser.close()
  await stop()
  rmSync(folder, { recursive: true, force: true })
}
