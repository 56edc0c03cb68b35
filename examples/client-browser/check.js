// @ts-check
// Opens the page in headless Chromium, and changes its flags with requests.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium } from 'playwright-core'

const FF_ADMIN_TOKEN = 'development-token'
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
assert.ok(
  existsSync(executablePath),
  `There is no ${executablePath}. Install Chromium, or set CHROMIUM to its path.`,
)

const port = await freePort()
const url = `http://127.0.0.1:${port}`

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' ? address?.port : undefined
}

async function start() {
  const env = { ...process.env, PORT: String(port), FF_ADMIN_TOKEN }
  const main = join(import.meta.dirname, 'dist/main.js')
  const app = spawn(process.execPath, [main], { env, stdio: 'inherit' })
  for (let attempt = 0; attempt < 200; attempt += 1) {
    assert.equal(app.exitCode, null, 'The program has exited.')
    if (await fetch(url).then(Boolean, () => false)) return app
    await wait(50)
  }
  throw new Error('The program does not respond.')
}

/**
 * Changes the default variation of a flag with a request.
 *
 * @param {string} flag
 * @param {string} variation
 */
async function setDefault(flag, variation) {
  const headers = {
    authorization: `Bearer ${FF_ADMIN_TOKEN}`,
    'content-type': 'application/json',
  }
  const body = JSON.stringify({ default_variation_id: variation })
  const path = `/flags/projects/shop/envs/live/flags/${flag}`
  const response = await fetch(url + path, { method: 'PUT', headers, body })
  assert.ok(response.ok, await response.text())
}

const app = await start()
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
})
try {
  await setDefault('new-checkout', 'true')
  const page = await browser.newPage()
  /** @type {string[]} */
  const faults = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  // Records every text that the button has shown.
  await page.addInitScript(() => {
    const shown = new Set()
    const watch = () => shown.add(document.querySelector('button')?.textContent ?? '')
    new MutationObserver(watch).observe(document, { childList: true, subtree: true })
    Object.assign(window, { shown })
  })
  const texts = () => page.evaluate(() => [...Reflect.get(window, 'shown')].filter(Boolean))
  const ready = () => page.evaluate(() => Reflect.get(window, 'flagClient').ready())

  await page.goto(url)
  assert.equal(await ready(), 'live')
  assert.deepEqual(await texts(), ['Buy now'], 'The page has shown a fallback.')
  console.log('The page has only shown:', await texts())

  await setDefault('new-checkout', 'false')
  await page.getByText('Add to cart').waitFor()
  await setDefault('theme', 'dark')
  await page.locator('body[data-theme=dark]').waitFor()
  const status = await page.evaluate(() => Reflect.get(window, 'flagClient').status)
  assert.equal(status.connection, 'socket')
  assert.equal(status.isCurrent, true)
  console.log('The page follows changes:', status)

  // A new visit begins with the values of the last one, although the server has new ones.
  await page.reload()
  assert.equal(await ready(), 'live')
  assert.deepEqual(await texts(), ['Add to cart'])

  // Without the server, the page keeps its values.
  app.kill()
  await once(app, 'exit')
  await wait(500)
  assert.equal(await page.locator('button').textContent(), 'Add to cart')
  const lost = await page.evaluate(() => Reflect.get(window, 'flagClient').status)
  assert.equal(lost.isCurrent, false)
  assert.deepEqual(
    faults.filter((fault) => !/ERR_CONNECTION_REFUSED|WebSocket connection/.test(fault)),
    [],
  )
  console.log('The page keeps its values without the server.')
} finally {
  await browser.close()
  app.kill()
}
