import { describe, expect, it } from 'vitest'
import type { Storage } from '../../ports/storage.ts'
import type { EvaluationCount, EvaluationSource, EvaluationTotal } from '../../ports/usage.ts'
import { expectRefusal, type OpenStorage } from '../samples/fixtures.ts'
import { newId } from '../samples/sample-fields.ts'

const MINUTES = [
  '2026-03-01T10:00:00.000Z',
  '2026-03-01T10:01:00.000Z',
  '2026-03-01T10:02:00.000Z',
  '2026-03-01T10:03:00.000Z',
] as const
const EVER = { from: '', to: '9' }

/** Tests the evaluation counts: adding, summing and dropping. */
export function describeEvaluationCounts(open: OpenStorage): void {
  describe('evaluation counts', () => {
    describeAdding(open)
    describeTotals(open)
    describeDropping(open)
  })
}

function describeAdding(open: OpenStorage): void {
  it('Counts of the same minute and outcome are summed', async () => {
    const storage = await open()
    const count = newCount({ count: 3, micros: 700 })
    await storage.addEvaluationCounts([count])
    await storage.addEvaluationCounts([{ ...count, count: 4, micros: 50 }])
    expect(await totalsOf(storage, count)).toEqual([totalOf(count, { count: 7, micros: 750 })])
  })

  it('Counts of the same minute and outcome within one call are summed', async () => {
    const storage = await open()
    const count = newCount({ count: 1, micros: 10 })
    await storage.addEvaluationCounts([count, { ...count, variationId: null }, count, count])
    const totals = await totalsOf(storage, count)
    expect(totals).toHaveLength(2)
    expect(totals).toContainEqual(totalOf(count, { count: 3, micros: 30 }))
    expect(totals).toContainEqual(totalOf({ ...count, variationId: null }))
  })

  it('Changing a count object after adding it does not change the stored count', async () => {
    const storage = await open()
    const count = newCount({ count: 1, micros: 10 })
    const added = { ...count }
    await storage.addEvaluationCounts([added])
    added.count = 99
    expect(await totalsOf(storage, count)).toEqual([totalOf(count)])
  })

  it('Adding a count that is not finite fails with INVALID_REQUEST and adds no count of the call', async () => {
    const storage = await open()
    const good = newCount()
    const bad = [
      newCount({ count: Number.NaN }),
      newCount({ micros: Number.POSITIVE_INFINITY }),
      { ...good, count: Number.NaN },
    ]
    for (const each of bad) {
      await expectRefusal(storage.addEvaluationCounts([good, each]), 'INVALID_REQUEST')
    }
    await storage.transaction('lock', async (tx) => {
      for (const each of bad) {
        await expectRefusal(tx.addEvaluationCounts([good, each]), 'INVALID_REQUEST')
      }
      await tx.addEvaluationCounts([good])
    })
    expect(await totalsOf(storage, good)).toEqual([totalOf(good)])
  })

  it('Adding an empty list of evaluation counts succeeds', async () => {
    const storage = await open()
    await storage.addEvaluationCounts([])
    expect(await totalsOf(storage, newCount())).toEqual([])
  })

  it('One call can add thousands of evaluation counts', async () => {
    const storage = await open()
    const count = newCount({ count: 1, micros: 2 })
    const counts = Array.from({ length: 5000 }, () => ({ ...count, variationId: newId() }))
    await storage.addEvaluationCounts(counts)
    await storage.addEvaluationCounts(counts)
    const totals = await totalsOf(storage, count)
    expect(totals).toHaveLength(5000)
    expect(totals.every((total) => total.count === 2 && total.micros === 4)).toBe(true)
  })

  it('Concurrent calls of `addEvaluationCounts` lose no counts', async () => {
    const storage = await open()
    const count = newCount({ count: 1, micros: 5 })
    const add = (index: number) => {
      const counts = [count, { ...count, variationId: null }]
      return storage.addEvaluationCounts(index % 2 === 0 ? counts : counts.reverse())
    }
    await Promise.all(Array.from({ length: 40 }, (_, index) => add(index)))
    const totals = await totalsOf(storage, count)
    expect(totals.map(({ count, micros }) => [count, micros])).toEqual([
      [40, 200],
      [40, 200],
    ])
  })

  it('Sums of counts larger than 32 bits are exact', async () => {
    const storage = await open()
    const count = newCount({ count: 3_000_000_001, micros: 4_000_000_000_000_001 })
    await storage.addEvaluationCounts([count])
    await storage.addEvaluationCounts([count])
    const sum = { count: 6_000_000_002, micros: 8_000_000_000_000_002 }
    expect(await totalsOf(storage, count)).toEqual([totalOf(count, sum)])
  })

  it('Counts that a transaction adds are saved with its commit and discarded with its rollback', async () => {
    const storage = await open()
    const count = newCount()
    const failing = storage.transaction('lock', async (tx) => {
      await tx.addEvaluationCounts([count])
      await tx.dropEvaluationCounts(MINUTES[0])
      expect(await totalsOf(tx, count)).toEqual([totalOf(count)])
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await totalsOf(storage, count)).toEqual([])
    await storage.transaction('lock', (tx) => tx.addEvaluationCounts([count]))
    expect(await totalsOf(storage, count)).toEqual([totalOf(count)])
  })
}

function describeTotals(open: OpenStorage): void {
  it('The counts of several instances are summed, and those of one instance do not replace those of another', async () => {
    const storage = await open()
    const count = newCount()
    const ofInstances = ['', newId(), newId()].map((instanceId, index) => {
      return { ...count, instanceId, count: 10 ** index }
    })
    await storage.addEvaluationCounts(ofInstances)
    for (const each of ofInstances) await storage.addEvaluationCounts([each])
    expect(await totalsOf(storage, count)).toEqual([totalOf(count, { count: 222, micros: 180 })])
  })

  it('Outcomes with a different variation, reason or source have separate totals', async () => {
    const storage = await open()
    const count = newCount()
    const outcomes = [
      count,
      { ...count, variationId: newId() },
      { ...count, variationId: null },
      { ...count, reason: 'SPLIT' as const },
      { ...count, source: 'sdk' as const },
      { ...count, source: 'client' as const },
    ].map((outcome, index) => ({ ...outcome, count: index + 1 }))
    await storage.addEvaluationCounts(outcomes)
    const totals = await totalsOf(storage, count)
    const byCount = [...totals].sort((a, b) => a.count - b.count)
    expect(byCount).toEqual(outcomes.map((outcome) => totalOf(outcome)))
  })

  it('Each source of evaluations has its own total', async () => {
    const storage = await open()
    const sources: readonly EvaluationSource[] = ['rest', 'poll', 'ws', 'sdk', 'client']
    const count = newCount()
    const counts = sources.map((source, index) => ({ ...count, source, count: index + 1 }))
    await storage.addEvaluationCounts(counts)
    await storage.addEvaluationCounts(counts)
    const totals = await totalsOf(storage, count)
    const expected = counts.map((each) => totalOf(each, { count: 2 * each.count, micros: 60 }))
    expect([...totals].sort((a, b) => a.count - b.count)).toEqual(expected)
  })

  it('Evaluation totals include only the requested flag in the requested environment', async () => {
    const storage = await open()
    const count = newCount()
    const others = [
      { ...count, flagId: newId() },
      { ...count, environmentId: newId() },
    ]
    await storage.addEvaluationCounts([count, ...others])
    expect(await totalsOf(storage, count)).toEqual([totalOf(count)])
  })

  it('The range of minutes of evaluation totals includes its start and excludes its end', async () => {
    const storage = await open()
    const count = newCount({ count: 1, micros: 1 })
    await storage.addEvaluationCounts(MINUTES.map((minute) => ({ ...count, minute })))
    const countBetween = async (from: string, to: string) => {
      const [total] = await totalsOf(storage, count, { from, to })
      return total?.count ?? 0
    }
    expect(await countBetween(MINUTES[1], MINUTES[3])).toBe(2)
    expect(await countBetween(MINUTES[1], MINUTES[2])).toBe(1)
    expect(await countBetween(MINUTES[1], MINUTES[1])).toBe(0)
    expect(await countBetween(MINUTES[0], '9')).toBe(4)
    expect(await countBetween('2026-03-01T10:00:00.001Z', MINUTES[1])).toBe(0)
  })
}

function describeDropping(open: OpenStorage): void {
  it('Dropping evaluation counts removes all minutes before the specified minute, for all flags', async () => {
    const storage = await open()
    const [one, other] = [newCount({ count: 1 }), newCount({ count: 1 })]
    const counts = [one, other].flatMap((count) => MINUTES.map((minute) => ({ ...count, minute })))
    await storage.addEvaluationCounts(counts)
    await storage.dropEvaluationCounts(MINUTES[2])
    for (const count of [one, other]) {
      expect(await totalsOf(storage, count, { from: '', to: MINUTES[2] })).toEqual([])
      expect((await totalsOf(storage, count))[0]?.count).toBe(2)
    }
  })

  it('Evaluation counts can be added again after they have been dropped', async () => {
    const storage = await open()
    const count = newCount()
    await storage.addEvaluationCounts([count])
    await storage.dropEvaluationCounts('9')
    expect(await totalsOf(storage, count)).toEqual([])
    await storage.addEvaluationCounts([count])
    expect(await totalsOf(storage, count)).toEqual([totalOf(count)])
  })
}

function newCount(fields: Partial<EvaluationCount> = {}): EvaluationCount {
  return {
    environmentId: newId(),
    flagId: newId(),
    minute: MINUTES[0],
    variationId: newId(),
    reason: 'TARGETING_MATCH',
    source: 'rest',
    instanceId: newId(),
    count: 2,
    micros: 30,
    ...fields,
  }
}

function totalOf(count: EvaluationCount, sums: Partial<EvaluationTotal> = {}): EvaluationTotal {
  const { variationId, reason, source, micros } = count
  return { variationId, reason, source, count: count.count, micros, ...sums }
}

function totalsOf(
  session: Pick<Storage, 'loadEvaluationCounts'>,
  { environmentId, flagId }: EvaluationCount,
  minutes: { readonly from: string; readonly to: string } = EVER,
): Promise<readonly EvaluationTotal[]> {
  return session.loadEvaluationCounts({ environmentId, flagId, ...minutes })
}
