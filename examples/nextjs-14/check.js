// @ts-check
// Changes a flag while the application runs in development and in production, and checks that its
// page and its route handler show each change, although Next.js 14 caches the responses of `fetch`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { bool, defineFlags } from '@ff/core/flag-types'
import { startHostProcess, startShopServer } from '@ff-examples/host-check'

const require = createRequire(import.meta.url)
const NEXT = require.resolve('next/dist/bin/next')
/** The time in which a busy machine delivers a change. A cached response stays for ever. */
const DELIVERED_WITHIN_MS = 30_000

rmSync(join(import.meta.dirname, '.next'), { recursive: true, force: true })
const server = await startShopServer(defineFlags({ 'new-checkout': bool(false) }))
const env = { NEXT_TELEMETRY_DISABLED: '1', FF_URL: server.url, FF_SDK_KEY: server.sdkKey }

/**
 * Runs a program and rejects if it fails.
 *
 * @param {readonly string[]} args
 */
async function run(...args) {
  const child = spawn(process.execPath, args, {
    cwd: import.meta.dirname,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  assert.equal(code, 0, args.join(' '))
}

/** Returns the version of the flag set that the server has. */
async function serverVersion() {
  const response = await fetch(`${server.url}/evaluator/flag-set`, {
    headers: { 'x-api-key': server.sdkKey },
  })
  await response.arrayBuffer()
  return Number(response.headers.get('x-ff-version'))
}

/**
 * Returns the state in a response of the application.
 *
 * @param {string} url
 */
async function stateOf(url) {
  const text = (await (await fetch(url)).text()).replaceAll('&quot;', '"')
  const state = /\{"local":.*?\]/.exec(text)?.[0]
  const client = /"client":(\[.*?\])/.exec(text)?.[1]
  assert.ok(state && client, text)
  return { local: JSON.parse(`${state}}`).local, client: JSON.parse(client) }
}

let isNew = false

/**
 * Starts the application, and changes the flag several times.
 *
 * @param {'dev' | 'start'} command
 * @param {'long-poll' | 'auto'} transport
 */
async function checkApplication(command, transport) {
  const host = await startHostProcess({
    command: process.execPath,
    args: [NEXT, command, import.meta.dirname, '--hostname', '127.0.0.1', '--port', '0'],
    env: {
      ...env,
      FF_TRANSPORT: transport,
      NODE_ENV: command === 'dev' ? 'development' : 'production',
    },
    ready: /(http:\/\/127\.0\.0\.1:\d+)/,
  })
  try {
    const url = host.ready[1] ?? ''
    for (let change = 0; change < 3; change += 1) {
      isNew = !isNew
      await server.setDefault(isNew)
      const version = await serverVersion()
      const expected = { local: [isNew, version], client: [isNew, version] }
      for (const path of ['/', '/state']) {
        const endsAt = Date.now() + DELIVERED_WITHIN_MS
        let state = await stateOf(url + path)
        while (!isDeepStrictEqual(state, expected) && Date.now() < endsAt) {
          await pause(100)
          state = await stateOf(url + path)
        }
        assert.deepEqual(state, expected, `${command} ${transport} ${path}`)
      }
    }
  } finally {
    await host.stop()
  }
  console.log(`${command}, ${transport}: the page and the route handler show each change.`)
}

try {
  await checkApplication('dev', 'long-poll')
  await run(NEXT, 'build', import.meta.dirname)
  await run(require.resolve('typescript/bin/tsc'))
  await checkApplication('start', 'long-poll')
  // Next.js keeps its cache on disk. The first values after a restart are the new ones.
  await checkApplication('start', 'auto')
} finally {
  await server.close()
}
