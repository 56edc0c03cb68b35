import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync } from 'node:zlib'
import { createFlagClient } from '@ff/client'
import { createLocalClient } from '@ff/client/local'
import { compileFlagSet, evaluateFlag, type FlagDefinition, type FlagSetDefinition } from '@ff/core'
import { defineFlags, text } from '@ff/core/flag-types'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { type DefinitionChange, memory } from '@ff/storage'
import { WebSocket } from 'ws'
import { addSdkKey, flagChange, publish, seed, textFlag } from '../../../server/test/seed.ts'

/**
 * This benchmark measures clients against a real server in the same process: the bytes of changes
 * on the wire, the time to apply them, the cost of a value, and the delay of delivery.
 */
const FLAGS = 1000
const KEYS = 100_000
const ROUNDS = 21
const CHANGES = 40
const CLIENTS = 200
const VALUES = 200_000

const capabilities = memory() as Required<ReturnType<typeof memory>>
const { storage } = capabilities
const { live } = await seed(storage)
const { sdkKey: serverKey } = await addSdkKey(storage, live, { kind: 'server' })
const names = Array.from({ length: FLAGS }, (_, index) => `flag-${index}`)
await change(...names.map((name) => flagChange(flagOf(name, 'value 0'))))
await change({
  kind: 'segment',
  id: 'beta',
  definition: {
    ...{ id: 'beta', key: 'beta', rules: [], logicalOp: 'AND' },
    ...{ force: false, keyAttribute: 'user.key' },
  },
})
await addKeys(Array.from({ length: KEYS }, () => crypto.randomUUID()))

const flags = createFlagServer(capabilities)
const server = createServer(toNodeHandler(flags))
attachWebSocket(server, flags)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const program = defineFlags({ 'flag-7': text('fallback') })
const webSocket = WebSocket as never
const context = { kind: 'user', key: 'user-1', plan: 'pro' }

await measureSync()
await measureValues()
await measureDelivery()
await measureLeaks()
await flags.close()
server.close()
server.closeAllConnections()

async function change(...changes: DefinitionChange[]): Promise<void> {
  await publish(capabilities, live.environmentId, ...changes)
}

function addKeys(added: readonly string[]): Promise<void> {
  return change({ kind: 'segmentKeys', segmentId: 'beta', list: 'included', added, removed: [] })
}

/** Returns a flag of common size: two rules, and a rollout for the rest. */
function flagOf(name: string, value: string): FlagDefinition {
  const condition = (attribute: string, values: string) => {
    return { attribute, operator: 'in', value: values }
  }
  return textFlag(name, value, [
    { conditions: [condition('country', 'CH,DE,AT'), condition('plan', 'free')] },
    { conditions: [condition('user.key', 'admin-1,admin-2')] },
  ])
}

/** Measures the bytes of changes, and the time from a message to the call of the listeners. */
async function measureSync(): Promise<void> {
  const messages: string[] = []
  let appliedMs = 0
  class MeasuredSocket extends WebSocket {
    set onmessage(listener: never) {
      this.on('message', (data) => {
        const message = data.toString()
        messages.push(message)
        const startedAt = performance.now()
        ;(listener as (event: { data: string }) => void)({ data: message })
        appliedMs = performance.now() - startedAt
      })
    }
  }
  const options = { url, sdkKey: serverKey, flags: program, usage: false }
  const client = createLocalClient({ ...options, webSocket: MeasuredSocket as never })
  await client.ready({ timeoutMs: 60_000 })
  await until(() => client.status.connection === 'socket')
  const measure = async (title: string, next: (round: number) => Promise<void>, bytes: number) => {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const { version } = client.status
      await next(round)
      await until(() => client.status.version > version)
      times.push(appliedMs)
    }
    const message = messages.at(-1) ?? ''
    const compressed = brotliCompressSync(message).length
    report(
      `${title}: ${message.length} bytes in a socket message, ${compressed} compressed, ` +
        `definition ${bytes}; applied in ${rangeOf(times)} ms`,
    )
  }
  const definitionBytes = JSON.stringify(flagOf('flag-7', 'value 1')).length
  const setFlag = (round: number) => change(flagChange(flagOf('flag-7', `value ${round + 1}`)))
  await measure(`one flag of ${FLAGS}`, setFlag, definitionBytes)
  await measure(`one key of ${KEYS}`, () => addKeys([crypto.randomUUID()]), 36)
  await client.close()
}

