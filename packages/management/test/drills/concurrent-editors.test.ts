import { beforeEach, describe, expect, it } from 'vitest'
import { sized } from '../../../server/test/drills/scale.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'
import { createDataFile, type DataFile, withStorage } from './data-file.ts'

const REORDERS = 6
const REORDER_ROUNDS = sized({ full: 60, small: 5 })
const TIMEOUT_MS = 300_000

describe('concurrent reorders', { timeout: TIMEOUT_MS }, () => {
  let file: DataFile

  beforeEach(async () => {
    file = await createDataFile()
  })

  const inWorld = (work: (world: World, tenant: Tenant) => Promise<void>) =>
    withStorage(file.path, async (storage) => work(await World.create(storage), file.tenant))

  it('Concurrent reorders of variations result in one of the requested orders', () =>
    inWorld(async (world, tenant) => {
      const { token, variations } = await sixVariations(world, tenant)
      await raceReorders(world, token, variations)
    }))

  it('Concurrent reorders of targeting rules result in one of the requested orders', () =>
    inWorld(async (world, tenant) => {
      const { token, rules } = await sixVariations(world, tenant)
      for (let n = 0; n < REORDERS; n += 1) {
        await world.call('POST', rules, { token, body: { name: `rule ${n}`, conditions: [] } })
      }
      await raceReorders(world, token, rules)
    }))
})

async function sixVariations(world: World, tenant: Tenant) {
  const at = addressesOf(tenant)
  const token = tenant.tokens.editor
  const variations = Array.from({ length: REORDERS }, (_, n) => ({ key: `v${n}`, value: `${n}` }))
  const body = { key: 'ordered', type: 'string', variations }
  const { id } = (await world.call('POST', at.flags, { token, body })).data
  return { token, variations: at.variations(id), rules: at.rules(id) }
}

/** Sends six complete orders concurrently, and one with an unknown id, which must be refused. */
async function raceReorders(world: World, token: string, list: string): Promise<void> {
  const idsIn = async (): Promise<string[]> => {
    const { data } = await world.call('GET', `${list}?limit=100`, { token })
    return data.data.map(({ id }: Json) => id)
  }
  const reorder = (ids: readonly string[]) => {
    const orders = ids.map((id, index) => ({ id, order_index: index }))
    return world.call('PUT', `${list}/reorder`, { token, body: { orders } })
  }
  const ids = await idsIn()
  expect(ids).toHaveLength(REORDERS)
  for (let round = 0; round < REORDER_ROUNDS; round += 1) {
    const requested = ids.map((_, shift) => shuffled([...ids.slice(shift), ...ids.slice(0, shift)]))
    const refused = reorder([...ids.slice(1), crypto.randomUUID()].reverse())
    const answers = await Promise.all(requested.map(reorder))
    expect(answers.map(({ status }) => status)).toEqual(requested.map(() => 200))
    expect((await refused).status).toBe(400)
    expect(requested).toContainEqual(await idsIn())
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
