import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { SDK_PATHS } from '@ff/protocol/sdk'
import type { ExampleProject } from './example-project.ts'
import { socketMessages, upgradeStatus } from './socket-client.ts'

/** A running host in which a flag server is mounted. */
export interface HostUnderCheck {
  /** The URL of the flag server, with its base path. */
  readonly url: string
  readonly project: ExampleProject
  /** `false` if the host cannot serve sockets. */
  readonly hasSocket: boolean
}

const CONTEXT = { kind: 'user', key: 'user-1' }
const WITHIN_MS = 10_000

/**
 * Checks over HTTP that a host passes everything to the flag server: evaluation, the management
 * API, a pending poll that a change ends, a poll of a client that disconnects, the API page with
 * all its files, and sockets.
 */
export async function checkHost(host: HostUnderCheck): Promise<void> {
  await checkEvaluation(host)
  await checkPolls(host)
  await checkSocket(host)
  await checkDocs(host)
  const { pathname } = new URL(host.url)
  const transports = host.hasSocket ? 'evaluation, polls and sockets' : 'evaluation and polls'
  console.log(`Checked below ${pathname}: ${transports}, management, and /docs with its files.`)
}

function post({ url, project }: HostUnderCheck, path: string, body: unknown): RequestInit & URLed {
  return {
    url: url + path,
    method: 'POST',
    headers: { 'x-api-key': project.sdkKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

interface URLed {
  readonly url: string
}

async function checkEvaluation(host: HostUnderCheck): Promise<void> {
  const { url, ...request } = post(host, SDK_PATHS.evaluate, { context: CONTEXT })
  const response = await fetch(url, request)
  assert.equal(response.status, 200)
  assert.deepEqual(await response.json(), { [host.project.flag]: false })

  const refused = await fetch(url, { ...request, headers: { 'x-api-key': 'wrong' } })
  assert.equal(refused.status, 401)
}

async function checkPolls(host: HostUnderCheck): Promise<void> {
  const { url, ...request } = post(host, SDK_PATHS.poll, { context: CONTEXT })
  const pending = fetch(url, request)
  await pollsAre(host, 1)
  await switchFlag(host, true)
  const response = await within(pending, 'the response to the poll')
  assert.equal(response.status, 200)
  assert.deepEqual(await response.json(), { [host.project.flag]: true })

  const abort = new AbortController()
  const aborted = fetch(url, { ...request, signal: abort.signal }).catch(() => 'aborted')
  await pollsAre(host, 1)
  abort.abort()
  assert.equal(await aborted, 'aborted')
  await pollsAre(host, 0)
}

async function checkSocket(host: HostUnderCheck): Promise<void> {
  const { url, project, hasSocket } = host
  const socketUrl = url.replace(/^http/, 'ws') + SDK_PATHS.socket
  if (!hasSocket) {
    assert.notEqual(await within(upgradeStatus(socketUrl), 'the reply to the upgrade'), 101)
    return
  }
  const init = { type: 'init', sdkKey: project.sdkKey, context: CONTEXT }
  const messages = socketMessages(socketUrl, init)
  const first = await within(messages.next(), 'the first message of the socket')
  assert.deepEqual(first.value, { [project.flag]: true })
  await switchFlag(host, false)
  const second = await within(messages.next(), 'the message about the change')
  assert.deepEqual(second.value, { [project.flag]: false })
  await messages.return()
}

async function checkDocs({ url }: HostUnderCheck): Promise<void> {
  const page = await fetch(`${url}/docs`)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  const links = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)]
  assert.ok(links.length > 3)
  for (const [, link = ''] of links) {
    const file = await fetch(new URL(link, page.url))
    assert.equal(file.status, 200, link)
    assert.ok((await file.arrayBuffer()).byteLength > 100, link)
  }
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument
  const server = new URL(document.servers[0]?.url ?? '', page.url)
  assert.equal(server.href, url)
  const moved = await fetch(`${url}/docs/`)
  assert.equal(moved.url, `${url}/docs`)
}

interface ApiDocument {
  readonly servers: readonly URLed[]
}

/** Changes the flag over the management API of the mounted server. */
async function switchFlag(host: HostUnderCheck, isOn: boolean): Promise<void> {
  await manage(host, `/flags/${host.project.flag}`, {
    method: 'PUT',
    body: JSON.stringify({ default_variation_id: String(isOn) }),
  })
}

/** Waits until the environment has this number of pending polls. */
async function pollsAre(host: HostUnderCheck, count: number): Promise<void> {
  const deadline = Date.now() + WITHIN_MS
  for (;;) {
    const { clients } = await manage<{ clients: { poll: number } }>(host, '/convergence')
    if (clients.poll === count) return
    assert.ok(Date.now() < deadline, `${clients.poll} polls are pending; expected ${count}`)
    await sleep(20)
  }
}

/** Requests a path of the environment, and returns the data of the response. */
async function manage<T>(
  { url, project }: HostUnderCheck,
  path: string,
  request: RequestInit = {},
): Promise<T> {
  const environment = `${url}/projects/${project.project}/envs/${project.environment}`
  const response = await fetch(environment + path, {
    ...request,
    headers: { authorization: `Bearer ${project.token}`, 'content-type': 'application/json' },
  })
  const { data, message } = (await response.json()) as { data: T; message: string }
  assert.equal(response.status, 200, message)
  return data
}

/** Rejects if the promise is still pending after the time limit. */
async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  const abort = new AbortController()
  const late = sleep(WITHIN_MS, undefined, abort).then(() => {
    throw new Error(`${what} did not arrive within ${WITHIN_MS} ms`)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    abort.abort()
    late.catch(() => undefined)
  }
}
