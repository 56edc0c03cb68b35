import { createServer } from 'node:http'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { type PostgresOptions, postgres } from '@ff/storage/postgres'
import { redis } from '@ff/storage/redis'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { startListening } from '../../../../storage/test/postgres-store.ts'
import { type ManagementUseCases, SYSTEM } from '../../../src/index.ts'
import {
  createManagedServer,
  type ManagedOptions,
  type ManagedServer,
} from '../../world/managed-server.ts'
import { evaluate } from '../data-file.ts'
import { redisOf } from './with-redis.ts'

/** A server over PostgreSQL that is reached over HTTP and WebSocket. */
export interface RunningInstance {
  readonly flags: ManagedServer
  /** The use cases of the management plane, for the platform. */
  readonly management: ManagementUseCases
  /** The address, such as `http://127.0.0.1:4400`. */
  readonly url: string
  /** Closes the server before the end of the test. */
  readonly close: () => Promise<void>
}

/** Starts an instance, which is closed after the test. */
export async function startInstance(
  database: PostgresOptions,
  options: ManagedOptions = {},
): Promise<RunningInstance> {
  const shared = redisOf(database.url)
  const flags = createManagedServer({
    ...postgres(database),
    ...(shared && redis(shared)),
    ...options,
  })
  onTestFinished(() => flags.close())
  await flags.start()
  const server = createServer(toNodeHandler(flags))
  attachWebSocket(server, flags)
  const url = `http://127.0.0.1:${await startListening(server)}`
  return { flags, management: flags.as(SYSTEM), url, close: () => flags.close() }
}

/**
 * Starts several instances, which are closed after the test. `createOptions` returns the options of
 * each, such as adapters with connections of its own.
 */
export function startInstances(
  count: number,
  database: PostgresOptions,
  createOptions: () => ManagedOptions = () => ({}),
): Promise<readonly RunningInstance[]> {
  return Promise.all(Array.from({ length: count }, () => startInstance(database, createOptions())))
}

/** A project with one flag `counter`, which serves `n 0` at first. */
export interface Shop {
  readonly orgId: string
  readonly projectId: string
  readonly environmentId: string
  readonly flagId: string
  /** An SDK key of kind `server`. */
  readonly sdkKey: string
  readonly keyId: string
  /** Changes the value to `n N`, by the use cases of any instance. */
  readonly set: (management: ManagementUseCases, n: number) => Promise<unknown>
}

/** Creates an organization with a shop. */
export async function createShop(
  management: ManagementUseCases,
  { name = 'Acme', rateLimit = 1_000_000 } = {},
): Promise<Shop> {
  const { id: orgId } = await management.createOrganization({ body: { name } })
  const project = await management.createProject({ params: { orgId }, body: { key: 'shop' } })
  const [projectId, environmentId = ''] = [project.id, project.environments[0]?.id]
  const variations = ['first', 'second'].map((key) => ({ key, value: 'n 0' }))
  const flag = await management.createFlag({
    params: { projectId },
    body: { key: 'counter', type: 'string', variations },
  })
  const key = await management.createSdkKey({
    params: { projectId, environmentId },
    body: { name: 'drill', kind: 'server', rateLimit },
  })
  const params = { projectId, flagId: flag.id, variationId: flag.variations[0]?.id ?? '' }
  return {
    ...{ orgId, projectId, environmentId, flagId: flag.id, sdkKey: key.key, keyId: key.id },
    set: (by, n) => by.updateVariation({ params, body: { value: `n ${n}` } }),
  }
}

/** A live client that keeps the time at which it received each value. */
export interface LiveClient {
  /** The times of receipt, by number, in milliseconds of `performance.now`. */
  readonly receivedAt: ReadonlyMap<number, number>
  /** The numbers in the order in which they arrived. */
  readonly received: readonly number[]
  /** Resolves with the close code. */
  readonly closed: Promise<number>
}

/** Opens a socket at an instance. Resolves when it has received the first values. */
export async function openSocket(url: string, sdkKey: string): Promise<LiveClient> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
  onTestFinished(() => socket.terminate())
  const receivedAt = new Map<number, number>()
  const received: number[] = []
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  socket.once('open', () => {
    socket.send(JSON.stringify({ type: 'init', sdkKey, context: { kind: 'user', key: 'user-1' } }))
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.on('message', (data) => {
      const number = numberIn(String(data))
      if (number === undefined) return
      received.push(number)
      receivedAt.set(number, performance.now())
      resolve()
    })
  })
  return { receivedAt, received, closed }
}

/** Evaluates the flag over HTTP. Returns the status and the number in its value. */
export async function evaluateCounter(url: string, sdkKey: string) {
  const { status, data } = await evaluate(url, sdkKey)
  return { status, number: numberIn(JSON.stringify(data)) }
}

/** Sends a request that counts once, however busy the machine is. Returns the status. */
export async function askForFlagSet(url: string, sdkKey: string): Promise<number> {
  const response = await fetch(`${url}/evaluator/flag-set`, { headers: { 'x-api-key': sdkKey } })
  await response.arrayBuffer()
  return response.status
}

function numberIn(text: string): number | undefined {
  const digits = /"n (\d+)"/.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
