import { once } from 'node:events'
import { beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { attachWebSocket } from '../../../server/src/node/websocket.ts'
import { evaluate } from '../../../server/test/call.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { until } from '../../../server/test/fake-clock.ts'
import { type Listening, listen } from '../../../server/test/node/listening.ts'
import type { ManagementUseCases } from '../../src/api/use-cases.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import type { Json } from '../world/world.ts'

const ROUNDS = 100
const actor = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
const context = { kind: 'user', key: 'user-1' }

let flags: ManagedServer
let listening: Listening
let management: ManagementUseCases
let place: { projectId: string; environmentId: string }
let sdkKey: string

beforeEach(async () => {
  flags = createManagedServer(allInMemory())
  await flags.start()
  listening = await listen(toNodeHandler(flags))
  attachWebSocket(listening.server, flags)
  management = flags.as(actor)
  const { id: orgId } = await management.createOrganization({ body: { name: 'Acme' } })
  const made = await management.createProject({ params: { orgId }, body: { key: 'shop' } })
  place = { projectId: made.id, environmentId: made.environments[0]?.id ?? '' }
  const body = { name: 'k', kind: 'client', rateLimit: 1_000_000 } as const
  sdkKey = (await management.createSdkKey({ params: place, body })).key
  return async () => {
    await flags.close()
    await listening.close()
  }
})

/**
 * Creates the flag of a round: its default variation is `default …`, and its rule serves `rule …`.
 */
async function createRound(round: number): Promise<string> {
  const variations = ['default', 'rule'].map((key) => ({ key, value: `${key} ${round}` }))
  const flag = await management.createFlag({
    params: place,
    body: { key: 'same', type: 'string', variations },
  })
  await management.createTargetingRule({
    params: { ...place, flagId: flag.id },
    body: { name: 'all', conditions: [], variationId: flag.variations[1]?.id ?? null },
  })
  return flag.id
}

it(`A flag that is deleted and recreated ${ROUNDS} times never serves a value of an older flag`, async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${listening.port}/ws/sdk`)
  const seenBySocket: unknown[] = []
  socket.on('message', (data) => {
    const { flags: values, removed = [] } = JSON.parse(String(data)) as Json
    if (values.same !== undefined) seenBySocket.push(values.same)
    if (removed.includes('same')) seenBySocket.push('absent')
  })
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'init', sdkKey, context }))
  let isOver = false
  const seenByRequests: unknown[] = []
  const requesting = (async () => {
    while (!isOver) {
      const { body } = (await evaluate(flags, sdkKey, context)) as Json
      seenByRequests.push(body.same ?? 'absent')
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  // Waits for each change, because consecutive changes can be applied together.
  const present = () =>
    expect.poll(async () => (await evaluate(flags, sdkKey, context)).body, {
      interval: 2,
    })
  const ids = new Set<string>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const flagId = await createRound(round)
    ids.add(flagId)
    await present().toEqual({ same: `rule ${round}` })
    const params = { ...place, flagId }
    await management.deleteFlag({ params })
    await present().toEqual({})
  }
  const lastId = await createRound(ROUNDS)
  isOver = true
  await requesting
  await until(() => seenBySocket.at(-1) === `rule ${ROUNDS}`)
  socket.terminate()
  expect(ids.add(lastId).size).toBe(ROUNDS + 1)
  for (const seen of [seenBySocket, seenByRequests]) expectNeverOlder(seen)
})

/** Asserts that no value is of an older flag than the previous value. */
function expectNeverOlder(seen: readonly unknown[]): void {
  let newest = -1
  for (const value of seen) {
    if (value === 'absent') continue
    const round = Number(String(value).split(' ')[1])
    expect(round).toBeGreaterThanOrEqual(newest)
    newest = round
  }
}
