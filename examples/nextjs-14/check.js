// @ts-check
// Changes a flag while the application runs in development and in production, and checks that its
// page and its route handler show each change, although Next.js 14 caches the responses of `fetch`.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { bool, defineFlags } from '@ff/core/flag-types'
import { runProgram, startHostProcess, startShopServer } from '@ff-examples/host-check'

const require = createRequire(import.meta.url)
const NEXT = require.resolve('next/dist/bin/next')
/** The time in which a busy machine delivers a change. A cached response stays for ever. */
const DELIVERED_WITHIN_MS = 30_000

rmSync(join(import.meta.dirname, '.next'), { recursive: true, force: true })
const server = await startShopServer(defineFlags({ 'new-checkout': bool(false) }))
const env = { NEXT_TELEMETRY_DISABLED: '1', FF_URL: server.url, FF_SDK_KEY: server.sdkKey }

/** @param {readonly string[]} args */
const run = (...args) => runProgram(args, { cwd: import.meta.dirname, env })

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

/** Changes the flag. Returns the state that the application must show. */
async function changeFlag() {
  isNew = !isNew
  await server.setDefault(isNew)
  const version = await serverVersion()
  return { local: [isNew, version], client: [isNew, version] }
}

/**
 * Returns the first state for which the condition is true, or the last one before the time is over.
 *
 * @param {string} url
 * @param {(state: Awaited<ReturnType<typeof stateOf>>) => boolean} condition
 */
async function stateWhen(url, condition) {
  const endsAt = Date.now() + DELIVERED_WITHIN_MS
  let state = await stateOf(url)
  while (!condition(state) && Date.now() < endsAt) {
    await pause(100)
    state = await stateOf(url)
  }
  return state
}

/**
 * Changes the flag, starts the application, and changes the flag several times. The clients are
 * created by the first request, which is for the first path.
 *
 * @param {'dev' | 'start'} command
 * @param {'long-poll' | 'auto'} transport
 * @param {readonly string[]} paths
 */
async function checkApplication(command, transport, paths) {
  const first = await changeFlag()
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
  const name = `${command}, ${transport}, ${paths[0]} first`
  try {
    const url = host.ready[1] ?? ''
    for (const path of paths) {
      // A client without values has the version 0. The first values must be the new ones.
      const state = await stateWhen(
        url + path,
        ({ local, client }) => local[1] > 0 && client[1] > 0,
      )
      assert.deepEqual(state, first, `${name}: the first values of ${path}`)
    }
    // With the first change, an odd number: a cached first response has another value.
    for (let change = 0; change < 2; change += 1) {
      const expected = await changeFlag()
      for (const path of paths) {
        const state = await stateWhen(url + path, (each) => isDeepStrictEqual(each, expected))
        assert.deepEqual(state, expected, `${name}: ${path} after a change`)
      }
    }
  } finally {
    await host.stop()
  }
  console.log(`${name}: the page and the route handler show each change.`)
}

/**
 * Starts the application twice. Next.js keeps its cache on disk, also for the second time.
 *
 * @param {'dev' | 'start'} command
 */
async function checkRestart(command) {
  await checkApplication(command, 'long-poll', ['/', '/state'])
  await checkApplication(command, 'long-poll', ['/state', '/'])
}

try {
  await checkRestart('dev')
  await run(NEXT, 'build', import.meta.dirname)
  await run(require.resolve('typescript/bin/tsc'))
  await checkRestart('start')
  await checkApplication('start', 'auto', ['/', '/state'])
} finally {
  await server.close()
}
