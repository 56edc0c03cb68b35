// @ts-check
// Runs the gateway in front of a flag server, and checks it with a client that behaves like the
// older clients.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'
import { createExampleProject, startHostProcess } from '@ff-examples/host-check'
import { LegacyClient } from './legacy-client.js'

/** @import { AddressInfo } from 'node:net' */

const folder = mkdtempSync(join(tmpdir(), 'ff-legacy-gateway-'))
const CONTEXT = { kind: 'user', key: 'user-1', plan: 'pro' }

/**
 * Starts a flag server, which trusts the gateway as its proxy.
 *
 * @param {number} port
 */
async function startServer(port) {
  const path = join(folder, 'flags.db')
  const management = createManagement()
  const flags = createFlagServer({ ...sqlite({ path }), management, trustProxy: true })
  const server = createServer(toNodeHandler(flags))
  attachWebSocket(server, flags)
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)))
  const address = /** @type {AddressInfo} */ (server.address())
  return {
    flags,
    port: address.port,
    async close() {
      server.close()
      await flags.close()
      server.closeAllConnections()
    },
  }
}

/**
 * Waits until a condition is true.
 *
 * @param {string} what
 * @param {() => boolean | Promise<boolean>} isTrue
 */
async function until(what, isTrue) {
  const deadline = Date.now() + 15_000
  while (!(await isTrue())) {
    assert.ok(Date.now() < deadline, `Not within 15 seconds: ${what}`)
    await sleep(20)
  }
}

/**
 * @param {unknown} actual
 * @param {unknown} expected
 */
function isEqual(actual, expected) {
  return JSON.stringify(actual) === JSON.stringify(expected)
}

let server = await startServer(0)
const project = await createExampleProject(server.flags)
const params = { projectId: project.project, environmentId: project.environment }
const manage = () => server.flags.as(SYSTEM)
const pro = await manage().createFlag({ params, body: { key: 'pro-only', type: 'boolean' } })
await manage().createTargetingRule({
  params: { ...params, flagId: pro.id },
  body: {
    name: 'Pro',
    conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }],
    variationId: 'true',
  },
})
/** @param {boolean} isOn */
const setMaintenance = (isOn) =>
  manage().updateFlagState({
    params: { ...params, flagId: project.flag },
    body: { defaultVariationId: String(isOn) },
  })

const gateway = await startHostProcess({
  command: process.execPath,
  args: [join(import.meta.dirname, 'dist/main.js')],
  env: { TARGET: `http://127.0.0.1:${server.port}`, PORT: '0' },
  ready: /listens at (\S+)/,
})
const url = gateway.ready[1] ?? ''
const socketUrl = url.replace('http', 'ws')

/**
 * @param {string} body
 * @param {string} apiKey
 */
async function evaluate(body, apiKey = project.sdkKey) {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const response = await fetch(`${url}/evaluator/evaluate`, { method: 'POST', headers, body })
  const json = /** @type {{ statusCode: number }} */ (await response.json())
  return { status: response.status, headers: response.headers, json }
}

// The envelope, and errors.
const evaluated = await evaluate(JSON.stringify({ context: CONTEXT }))
assert.deepEqual(evaluated.json, {
  ...{ statusCode: 200, message: 'OK' },
  data: { maintenance: false, 'pro-only': true },
})
assert.ok(Number(evaluated.headers.get('x-ratelimit-remaining')) > 0)
assert.equal((await evaluate('{"context":{}}', 'ff_wrong')).json.statusCode, 401)
assert.equal((await evaluate('{"context":', project.sdkKey)).json.statusCode, 400)
assert.equal((await evaluate('x'.repeat(300_000))).json.statusCode, 413)
assert.equal((await evaluate(' '.repeat(256 * 1024))).status, 400)
assert.equal((await fetch(`${url}/projects`)).status, 404)

// A socket: values for the context, full messages after partial ones, and pings.
const client = new LegacyClient(socketUrl, { apiKey: project.sdkKey, context: CONTEXT })
const sees = (/** @type {unknown} */ values) => isEqual(client.values, values)
await until('the values of the context', () => sees({ maintenance: false, 'pro-only': true }))
await setMaintenance(true)
await until('a full message', () => sees({ maintenance: true, 'pro-only': true }))
await manage().deleteFlag({ params: { ...params, flagId: pro.id } })
await until('a message without the removed flag', () => sees({ maintenance: true }))
await until('a pong', () => client.pongs > 0)
assert.deepEqual(client.codes, [])

// Refusals that are final.
/** @type {[string, string, string | Buffer | undefined, number][]} */
const REFUSALS = [
  ['no key', '', undefined, 4001],
  ['a wrong key', `ff_${'0'.repeat(64)}`, undefined, 4001],
  ['a message that is not JSON', project.sdkKey, 'hello', 1008],
  ['a binary message', project.sdkKey, Buffer.from('{"type":"ping"}'), 1008],
  ['an oversized message', project.sdkKey, ' '.repeat(200_000), 1008],
  ['a context that is too large', project.sdkKey, contextOf(70_000), 1008],
]
/** @param {number} size */
function contextOf(size) {
  return JSON.stringify({ type: 'context', context: { text: 'x'.repeat(size) } })
}
for (const [what, apiKey, message, code] of REFUSALS) {
  const refused = new LegacyClient(socketUrl, { apiKey, context: CONTEXT })
  if (message !== undefined) {
    await until(what, () => refused.values !== undefined)
    refused.send(message)
  }
  await until(what, () => refused.isFinished)
  assert.deepEqual(refused.codes, [code], what)
}

// A client that disconnects.
const liveSockets = async () => (await manage().getConvergence({ params })).clients.ws
const short = new LegacyClient(socketUrl, { apiKey: project.sdkKey, context: CONTEXT })
await until('two sockets', async () => (await liveSockets()) === 2)
short.stop()
await until('one socket', async () => (await liveSockets()) === 1)

// A server that is away, and comes back.
await server.close()
await until('a code that is not final', () => client.codes.length > 1)
assert.deepEqual([...new Set(client.codes)], [1013])
assert.equal((await evaluate('{"context":{}}')).status, 502)
server = await startServer(server.port)
await setMaintenance(false)
await until('the values after the restart', () => sees({ maintenance: false }))

// A key that is revoked.
const { data: keys } = await manage().listSdkKeys({ params })
await manage().revokeSdkKey({ params: { ...params, keyId: keys[0]?.id ?? '' } })
await until('the end of the client', () => client.isFinished)
assert.equal(client.codes.at(-1), 4001)

await server.close()
await gateway.stop()
assert.ok(gateway.output().includes('POST /evaluator/evaluate failed'))
assert.ok(!/ff_|apiKey/.test(gateway.output()), 'the log of the gateway contains no keys')
rmSync(folder, { recursive: true })
console.log('An older client received its values over HTTP and a socket, and each refusal.')
