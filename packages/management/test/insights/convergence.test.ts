import { beforeEach, describe, expect, it } from 'vitest'
import { evaluate, poll } from '../../../server/test/call.ts'
import { allInMemory, losable } from '../../../server/test/capabilities.ts'
import { settle } from '../../../server/test/fake-clock.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'

const SYSTEM = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
const context = { kind: 'user', key: 'user-1' }

let shop: MetricsShop
let lose: (isLosing: boolean) => void

beforeEach(async () => {
  const parts = allInMemory()
  const feed = losable(parts.changeFeed)
  lose = feed.lose
  shop = await openMetricsShop({ ...parts, changeFeed: feed.changeFeed })
  return () => shop.flags.close()
})

const convergence = (environmentId = shop.mine.live) =>
  shop.read(`/projects/${shop.mine.projectId}/envs/${environmentId}/convergence`)

/** Publishes a version that serves the other variation to all contexts. */
async function serveTheOther(): Promise<void> {
  const { projectId, live: environmentId, flag } = shop.mine
  const params = { projectId, environmentId, flagId: flag.id }
  const body = { name: 'all', conditions: [], variationId: flag.variations[1]?.id ?? '' }
  await shop.flags.as(SYSTEM).createTargetingRule({ params, body })
  await settle()
}

/** Publishes one more version. */
async function change(isActive: boolean, by = shop.flags.as(SYSTEM)): Promise<void> {
  const { projectId, live: environmentId, flag } = shop.mine
  const params = { projectId, environmentId, flagId: flag.id }
  await by.updateFlagState({ params, body: { isActive }, expectedRevision: undefined })
  await settle()
}

/** Publishes one more version in another instance, which announces it to nobody. */
async function changeElsewhere(isActive: boolean): Promise<void> {
  const { storage, clock } = shop
  await change(isActive, createManagedServer({ storage, clock }).as(SYSTEM))
}

describe('GET …/convergence', () => {
  it('Convergence reports no served version before the first evaluation', async () => {
    expect(await convergence()).toEqual({
      version: 1,
      published_at: '2030-01-01T00:00:00.000Z',
      serving: null,
      clients: { ws: 0, poll: 0, behind: 0 },
      instances: [],
      total: { ws: 0, poll: 0, behind: 0, applied: null },
      by_version: [],
      reached: null,
    })
  })

  it('Convergence reports the served version and the time since it was last checked', async () => {
    await evaluate(shop.flags, shop.mine.clientKey, context)
    await shop.clock.advance(1234)
    const checked = { checked_at: '2030-01-01T00:00:00.000Z', age_ms: 1234 }
    expect(await convergence()).toMatchObject({ version: 1, serving: { version: 1, ...checked } })
    await change(false)
    const now = '2030-01-01T00:00:01.234Z'
    expect(await convergence()).toMatchObject({
      version: 2,
      published_at: now,
      serving: { version: 2, checked_at: now, age_ms: 0 },
    })
  })

  it('Convergence reports an instance that missed a hint until it has the newest version', async () => {
    await evaluate(shop.flags, shop.mine.clientKey, context)
    const parked = poll(shop.flags, shop.mine.clientKey, { context })
    const socket = new TestSocket()
    const connection = shop.flags.acceptSocket(socket)
    const init = { type: 'init', sdkKey: shop.mine.clientKey, context }
    connection.receive(JSON.stringify(init))
    await settle()
    expect(await convergence()).toMatchObject({ clients: { ws: 1, poll: 1, behind: 0 } })
    lose(true)
    await changeElsewhere(false)
    expect(await convergence()).toMatchObject({
      version: 2,
      serving: { version: 1 },
      clients: { ws: 1, poll: 1, behind: 2 },
    })
    await shop.clock.advance(5000)
    expect(await convergence()).toMatchObject({
      serving: { version: 2 },
      clients: { ws: 1, behind: 0 },
    })
    shop.flags.releaseSocket(connection)
    expect(await convergence()).toMatchObject({ clients: { ws: 0 } })
    await shop.clock.advance(61_000)
    expect((await parked).status).toBe(200)
    expect(await convergence()).toMatchObject({ clients: { ws: 0, poll: 0, behind: 0 } })
  })

  it('Convergence counts a client as behind if it is too slow to receive the newest version', async () => {
    const socket = new TestSocket()
    const connection = shop.flags.acceptSocket(socket)
    connection.receive(JSON.stringify({ type: 'init', sdkKey: shop.mine.clientKey, context }))
    await settle()
    socket.bufferedAmount = 1_000_000
    await serveTheOther()
    expect(await convergence()).toMatchObject({
      version: 2,
      serving: { version: 2 },
      clients: { ws: 1, behind: 1 },
    })
    shop.flags.releaseSocket(connection)
  })

  it('Convergence counts only the clients of its environment', async () => {
    const parked = poll(shop.flags, shop.theirs.clientKey, { context })
    await settle()
    expect(await convergence()).toMatchObject({ clients: { poll: 0 } })
    await shop.clock.advance(61_000)
    await parked
  })
})
