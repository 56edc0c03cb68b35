import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FlagDefinition } from '@ff/core'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { allInMemory } from '../../server/test/capabilities.ts'
import { addSdkKey, flagChange, publish, seed } from '../../server/test/seed.ts'

/** A flag server that can be stopped and started again at the same port. */
export interface TestServer {
  readonly url: string
  readonly clientKey: string
  readonly serverKey: string
  readonly memory: ReturnType<typeof allInMemory>
  readonly environmentId: string
  publish(...flags: readonly FlagDefinition[]): Promise<number>
  /** Ends all connections, and refuses new ones. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** Starts a flag server with a store in memory. */
export async function startFlagServer(...flags: readonly FlagDefinition[]): Promise<TestServer> {
  const memory = allInMemory()
  // The store outlives a server that is stopped.
  for (const part of Object.values(memory)) Object.assign(part, { close: async () => {} })
  const { live } = await seed(memory.storage)
  const { sdkKey: serverKey } = await addSdkKey(memory.storage, live, { kind: 'server' })
  const publishFlags = (...changed: readonly FlagDefinition[]) =>
    publish(memory, live.environmentId, ...changed.map(flagChange))
  if (flags.length > 0) await publishFlags(...flags)
  let port = 0
  let stop = async () => {}
  async function start(): Promise<void> {
    const flagServer = createFlagServer({ ...memory })
    const http = createServer(toNodeHandler(flagServer))
    const detach = attachWebSocket(http, flagServer)
    const streams = new Set<{ destroy(): unknown }>()
    http.on('connection', (stream) => {
      streams.add(stream)
      stream.on('close', () => streams.delete(stream))
    })
    http.listen(port, '127.0.0.1')
    await once(http, 'listening')
    port = (http.address() as AddressInfo).port
    stop = async () => {
      detach()
      http.close()
      for (const stream of streams) stream.destroy()
      await flagServer.close().catch(() => {})
    }
  }
  await start()
  return {
    url: `http://127.0.0.1:${port}`,
    clientKey: live.sdkKey,
    serverKey,
    memory,
    environmentId: live.environmentId,
    publish: publishFlags,
    stop: () => stop(),
    start,
  }
}
