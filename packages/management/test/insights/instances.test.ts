import type { ChangeFeed } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { call, evaluate, poll } from '../../../server/test/call.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { FakeClock, settle } from '../../../server/test/fake-clock.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { MemoryInstanceReports } from '../../../storage/src/memory/memory-instance-reports.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'

const SYSTEM = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
const context = { kind: 'user', key: 'user-1' }

let shop: MetricsShop
/** Another instance with the same store, which misses hints while `lose` is in effect. */
let other: ManagedServer
let otherClock: FakeClock
let lose: (isLosing: boolean) => void

beforeEach(async () => {
  const clock = new FakeClock()
  const instanceReports = new MemoryInstanceReports(() => clock.monotonicNow())
  const parts = { ...allInMemory(), instanceReports }
  shop = await openMetricsShop({ ...parts, clock })
  otherClock = new FakeClock()
  let isLosing = false
  const changeFeed: ChangeFeed = {
    publish: (change) => parts.changeFeed.publish(change),
    subscribe: (listener) =>
      parts.changeFeed.subscribe((change) => (isLosing ? undefined : listener(change))),
  }
  lose = (next) => {
    isLosing = next
  }
  // The first server closes the store that both servers use.
  const storage = { ...parts.storage, close: async () => undefined }
  other = createManagedServer({ ...parts, storage, changeFeed, clock: otherClock })
  await other.start()
  return async () => {
    await other.close()
    await shop.flags.close()
  }
})

/** Advances the clocks of both instances. */
async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    await shopClock().advance(Math.min(250, ms - passed))
    await otherClock.advance(Math.min(250, ms - passed))
  }
}

const shopClock = () => shop.flags.clock as FakeClock

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
async function convergenceAt(server: ManagedServer, environmentId = shop.mine.live): Promise<any> {
  const path = `/projects/${shop.mine.projectId}/envs/${environmentId}/convergence`
  const headers = { authorization: `Bearer ${shop.mine.tokens.viewer}` }
  const { body } = await call(server, path, { method: 'GET', headers })
  return (body as { readonly data: unknown }).data
}

async function openSocket(server: ManagedServer, sdkKey = shop.mine.clientKey) {
  const socket = new TestSocket()
  const connection = server.acceptSocket(socket)
  connection.receive(JSON.stringify({ type: 'init', sdkKey, context }))
  await settle()
  return { socket, close: () => server.releaseSocket(connection) }
}

/** Publishes a version that serves another variation to all contexts. */
async function publish(): Promise<void> {
  const { projectId, live: environmentId, flag } = shop.mine
  const params = { projectId, environmentId, flagId: flag.id }
  const body = { name: 'all', conditions: [], variationId: flag.variations[1]?.id ?? '' }
  await shop.flags.as(SYSTEM).createTargetingRule({ params, body })
  await settle()
}

