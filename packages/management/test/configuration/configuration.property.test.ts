import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { sized } from '../../../server/test/drills/scale.ts'
import { addressesOf, type Json } from '../world/world.ts'
import { type ConfigurationScene, createConfigurationScene } from './configuration-scene.ts'
import { anyConfiguration, withoutDefaults } from './random-configurations.ts'

const PEOPLE = Array.from({ length: 60 }, (_, index) => {
  return { kind: 'user', key: `u${index}`, plan: ['pro', 'free', 'team'][index % 3] ?? '' }
})
const HOUR_MS = 3_600_000

/** The same configuration in `staging`, made with the endpoints of single records. */
class Twin {
  readonly #scene: ConfigurationScene
  readonly #state: string
  /** The ids in `staging` by the ids in `live`. */
  readonly #ids = new Map<string, string>()

  constructor(scene: ConfigurationScene) {
    this.#scene = scene
    this.#state = addressesOf(scene.tenant).staging(scene.flag.id)
  }

  async follow({ state, targeting_rules: rules, rollouts }: Json): Promise<void> {
    await this.#ask('PUT', '', state)
    for (const { id, ...given } of rollouts) await this.#put('/rollouts', id, settingsOf(given))
    for (const [order_index, { id, ...given }] of rules.entries()) {
      const rollout_id = given.rollout_id && this.#ids.get(given.rollout_id)
      await this.#put('/targeting-rules', id, { ...given, rollout_id, order_index })
    }
    await this.#keep('/targeting-rules', rules)
    await this.#keep('/rollouts', rollouts)
  }

  async #put(path: string, id: string, body: Json): Promise<void> {
    const known = this.#ids.get(id)
    if (known === undefined) this.#ids.set(id, (await this.#ask('POST', path, body)).id)
    else await this.#ask('PUT', `${path}/${known}`, body)
  }

  /** Deletes all records except those in `kept`. */
  async #keep(path: string, kept: readonly Json[]): Promise<void> {
    const wanted = new Map(kept.map(({ id }) => [this.#ids.get(id), id]))
    for (const { id } of (await this.#ask('GET', `${path}?limit=100`)).data) {
      if (wanted.has(id)) continue
      await this.#ask('DELETE', `${path}/${id}`)
      for (const [own, other] of this.#ids) if (other === id) this.#ids.delete(own)
    }
  }

  async #ask(method: string, path: string, body?: Json): Promise<Json> {
    const { status, message, data } = await this.#scene.as(method, `${this.#state}${path}`, body)
    expect([message, status]).toEqual(['OK', method === 'POST' ? 201 : 200])
    return data
  }
}

/** Returns the settings of the strategy; the single endpoints refuse `null` in a new rollout. */
function settingsOf(rollout: Json): Json {
  return Object.fromEntries(Object.entries(rollout).filter(([, value]) => value !== null))
}

it('A published configuration is returned unchanged, and evaluates as if made with single requests', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(anyConfiguration, fc.boolean()), { minLength: 1, maxLength: 5 }),
      async (steps) => {
        const scene = await createConfigurationScene()
        const { world, tenant } = scene
        const segments = addressesOf(tenant).segments
        const rules = [{ attribute: 'user.plan', operator: 'eq', value: 'team' }]
        const segment = (await scene.as('POST', segments, { key: 'team', rules })).data
        const twin = new Twin(scene)
        for (const [make, isShort] of steps) {
          const document = make(scene, segment.id)
          const { status, message, data } = await scene.publish(
            isShort ? withoutDefaults(document) : document,
          )
          expect([message, status]).toEqual(['OK', 200])
          const { revision, ...returned } = (await scene.read()).document
          expect(returned).toEqual(document)
          expect(data.configuration).toEqual({ ...document, revision })
          await twin.follow(document)
          for (let hour = 0; hour < 2; hour += 1) {
            const [live, staging] = await Promise.all(
              [tenant.live, tenant.staging].map((each) => world.evaluateEach(each, PEOPLE)),
            )
            expect(live).toEqual(staging)
            await world.clock.advance(HOUR_MS)
          }
        }
      },
    ),
    { numRuns: runs(sized({ full: 200, small: 15 })) },
  )
}, 600_000)
