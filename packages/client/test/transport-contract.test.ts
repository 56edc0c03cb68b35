import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineFlags, oneOf, text } from '@ff/core/flag-types'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type AllCapabilities, allInMemory } from '../../server/test/capabilities.ts'
import { until } from '../../server/test/fake-clock.ts'
import {
  flagChange,
  publish,
  type SeededEnvironment,
  seed,
  textFlag,
} from '../../server/test/seed.ts'
import { type ClientSocketConstructor, createFlagClient, type FlagClient } from '../src/index.ts'

const flags = defineFlags({
  theme: oneOf('fallback', 'light', 'dark', 'other'),
  banner: text('none'),
})
type Client = FlagClient<{ readonly theme: string; readonly banner: string }>

/** A flag server that can be killed and started again at the same port. */
interface KillableServer {
  readonly url: string
  kill(): Promise<void>
  start(): Promise<void>
}

let capabilities: AllCapabilities
let live: SeededEnvironment
let server: KillableServer
const clients: Client[] = []

beforeEach(async () => {
  capabilities = allInMemory()
  // The store outlives a server that is killed.
  for (const port of Object.values(capabilities)) Object.assign(port, { close: async () => {} })
  ;({ live } = await seed(capabilities.storage))
  await setTheme('light')
  server = await serve()
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  await server.kill()
})

async function serve(): Promise<KillableServer> {
  let port = 0
  let stop = async () => {}
  async function start(): Promise<void> {
    const flagServer = createFlagServer({ ...capabilities })
    const http = createServer(toNodeHandler(flagServer))
    const detach = attachWebSocket(http, flagServer)
    http.listen(port, '127.0.0.1')
    await once(http, 'listening')
    port = (http.address() as AddressInfo).port
    const streams = new Set<{ destroy(): unknown }>()
    http.on('connection', (stream) => {
      streams.add(stream)
      stream.on('close', () => streams.delete(stream))
    })
    stop = async () => {
      detach()
      http.close()
      for (const stream of streams) stream.destroy()
      await flagServer.close().catch(() => {})
    }
  }
  await start()
  return { url: `http://127.0.0.1:${port}`, start, kill: () => stop() }
}

/** Serves `theme` to all contexts, and `other` to users with the plan `pro`. */
async function setTheme(theme: string): Promise<number> {
  const rule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }
  return publish(capabilities, live.environmentId, flagChange(textFlag('theme', theme, [rule])))
}

function connect(transport: 'socket' | 'long-poll' | 'request', sdkKey = live.sdkKey): Client {
  const client = createFlagClient({
    ...{ url: server.url, sdkKey, flags, transport, context: { kind: 'user', key: 'u1' } },
    webSocket: WebSocket as unknown as ClientSocketConstructor,
  })
  clients.push(client)
  return client
}

describe.each(['socket', 'long-poll', 'request'] as const)('the transport %s', (transport) => {
  it(`A client over ${transport} receives the values of its context and of the next one.`, async () => {
    const client = connect(transport)
    expect(await client.ready()).toBe('live')
    expect(client.value('theme')).toBe('light')
    expect(client.value('banner')).toBe('none')
    expect(client.status).toMatchObject({ connection: transport, isCurrent: true, version: 1 })
    await client.setContext({ kind: 'user', key: 'u2', plan: 'pro' })
    expect(client.value('theme')).toBe('other')
    const reset = client.reset({})
    expect(client.value('theme')).toBe('fallback')
    await reset
    expect(client.value('theme')).toBe('light')
  })

  it(`A client over ${transport} has the newest values after a change and a restart.`, async () => {
    const client = connect(transport)
    await client.ready()
    const seen: string[] = []
    client.subscribe('theme', (theme) => seen.push(theme))
    await setTheme('dark')
    if (transport === 'request') await client.setContext({ kind: 'user', key: 'u2' })
    await until(() => client.value('theme') === 'dark')
    for (const theme of ['light', 'dark', 'light']) {
      await server.kill()
      await setTheme(theme)
      await server.start()
      if (transport === 'request') await client.setContext({ kind: 'user', key: theme })
      await until(() => client.value('theme') === theme)
    }
    expect(seen).toEqual(['dark', 'light', 'dark', 'light'])
  })

  it(`A client over ${transport} with an unknown key is refused and keeps its fallbacks.`, async () => {
    const client = connect(transport, 'ff_unknown')
    await until(() => client.status.failure !== undefined)
    expect(client.status.failure).toBe('refused')
    expect(client.value('theme')).toBe('fallback')
  })

  it(`A context that the server refuses is reported over ${transport}.`, async () => {
    const client = connect(transport)
    await client.ready()
    await client.setContext({ kind: 'x'.repeat(65) })
    await until(() => client.status.failure === 'invalidContext')
    expect(client.detail('theme')).toMatchObject({ value: 'light', errorCode: 'INVALID_CONTEXT' })
    await client.setContext({ kind: 'user', key: 'u3' })
    expect(client.detail('theme')).toMatchObject({ value: 'light', source: 'server' })
    expect(client.status.isCurrent).toBe(true)
  })
})

it('Clients of all transports have the last version after the server was killed many times.', async () => {
  const all = (['socket', 'long-poll'] as const).flatMap((transport) =>
    Array.from({ length: 10 }, () => connect(transport)),
  )
  await Promise.all(all.map((client) => client.ready()))
  const versions = all.map(() => 0)
  const check = () => {
    for (const [index, client] of all.entries()) {
      expect(client.value('theme')).not.toBe('fallback')
      expect(client.status.version).toBeGreaterThanOrEqual(versions[index] ?? 0)
      versions[index] = client.status.version
    }
  }
  let last = 1
  for (let round = 0; round < 10; round += 1) {
    await server.kill()
    // The last theme is a new one. With an earlier theme, a client that missed a version could
    // already have the current values. Its poll would be held, and its version would stay the same.
    last = await setTheme(round === 9 ? 'other' : round % 2 === 0 ? 'dark' : 'light')
    check()
    await server.start()
    // The next kill interrupts the other clients.
    await until(() => all.some((client) => client.status.version === last))
    check()
  }
  await until(() => all.every((client) => client.status.version === last))
  check()
  expect(versions).toEqual(all.map(() => last))
  expect(all.map((client) => client.value('theme'))).toEqual(all.map(() => 'other'))
})
