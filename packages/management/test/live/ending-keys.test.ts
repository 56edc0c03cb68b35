import { once } from 'node:events'
import { CLOSE_CODES } from '@ff/protocol/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { attachWebSocket } from '../../../server/src/node/websocket.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { FakeClock, until } from '../../../server/test/fake-clock.ts'
import { type Listening, listen } from '../../../server/test/node/listening.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import type { Json } from '../world/world.ts'

const actor = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
const context = { kind: 'user', key: 'user-1' }

/** A complete server on a port, with a project, a flag and an access token of an owner. */
let flags: ManagedServer
let listening: Listening
let clock: FakeClock
let token: string
let orgId: string
let project: Json
let environment: string

beforeEach(async () => {
  clock = new FakeClock()
  flags = createManagedServer({ ...allInMemory(), clock })
  await flags.start()
  listening = await listen(toNodeHandler(flags))
  attachWebSocket(listening.server, flags)
  const management = flags.as(actor)
  orgId = (await management.createOrganization({ body: { name: 'Acme' } })).id
  const params = { orgId }
  const body = { name: 'owner', role: 'owner' } as const
  token = (await management.createAccessToken({ params, body })).token
  project = await management.createProject({ params, body: { key: 'shop' } })
  environment = `/projects/${project.id}/envs/${project.environments[1].id}`
  await manage('POST', `/projects/${project.id}/flags`, { key: 'f', type: 'boolean' })
  return async () => {
    await flags.close()
    await listening.close()
  }
})

async function manage(method: string, path: string, body?: Json): Promise<Json> {
  const response = await fetch(listening.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { data } = (await response.json()) as Json
  if (response.status >= 300) throw new Error(`${response.status} ${JSON.stringify(data)}`)
  return data
}

const ask = (path: string, key: string, body: Json) =>
  fetch(`${listening.url}/evaluator/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const statusOf = async (key: string) => (await ask('evaluate', key, { context })).status
const newKey = (): Promise<Json> =>
  manage('POST', `${environment}/sdk-keys`, { name: 'k', kind: 'client' })

/** Opens a socket and sends a poll that stays pending, both with this key. */
async function connect(key: string) {
  const socket = new WebSocket(`ws://127.0.0.1:${listening.port}/ws/sdk`)
  let closedWith: number | undefined
  socket.on('close', (code) => {
    closedWith = code
  })
  await once(socket, 'open')
  const greeted = once(socket, 'message')
  socket.send(JSON.stringify({ type: 'init', sdkKey: key, context }))
  await greeted
  const etag = (await ask('evaluate', key, { context })).headers.get('etag')
  const poll = ask('poll', key, { context, since: etag }).then(({ status }) => status)
  let isPending = true
  void poll.then(() => {
    isPending = false
  })
  return {
    poll,
    closedWith: () => closedWith,
    isUndisturbed: () => isPending && closedWith === undefined,
    leave: () => socket.terminate(),
  }
}

describe('clients of an SDK key that ends', () => {
  const endings: readonly [string, (id: string) => Promise<unknown>][] = [
    ['the key is revoked', (id) => manage('DELETE', `${environment}/sdk-keys/${id}`)],
    [
      'the key is rotated without grace',
      (id) => manage('POST', `${environment}/sdk-keys/${id}/rotate`, { grace_seconds: 0 }),
    ],
    ['the environment is deleted', () => manage('DELETE', environment)],
    ['the project is deleted', () => manage('DELETE', `/projects/${project.id}`)],
    ['the organization is deleted', () => manage('DELETE', `/organizations/${orgId}`)],
  ]

  it.each(endings)('A client is disconnected when %s', async (_what, end) => {
    const { id, key } = await newKey()
    const client = await connect(key)
    const started = clock.now()
    await end(id)
    expect(await statusOf(key)).toBe(401)
    await until(() => client.closedWith() !== undefined)
    expect(client.closedWith()).toBe(CLOSE_CODES.keyRefused)
    // If the flags are deleted too, a poll can receive that change first.
    expect([200, 401]).toContain(await client.poll)
    // No timer has run.
    expect(clock.now()).toBe(started)
  })

  it('A pending poll is refused with 401 when only its key ends', async () => {
    const { id, key } = await newKey()
    const client = await connect(key)
    await manage('DELETE', `${environment}/sdk-keys/${id}`)
    expect(await client.poll).toBe(401)
  })

  it('A client stays connected when another key is revoked', async () => {
    const [one, other] = [await newKey(), await newKey()]
    const client = await connect(one.key)
    await manage('DELETE', `${environment}/sdk-keys/${other.id}`)
    expect(await statusOf(other.key)).toBe(401)
    expect(await statusOf(one.key)).toBe(200)
    expect(client.isUndisturbed()).toBe(true)
    client.leave()
  })

  it('A client stays connected during the grace period of a rotation and is disconnected at its end', async () => {
    const old = await newKey()
    const client = await connect(old.key)
    const rotation = `${environment}/sdk-keys/${old.id}/rotate`
    const successor = await manage('POST', rotation, { grace_seconds: 40 })
    await clock.advance(39_999)
    expect([await statusOf(old.key), await statusOf(successor.key)]).toEqual([200, 200])
    expect(client.isUndisturbed()).toBe(true)
    await clock.advance(1)
    expect([await statusOf(old.key), await statusOf(successor.key)]).toEqual([401, 200])
    await clock.advance(9_999)
    await until(() => client.closedWith() !== undefined)
    expect(client.closedWith()).toBe(CLOSE_CODES.keyRefused)
    expect(await client.poll).toBe(401)
  })
})

it('The last use of an SDK key is recorded to the minute', async () => {
  const { id, key } = await newKey()
  const lastUse = async () =>
    (await manage('GET', `${environment}/sdk-keys`)).data.find((each: Json) => each.id === id)
      .last_used_at
  expect(await lastUse()).toBe(null)
  const first = new Date(clock.now()).toISOString()
  for (let use = 0; use < 5; use += 1) expect(await statusOf(key)).toBe(200)
  await clock.advance(1000)
  expect(await lastUse()).toBe(first)
  await clock.advance(30_000)
  await statusOf(key)
  await clock.advance(1000)
  expect(await lastUse()).toBe(first)
  await clock.advance(30_000)
  const second = new Date(clock.now()).toISOString()
  await statusOf(key)
  await clock.advance(1000)
  expect(await lastUse()).toBe(second)
})
