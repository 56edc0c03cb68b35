import { compileFlagSet, type FlagSet } from '@ff/core'
import type { Storage } from '@ff/storage'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { stores } from '../../../management/test/world/stores.ts'
import { evaluateTimed } from '../../src/evaluation/evaluated.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { UsageRecorder } from '../../src/usage/usage-recorder.ts'
import { breakable } from '../capabilities.ts'
import { FakeClock } from '../fake-clock.ts'
import { textFlag } from '../seed.ts'
import { FOREVER } from './usage-scene.ts'

const ENVIRONMENTS = Array.from({ length: 300 }, () => crypto.randomUUID())
const SECOND = 1000

/** Returns a flag set with flags that have the same ids in every version. */
function flagSetOf(version: number, keys: readonly string[], previous?: FlagSet): FlagSet {
  const flags = keys.map((key) => textFlag(key, key === 'b' ? `value ${version}` : 'x'))
  return compileFlagSet({ version, flags, segments: [] }, { previous })
}

const first = flagSetOf(1, ['a', 'b', 'c'])
const FLAG_SETS = [first, flagSetOf(2, ['a', 'b', 'c'], first), flagSetOf(3, ['b', 'c', 'd'])]

/** Two recorders of instances that share a store, and what they have counted. */
class Instances {
  readonly clock = new FakeClock()
  readonly store: ReturnType<typeof breakable>
  readonly recorders: readonly UsageRecorder[]
  /** The evaluations by environment and flag. */
  readonly expected = new Map<string, number>()
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
    this.store = breakable(storage)
    this.recorders = [1, 2].map(() => {
      return new UsageRecorder({
        storage: this.store.storage,
        cache: { samplingOf: () => undefined, listenToDrops: () => undefined },
        metrics: { observeEvaluation: () => undefined },
        clock: this.clock,
        logger: silentLogger,
      })
    })
  }

  evaluate(instance: number, environmentId: string, flagSet: FlagSet): void {
    const evaluated = evaluateTimed({ flagSet, context: { kind: 'user' }, now: this.clock.now() })
    const scope = { environmentId, kind: instance === 0 ? 'server' : 'client' } as const
    this.recorders[instance]?.evaluated(scope, 'rest', evaluated)
    for (const { definition } of flagSet.ordered) this.#expect(environmentId, definition.id, 1)
  }

  report(instance: number, environmentId: string, count: number): void {
    const flagId = first.ordered[0]?.definition.id ?? ''
    const minute = new Date(this.clock.now() - (this.clock.now() % 60_000)).toISOString()
    const outcome = { flagId, minute, variationId: null, reason: 'STATIC', micros: 0 } as const
    const counts = [{ ...outcome, count, contextKeys: [] }]
    this.recorders[instance]?.reported({ environmentId, source: 'client', counts })
    this.#expect(environmentId, flagId, count)
  }

  async flush(): Promise<void> {
    for (const recorder of this.recorders) await recorder.flush()
  }

  /** Returns the stored sums, by environment and flag. */
  async stored(): Promise<ReadonlyMap<string, number>> {
    const sums = new Map<string, number>()
    for (const name of this.expected.keys()) {
      const [environmentId = '', flagId = ''] = name.split(' ')
      const query = { environmentId, flagId, ...FOREVER }
      const totals = await this.#storage.loadEvaluationCounts(query)
      sums.set(
        name,
        totals.reduce((sum, { count }) => sum + count, 0),
      )
    }
    return sums
  }

  #expect(environmentId: string, flagId: string, count: number): void {
    const name = `${environmentId} ${flagId}`
    this.expected.set(name, (this.expected.get(name) ?? 0) + count)
  }
}

const step = fc.record({
  action: fc.constantFrom('evaluate', 'evaluate', 'evaluate', 'report', 'wait', 'break', 'repair'),
  instance: fc.nat({ max: 1 }),
  environment: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: ENVIRONMENTS.length - 1 })),
  flagSet: fc.nat({ max: FLAG_SETS.length - 1 }),
  times: fc.integer({ min: 1, max: 5 }),
  seconds: fc.oneof(fc.constantFrom(1, 5, 60, 900), fc.nat({ max: 4000 })),
})

describe.each(stores)('evaluation counts in %s', (_, open) => {
  it('The stored counts of each environment and flag equal what was evaluated, whatever fails meanwhile', async () => {
    const { storage, clean } = open()
    await storage.migrate()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        await storage.dropEvaluationCounts('9999-01-01T00:00:00.000Z')
        const instances = new Instances(storage)
        const { clock, store } = instances
        for (const { action, instance, environment, flagSet, times, seconds } of steps) {
          const environmentId = ENVIRONMENTS[environment] ?? ''
          for (let time = 0; action === 'evaluate' && time < times; time += 1) {
            instances.evaluate(instance, environmentId, FLAG_SETS[flagSet] ?? first)
          }
          if (action === 'report') instances.report(instance, environmentId, times)
          if (action === 'wait') clock.set(clock.now() + seconds * SECOND)
          if (action === 'wait') await clock.advance(SECOND)
          if (action === 'break') store.break()
          if (action === 'repair') store.repair()
        }
        store.repair()
        await instances.flush()
        expect(await instances.stored()).toEqual(instances.expected)
        for (const { stats } of instances.recorders) {
          expect(stats).toMatchObject({ dropped: { evaluations: 0, flags: 0 }, pending: 0 })
        }
      }),
      { numRuns: runs(60) },
    )
    await storage.close()
    clean()
  })

  it('If one write takes only a part of the counts, the next ones take the rest, oldest first', async () => {
    const { storage, clean } = open()
    await storage.migrate()
    const instances = new Instances(storage)
    const { clock } = instances
    const keys = Array.from({ length: 20 }, (_each, index) => `flag-${index}`)
    const large = flagSetOf(1, keys)
    const last = ENVIRONMENTS.at(-1) ?? ''
    for (let round = 1; round <= 3; round += 1) {
      for (const each of ENVIRONMENTS) instances.evaluate(0, each, large)
      await clock.advance(SECOND)
      const flagId = large.ordered[0]?.definition.id ?? ''
      const query = { environmentId: last, flagId, ...FOREVER }
      const written = async () => {
        const totals = await storage.loadEvaluationCounts(query)
        return totals.reduce((sum, { count }) => sum + count, 0)
      }
      // The last environment is not part of the first write, and the first part of the second.
      if (round === 1) expect(await written()).toBe(0)
      await expect
        .poll(async () => {
          await clock.advance(SECOND)
          return written()
        })
        .toBe(round)
    }
    await instances.flush()
    expect(await instances.stored()).toEqual(instances.expected)
    await storage.close()
    clean()
  })
})
