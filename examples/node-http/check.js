// @ts-check
// Starts the example in an empty folder, and changes its flag with a request.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { checkHost } from '@ff-examples/host-check'

const FF_ADMIN_TOKEN = 'development-token'
const folder = mkdtempSync(join(tmpdir(), 'ff-node-http-'))
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const live = `${url}/flags/projects/shop/envs/live`

/** Starts the program and waits until it responds. */
async function start() {
  const env = { ...process.env, PORT: String(port), FF_ADMIN_TOKEN }
  const main = join(import.meta.dirname, 'dist/main.js')
  const app = spawn(process.execPath, [main], { cwd: folder, env, stdio: 'inherit' })
  for (let attempt = 0; attempt < 200; attempt += 1) {
    assert.equal(app.exitCode, null, 'The program has exited.')
    if (await greeting().then(Boolean, () => false)) return app
    await wait(50)
  }
  throw new Error('The program does not respond.')
}

/**
 * Sends a request to the management API, and returns the data of the response.
 *
 * @param {string} method
 * @param {string} path
 * @param {object} body
 */
async function manage(method, path, body) {
  const headers = {
    authorization: `Bearer ${FF_ADMIN_TOKEN}`,
    'content-type': 'application/json',
  }
  const response = await fetch(live + path, { method, headers, body: JSON.stringify(body) })
  const { data, message } = await response.json()
  assert.ok(response.ok, message)
  return data
}

async function greeting() {
  return (await fetch(url)).text()
}

/**
 * Waits until the app responds with a text. A change applies shortly after the response to it.
 *
 * @param {string} text
 */
async function greetingBecomes(text) {
  for (let attempt = 0; attempt < 100 && (await greeting()) !== text; attempt += 1) await wait(50)
  assert.equal(await greeting(), text)
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' ? address?.port : undefined
}

let app = await start()
try {
  assert.equal(await greeting(), 'Hello.')
  console.log('The app responds:', await greeting())

  const unauthorized = await fetch(`${live}/flags/welcome`, { method: 'PUT' })
  assert.equal(unauthorized.status, 401)
  await manage('PUT', '/flags/welcome', { default_variation_id: 'true' })
  await greetingBecomes('Good to see you!')
  console.log('After a change of the flag:', await greeting())

  await manage('PUT', '/flags/welcome', { default_variation_id: null })
  const { key } = await manage('POST', '/sdk-keys', { name: 'Example', kind: 'client' })
  await checkHost({
    url: `${url}/flags`,
    project: {
      ...{ project: 'shop', environment: 'live', flag: 'welcome' },
      ...{ sdkKey: key, token: FF_ADMIN_TOKEN },
    },
    hasSocket: true,
  })
  await manage('PUT', '/flags/welcome', { default_variation_id: 'true' })

  // The program can start again: its project and flag exist, and the change is kept.
  // A connection without a request does not delay the end.
  const silent = connect({ port, host: '127.0.0.1' })
  await once(silent, 'connect')
  app.kill()
  assert.deepEqual(await once(app, 'exit'), [0, null])
  app = await start()
  assert.equal(await greeting(), 'Good to see you!')
} finally {
  app.kill()
  await once(app, 'exit')
  rmSync(folder, { recursive: true, force: true })
}
