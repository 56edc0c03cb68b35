import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type Endpoint, endpoints, noBody } from '@ff/protocol/management'
import { sqlite } from '@ff/storage/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IS_FULL, report, sized } from '../../../server/test/drills/scale.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import { offlinePayments } from '../billing/stripe-events.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import { NAMES } from '../world/scene.ts'
import { createLargeEnvironment, type LargeEnvironment } from './large-environment.ts'
import { CASES } from './largest-bodies.ts'
import type { BodyScene, LargestRequest } from './largest-request.ts'
import { pause } from './server-process.ts'

/** The maximum time for which the event loop is blocked without interruption. */
const MOST_MS = 50
const RESOLUTION_MS = 1
const TRIES = sized({ full: 5, small: 1 })
/** The time after a response in which the effects of a change are also measured. */
const SETTLING_MS = sized({ full: 500, small: 20 })
/** The time limit of one test. It is exceeded only if the machine is far too slow or hangs. */
const TIMEOUT_MS = 240_000

describe('the largest accepted requests', () => {
  let environment: LargeEnvironment & { clean(): unknown }
  let flags: ManagedServer
  let scene: BodyScene

  beforeAll(async () => {
    environment = await createLargeEnvironment()
    flags = createManagedServer({
      ...sqlite({ path: environment.path }),
      secretKey: '5e'.repeat(32),
      payments: offlinePayments,
      passwordHasher: new ScryptPasswordHasher({ log2N: 4, r: 8, p: 1 }),
    })
    await flags.start()
    scene = { ...environment, ask: (request) => dataOf(flags, request) }
  }, TIMEOUT_MS)

  afterAll(async () => {
    await flags.close()
    await environment.clean()
  })

  it('There is a largest request for every endpoint with a body', () => {
    const taking = NAMES.filter((name) => (endpoints[name] as Endpoint).body !== noBody)
    const known = new Set<string>(CASES.map(({ endpoint }) => endpoint))
    expect(taking.filter((name) => !known.has(name))).toEqual([])
  })

  it.each(CASES)(
    'The largest request of $name is accepted and blocks the event loop for at most 50 ms',
    async ({ name, send }) => {
      let least = { blocked: Number.POSITIVE_INFINITY, took: 0 }
      let bytes = 0
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const request = await send(scene, attempt)
        bytes = request.body?.byteLength ?? 0
        const measured = await measure(() => statusOf(flags, request))
        if (measured.blocked < least.blocked) least = measured
        if (least.blocked < MOST_MS) break
      }
      const { blocked, took } = least
      report(
        `${name}: ${(bytes / 1024).toFixed(0)} KiB blocks for ${blocked.toFixed(0)} ms of ${took.toFixed(0)} ms`,
      )
      if (IS_FULL) expect(blocked).toBeLessThanOrEqual(MOST_MS)
    },
    TIMEOUT_MS,
  )
})

/** Returns the longest block of the event loop and the time until the response, in milliseconds. */
async function measure(work: () => Promise<number>) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  await pause(10)
  delay.enable()
  await pause(5)
  const startedAt = performance.now()
  const status = await work()
  const took = performance.now() - startedAt
  await pause(SETTLING_MS)
  delay.disable()
  expect([200, 201]).toContain(status)
  return { blocked: Math.max(0, delay.max / 1e6 - RESOLUTION_MS), took }
}

async function statusOf(flags: ManagedServer, request: LargestRequest): Promise<number> {
  const response = await fetched(flags, request)
  if (response.ok) await response.body?.cancel()
  else report(await response.text())
  return response.status
}

/** Returns the `data` of the response. Throws if the request is refused. */
async function dataOf(flags: ManagedServer, request: LargestRequest) {
  const response = await fetched(flags, request)
  const text = await response.text()
  if (!response.ok) throw new Error(`${request.method} ${request.path}: ${text.slice(0, 500)}`)
  return JSON.parse(text).data
}

function fetched(flags: ManagedServer, { method, path, headers, body }: LargestRequest) {
  const sent = body === undefined ? {} : { body, duplex: 'half' }
  const url = `http://flags.test${path}`
  return flags.fetch(new Request(url, { method, headers, ...sent } as RequestInit))
}
