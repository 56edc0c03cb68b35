import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFlagServer, type FlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { until } from '../../../server/test/fake-clock.ts'
import { type Listening, listen } from '../../../server/test/node/listening.ts'
import { addSdkKey, flagChange, publish, seed, textFlag } from '../../../server/test/seed.ts'
import { nodeWebSocket } from '../../src/node/web-socket.ts'
import { createFlagClient, createLocalClient } from '../../src/node.ts'
import { flags, user } from '../local/local-scene.ts'

let memory: ReturnType<typeof allInMemory>
let server: FlagServer
let listening: Listening
let sdkKey: string
let environmentId: string
let cache: string

beforeEach(async () => {
  memory = allInMemory()
  const { live } = await seed(memory.storage)
  ;({ environmentId } = live)
  ;({ sdkKey } = await addSdkKey(memory.storage, live, { kind: 'server' }))
  await set('hello')
  server = createFlagServer(memory)
  listening = await listen(toNodeHandler(server))
  attachWebSocket(listening.server, server)
  await server.start()
  cache = mkdtempSync(join(tmpdir(), 'ff-node-'))
})

afterEach(async () => {
  await listening.close()
  await server.close()
  rmSync(cache, { recursive: true, force: true })
})

const set = (value: string) => {
  const others = ['1', '2', '3', '4', '5'].map((key) => flagChange(textFlag(key, 'x')))
  return publish(memory, environmentId, flagChange(textFlag('banner', value)), ...others)
}

describe('@ff/client/node', () => {
  it('A local client receives changes over a real socket, and caches them on the disk.', async () => {
    const errors: unknown[] = []
    const options = {
      url: listening.url,
      sdkKey,
      flags,
      cache,
      onError: (error: unknown) => errors.push(error),
    }
    const local = createLocalClient(options)
    expect(await local.ready()).toBe('live')
    expect(local.value('banner', user)).toBe('hello')
    await until(() => local.status.connection === 'socket')
    const changed = new Promise((resolve) => local.subscribe('banner', resolve))
    await set('changed')
    await changed
    expect(local.value('banner', user)).toBe('changed')
    await local.close()
    const later = createLocalClient(options)
    expect(later.value('banner', user)).toBe('changed')
    expect(later.status.source).toBe('cache')
    await later.close()
    expect(errors).toEqual([])
  })

  it('A flag client receives values over a real socket, and caches them on the disk.', async () => {
    const options = { url: listening.url, sdkKey, flags, cache, context: user }
    const client = createFlagClient(options)
    expect(await client.ready()).toBe('live')
    await until(() => client.status.connection === 'socket')
    expect(client.value('banner')).toBe('hello')
    client.close()
    // `close` does not wait for the file.
    const files = () => readdirSync(cache).filter((name) => name.endsWith('.json'))
    await until(() => files().length > 0)
    const later = createFlagClient(options)
    expect(later.value('banner')).toBe('hello')
    later.close()
  })

  it('Without onError, a refused SDK key is a single warning, and ready does not wait.', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const options = { url: listening.url, sdkKey: 'ffs_unknown', flags, context: user }
    const client = createFlagClient(options)
    const local = createLocalClient(options)
    const ready = { timeoutMs: 60_000 }
    expect(await Promise.all([client.ready(ready), local.ready(ready)])).toEqual([
      'fallbacks',
      'fallbacks',
    ])
    expect(client.status.failure).toBe('refused')
    expect(await client.ready(ready)).toBe('fallbacks')
    client.close()
    await local.close()
    const warning = `@ff/client: The flag server ${listening.url} refuses the SDK key: 401`
    // A client of an earlier test can still write to its cache, whose folder is deleted.
    const refusals = warn.mock.calls.filter(([text]) => String(text).includes('SDK key'))
    expect(refusals).toEqual([[warning], [warning]])
    warn.mockRestore()
  })

  it('Node without a WebSocket has that of the package ws.', () => {
    expect(typeof nodeWebSocket()).toBe('function')
    expect(() => createLocalClient(undefined as never)).toThrow('`url` must begin with http')
  })
})
