import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { createFlagServer } from '../../../server/src/flag-server.ts'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { shared } from '../../../server/test/usage/usage-scene.ts'
import { openMetricsShop } from '../world/metrics-shop.ts'
import { stores } from '../world/stores.ts'
import { FLAG_KEYS, type HistoryStep, UsersHistory } from './users-history.ts'

const flag = fc.constantFrom(...FLAG_KEYS)
const kind = fc.constantFrom('client' as const, 'server' as const)
const few = fc.record({ from: fc.nat(20), count: fc.integer({ min: 1, max: 12 }) })
const many = fc.record({ from: fc.nat(20), count: fc.constant(150) })
const users = fc.oneof({ weight: 12, arbitrary: few }, { weight: 1, arbitrary: many })
const does = <Names extends readonly string[]>(...names: Names) => fc.constantFrom(...names)

const step: fc.Arbitrary<HistoryStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('create'), flag, isVisible: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('delete'), flag }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('serve another value'), flag }) },
  {
    weight: 4,
    arbitrary: fc.record({ does: does('archive', 'show'), flag, is: fc.boolean() }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: does('evaluate', 'evaluate', 'evaluate again'),
      ...{ users, kind, onOther: fc.boolean() },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('open a socket'),
      users: few,
      ...{ kind, onOther: fc.boolean() },
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('evaluate one'), flag, users }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('evaluate in process'), users }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('report'), flag, users, kind }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('wait'), minutes: fc.constantFrom(0.2, 1, 61) }),
  },
) as fc.Arbitrary<HistoryStep>

describe.each(stores)('Unique users in %s', (store, open) => {
  it('The unique users of a flag are those whose evaluations included it, in any history of its environment', async () => {
    const { storage, clean } = open()
    const ports = { ...allInMemory(), storage }
    const shop = await openMetricsShop({ ...ports, managementRateLimit: 1_000_000 })
    const own = { ...ports, storage: shared(storage), clock: shop.clock, logger: silentLogger }
    onTestFinished(async () => {
      await shop.flags.close()
      clean()
    })
    let counted = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
        const servers = [createFlagServer(own), createFlagServer(own)] as const
        const history = await UsersHistory.open(shop, servers)
        for (const each of steps) await history.perform(each)
        counted += await history.check()
      }),
      { numRuns: runs(store === 'PostgreSQL' ? 60 : 200) },
    )
    expect(counted).toBeGreaterThan(0)
  })
})