/** Compares the value of a local client with `evaluateFlag` of the engine. */
async function measureValues(): Promise<void> {
  const client = createLocalClient({ url, sdkKey: serverKey, flags: program, webSocket })
  await client.ready({ timeoutMs: 60_000 })
  const definition = (await storage.loadFlagSet(live.environmentId)) as FlagSetDefinition
  const flagSet = compileFlagSet(definition)
  const ratios: number[] = []
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const floor = timeOf(() => evaluateFlag(flagSet, 'flag-7', context, Date.now()).value)
    const own = timeOf(() => client.value('flag-7', context))
    times.push(own)
    ratios.push(own / floor)
  }
  report(`client.value: ${rangeOf(times)} ns, ${rangeOf(ratios.slice(3))} × evaluateFlag`)
  const contextClient = client.for(context)
  report(`client.for(context).value: ${timeOf(() => contextClient.value('flag-7')).toFixed(0)} ns`)
  await client.close()
}

/** Returns the time of one call in nanoseconds. */
function timeOf(call: () => unknown): number {
  const startedAt = performance.now()
  for (let count = 0; count < VALUES; count += 1) call()
  return ((performance.now() - startedAt) * 1e6) / VALUES
}

/** Measures the delay from a change to the listeners of many clients. */
async function measureDelivery(): Promise<void> {
  let changedAt = 0
  const delays: number[] = []
  const clients = Array.from({ length: CLIENTS }, () => {
    const client = createFlagClient({
      url,
      sdkKey: live.sdkKey,
      flags: program,
      context,
      webSocket,
    })
    client.subscribe('flag-7', () => delays.push(performance.now() - changedAt))
    return client
  })
  await Promise.all(clients.map((client) => client.ready({ timeoutMs: 60_000 })))
  await until(() => clients.every((client) => client.status.connection === 'socket'))
  delays.length = 0
  for (let round = 0; round < CHANGES; round += 1) {
    const expected = delays.length + CLIENTS
    changedAt = performance.now()
    await change(flagChange(flagOf('flag-7', `delivered ${round}`)))
    await until(() => delays.length === expected)
  }
  const sorted = delays.sort((left, right) => left - right)
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]?.toFixed(1)
  report(`a change to ${CLIENTS} clients: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`)
  for (const client of clients) client.close()
}

/** Creates and closes clients, and counts what they leave behind. */
async function measureLeaks(): Promise<void> {
  const count = 1000
  const create = () => {
    const client = createFlagClient({
      url,
      sdkKey: live.sdkKey,
      flags: program,
      context,
      webSocket,
    })
    void client.ready()
    client.close()
  }
  for (let warmUp = 0; warmUp < 100; warmUp += 1) create()
  await pause(3000)
  const before = usage()
  for (let index = 0; index < count; index += 1) create()
  await pause(3000)
  const after = usage()
  const megabytes = ((after.bytes - before.bytes) / 2 ** 20).toFixed(2)
  report(
    `${count} clients created and closed: ${after.timers - before.timers} timers, ` +
      `${after.sockets - before.sockets} sockets, ${megabytes} MB`,
  )
}

function usage() {
  globalThis.gc?.()
  const resources = process.getActiveResourcesInfo()
  const countOf = (name: string) => resources.filter((resource) => resource === name).length
  return {
    timers: countOf('Timeout'),
    sockets: countOf('TCPSocketWrap'),
    bytes: process.memoryUsage().heapUsed,
  }
}

async function until(hasHappened: () => boolean): Promise<void> {
  while (!hasHappened()) await pause(1)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function rangeOf(samples: readonly number[]): string {
  const sorted = [...samples].sort((left, right) => left - right)
  const [least = 0, median = 0, most = 0] = [0, sorted.length >> 1, sorted.length - 1].map(
    (at) => sorted[at],
  )
  return `${median.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`
}

function report(line: string): void {
  process.stdout.write(`${line}\n`)
}
