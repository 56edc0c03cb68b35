import { once } from 'node:events'
import { beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { attachWebSocket } from '../../../server/src/node/websocket.ts'
import { evaluate } from '../../../server/test/call.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { until } from '../../../server/test/fake-clock.ts'
import { type Listening, listen } from '../../../server/test/node/listening.ts'
import type { ManagementUseCases } from '../../src/create-management.ts'
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

/** A flag of the one key, which serves `default …` to everybody, but `rule …` to those of the rule. */
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

it(`a flag made anew under its key ${ROUNDS} times never serves what an older one did`, async () => {
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
  const asking = (async () => {
    while (!isOver) {
      const { body } = (await evaluate(flags, sdkKey, context)) as Json
      seenByRequests.push(body.same ?? 'absent')
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  // Many changes in a row are taken over together.
  const present = () =>
    expect.poll(async () => (await evaluate(flags, sdkKey, context)).body, {
      interval: 2,
      timeout: 5000,
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
  await asking
  await until(() => seenBySocket.at(-1) === `rule ${ROUNDS}`)
  socket.terminate()
  expect(ids.add(lastId).size).toBe(ROUNDS + 1)
  for (const seen of [seenBySocket, seenByRequests]) expectNeverOlder(seen)
}, 60_000)

/** Each value is of the same flag as the one before it, or of a later one. */
function expectNeverOlder(seen: readonly unknown[]): void {
  let newest = -1
  for (const value of seen) {
    if (value === 'absent') continue
    const round = Number(String(value).split(' ')[1])
    expect(round).toBeGreaterThanOrEqual(newest)
    newest = round
  }
}