describe('the instances of GET …/convergence', () => {
  it('Each instance returns the live clients of all instances', async () => {
    for (const server of [shop.flags, shop.flags, other]) await openSocket(server)
    await advance(5000)
    for (const server of [shop.flags, other]) {
      const { instances, total, by_version } = await convergenceAt(server)
      expect(total).toEqual({ ws: 3, poll: 0, behind: 0, applied: null })
      expect(by_version).toEqual([{ version: 1, clients: 3 }])
      expect(instances.map(({ ws }: { ws: number }) => ws).sort()).toEqual([1, 2])
      for (const instance of instances) expect(instance).toMatchObject({ version: 1, behind: 0 })
    }
    const [atShop, atOther] = [await convergenceAt(shop.flags), await convergenceAt(other)]
    const idsOf = ({ instances }: typeof atShop) =>
      instances.map((each: { instance_id: string }) => each.instance_id)
    expect(idsOf(atShop)).toEqual(idsOf(atOther))
  })

  it('The clients of an instance without the newest version are behind until it has sent this version', async () => {
    for (const server of [shop.flags, other, other]) await openSocket(server)
    await advance(5000)
    lose(true)
    await publish()
    await shopClock().advance(1000)
    const during = await convergenceAt(shop.flags)
    expect(during).toMatchObject({ version: 2, total: { ws: 3, behind: 2 } })
    expect(during.by_version).toEqual([
      { version: 2, clients: 1 },
      { version: 1, clients: 2 },
    ])
    lose(false)
    await advance(5500)
    const after = await convergenceAt(shop.flags)
    expect(after).toMatchObject({ total: { ws: 3, behind: 0 } })
    expect(after.by_version).toEqual([{ version: 2, clients: 3 }])
  })

  it('A delivery is reported at its end, not only every five seconds', async () => {
    for (const server of [shop.flags, other, other]) await openSocket(server)
    await advance(5100)
    await publish()
    await advance(500)
    expect(await convergenceAt(shop.flags)).toMatchObject({ total: { ws: 3, behind: 0 } })
    expect(await convergenceAt(other)).toMatchObject({ total: { ws: 3, behind: 0 } })
  })

  it('The times from the publication to the delivery include late clients of all instances', async () => {
    const slow = await openSocket(shop.flags)
    for (const server of [shop.flags, other, other]) await openSocket(server)
    await advance(5100)
    slow.socket.bufferedAmount = 1_000_000
    await publish()
    await advance(500)
    expect(await convergenceAt(other)).toMatchObject({
      total: { behind: 1 },
      reached: { p50_ms: 0, p95_ms: 0, p99_ms: 0 },
    })
    await advance(3500)
    slow.socket.drain()
    await settle()
    await convergenceAt(shop.flags)
    await advance(5000)
    const { reached, total } = await convergenceAt(other)
    expect(total).toMatchObject({ behind: 0 })
    expect(reached.p50_ms).toBe(0)
    expect(reached.p99_ms).toBeGreaterThanOrEqual(4000)
    expect(reached.p99_ms).toBeLessThanOrEqual(4000 * 1.25)
  })

  it('A poll that names its values confirms them, and a socket confirms nothing', async () => {
    await openSocket(shop.flags)
    expect(await convergenceAt(shop.flags)).toMatchObject({ total: { applied: null } })
    const { headers } = await evaluate(shop.flags, shop.mine.clientKey, context)
    const since = headers.get('etag')
    const parked = poll(shop.flags, shop.mine.clientKey, { context, since })
    await settle()
    expect(await convergenceAt(shop.flags)).toMatchObject({
      total: { ws: 1, poll: 1, behind: 0, applied: 1 },
    })
    await publish()
    expect((await parked).status).toBe(200)
  })

  it('An instance that stops reporting without closing disappears after 15 seconds', async () => {
    await openSocket(shop.flags)
    await openSocket(other)
    await advance(5000)
    await shopClock().advance(14_000)
    expect((await convergenceAt(shop.flags)).instances).toHaveLength(2)
    await shopClock().advance(1000)
    const { instances, total } = await convergenceAt(shop.flags)
    expect(instances).toHaveLength(1)
    expect(total).toMatchObject({ ws: 1 })
  })

  it('An instance that closes withdraws its reports', async () => {
    await openSocket(shop.flags)
    await openSocket(other)
    await advance(5000)
    expect((await convergenceAt(shop.flags)).instances).toHaveLength(2)
    await other.close()
    expect((await convergenceAt(shop.flags)).instances).toHaveLength(1)
  })

  it('An instance whose last client of an environment has left is omitted there', async () => {
    await openSocket(shop.flags)
    const { close } = await openSocket(other)
    await advance(5000)
    expect((await convergenceAt(shop.flags)).instances).toHaveLength(2)
    close()
    await advance(250)
    expect((await convergenceAt(shop.flags)).instances).toHaveLength(1)
    expect((await convergenceAt(shop.flags, shop.mine.staging)).instances).toEqual([])
  })
})
