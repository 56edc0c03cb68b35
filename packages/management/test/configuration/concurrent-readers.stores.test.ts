import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stores } from '../world/stores.ts'
import { type Json, World } from '../world/world.ts'
import { createConfigurationScene, newId, plan } from './configuration-scene.ts'

const PUBLISHES = 40
const READERS = 4
/** The number of configurations that the readers must see before the test ends. */
const LEAST_SEEN = 5

/** Returns a configuration of which every part contains a number. */
function numbered(number: number): Json {
  const value = String(number)
  const half = newId()
  const rollout = { id: half, name: value, strategy: 'percentage', variation_id: 'y' }
  return {
    state: { is_active: true, targets: [{ variation_id: 'x', kind: 'user', keys: [value] }] },
    targeting_rules: [
      { id: newId(), name: value, conditions: [plan(value)], rollout_id: half },
      { id: newId(), name: value, conditions: [], variation_id: 'x' },
    ],
    rollouts: [{ ...rollout, percentage: number % 100, salt: value }],
  }
}

/** Returns the numbers that the parts of a configuration contain. */
function numbersIn({ state, targeting_rules: rules, rollouts }: Json): Set<string> {
  return new Set([
    ...state.targets.flatMap(({ keys }: Json) => keys),
    ...rules.map(({ name }: Json) => name),
    ...rollouts.map(({ name }: Json) => name),
  ])
}

describe.each(stores)('readers beside publishes (%s)', (_, open) => {
  it('A reader beside publishes never reads parts of two configurations', async () => {
    const { storage, clean } = open()
    const scene = await createConfigurationScene(await World.create(storage))
    onTestFinished(async () => {
      await storage.close()
      clean()
    })
    expect((await scene.publish(numbered(0))).status).toBe(200)
    let isDone = false
    const seen = new Set<string>()
    const tags = new Map<string, string>()
    const read = async () => {
      while (!isDone) {
        const { document, etag } = await scene.read()
        const numbers = numbersIn(document)
        expect([...numbers], etag).toHaveLength(1)
        expect([document.targeting_rules.length, document.rollouts.length]).toEqual([2, 1])
        const [number = ''] = numbers
        seen.add(number)
        expect(tags.get(etag) ?? number).toBe(number)
        tags.set(etag, number)
        // Readers of the memory store wait for nothing else, and would leave no time for publishes.
        await pause(10)
      }
    }
    const publish = async () => {
      for (let number = 1; number <= PUBLISHES || seen.size < LEAST_SEEN; number += 1) {
        expect((await scene.publish(numbered(number))).status).toBe(200)
        // Publishes to the memory store do not wait for the event loop, so without this turn, the
        // pauses of the readers would never end.
        await nextTurn()
      }
      isDone = true
    }
    await Promise.all([publish(), ...Array.from({ length: READERS }, read)])
  })
})
