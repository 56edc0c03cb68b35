// @ts-check
// Runs the built server, and checks its output and its exit codes.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'

const dataDir = join(mkdtempSync(join(tmpdir(), 'ff-standalone-')), 'data')

/**
 * Starts the server on a free port and returns its process, output and URL.
 *
 * @param {string} workers The value of `FF_WORKERS`.
 */
async function start(workers) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'dist/main.js')], {
    env: {
      ...process.env,
      PORT: '0',
      FF_DATA_DIR: dataDir,
      FF_ADMIN_TOKEN: '',
      FF_WORKERS: workers,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  while (!/running at \S+[\s\S]*\n\n/.test(output)) await once(child.stdout, 'data')
  await new Promise((resolve) => setTimeout(resolve, 50))
  const url = /running at (\S+)/.exec(output)?.[1] ?? ''
  return { child, output, url }
}

/**
 * Stops the server with SIGTERM and returns its exit code.
 *
 * @param {import('node:child_process').ChildProcess} child
 */
async function stop(child) {
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  return code
}

try {
  const first = await start('1')
  console.log(first.output)
  const keys = first.output.match(/\bff_[0-9a-f]{64}\b/g) ?? []
  const token = /\bffat_[0-9a-f]{64}\b/.exec(first.output)?.[0]
  const curl = /^curl .*\/evaluate .*$/m.exec(first.output)?.[0] ?? ''
  assert.equal(new Set(keys).size, 2, 'one SDK key for each environment')

  const values = JSON.parse(execFileSync('bash', ['-c', curl], { encoding: 'utf8' }))
  assert.ok(Object.keys(values).length >= 14, 'the curl command prints the flags')
  const types = new Set(Object.values(values).map((value) => typeof value))
  assert.deepEqual([...types].sort(), ['boolean', 'number', 'object', 'string'])
  assert.equal(values['support-channel'], 'chat')
  assert.equal(values['free-shipping-threshold'], 40)

  const address = /Dashboard: (\S+)#(ffl_[0-9a-f]{64})$/m.exec(first.output)
  const [, page = '', link = ''] = address ?? []
  const html = await (await fetch(page)).text()
  assert.match(html, /<base href="\/dashboard\/"/, 'the printed address leads to the dashboard')
  assert.equal((await fetch(first.url)).url, `${first.url}/dashboard`)
  const chosen = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: link, new_password: 'a password for the owner' }),
  }
  const accepted = await fetch(`${first.url}/auth/password`, chosen)
  assert.equal(accepted.status, 200)
  assert.match(accepted.headers.get('set-cookie') ?? '', /^ff_session=/, 'the link logs in')
  const again = await fetch(`${first.url}/auth/password`, chosen)
  assert.equal(again.status, 401, 'the link is valid once')

  const headers = { authorization: `Bearer ${token}` }
  const flagsUrl = /http\S+\/projects\/shop\/\S+/.exec(first.output)?.[0] ?? ''
  /** @param {string} url */
  const list = async (url) => (await (await fetch(url, { headers })).json()).data
  const listed = await list(flagsUrl)
  for (const flag of listed.data) flag.last_evaluated_at = null
  assert.equal(listed.meta.total, Object.keys(values).length)

  const context = { kind: 'user', key: 'user-1' }
  const poll = fetch(`${first.url}/evaluator/poll`, {
    method: 'POST',
    headers: { 'x-api-key': keys[0] ?? '', 'content-type': 'application/json' },
    body: JSON.stringify({ context }),
  })
  const socket = new WebSocket(`${first.url.replace('http', 'ws')}/ws/sdk`)
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'init', sdkKey: keys[0], context }))
  await once(socket, 'message')
  const closed = once(socket, 'close')
  const metrics = async () => (await fetch(`${first.url}/metrics`, { headers })).text()
  while (!/^ff_live_clients\{transport="poll"\} 1$/m.test(await metrics())) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal(await stop(first.child), 0, 'SIGTERM results in exit code 0')
  assert.equal((await poll).status, 200, 'the pending poll received a response')
  assert.equal((await closed)[0], 1001, 'the socket was closed with "going away"')

  // Two processes serve the data that one process has stored.
  const second = await start('2')
  console.log(second.output)
  assert.doesNotMatch(second.output, /\bff_|ffat_|ffl_/, 'the second start prints no secrets')
  const kept = await list(flagsUrl.replace(first.url, second.url))
  for (const flag of kept.data) {
    assert.ok(flag.last_evaluated_at, 'the time of the last evaluation is stored')
    flag.last_evaluated_at = null
  }
  assert.deepEqual(kept, listed, 'the second start keeps all data')
  assert.equal(await stop(second.child), 0)
} finally {
  rmSync(join(dataDir, '..'), { recursive: true, force: true })
}

await import('./check-image.js')
