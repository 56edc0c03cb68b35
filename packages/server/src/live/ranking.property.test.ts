import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { type Ranked, Ranking } from './ranking.ts'

const step = fc.record({
  item: fc.nat(20),
  amount: fc.option(fc.nat(50), { nil: undefined }),
})

it('A ranking returns its largest item after any additions, changes and removals', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const ranking = new Ranking<Ranked>()
      const items = Array.from({ length: 21 }, () => ({ amount: 0, rank: -1 }))
      const present = new Set<Ranked>()
      for (const { item: index, amount } of steps) {
        const item = items[index]
        if (item === undefined) continue
        if (amount !== undefined) {
          ranking.set(item, amount)
          present.add(item)
        } else if (present.delete(item)) {
          ranking.remove(item)
        }
        const most = Math.max(-1, ...[...present].map((one) => one.amount))
        expect(ranking.largest?.amount ?? -1).toBe(most)
        for (const one of items) expect(one.rank !== -1).toBe(present.has(one))
      }
    }),
    { numRuns: runs(100) },
  )
})
