import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { FakeClock } from '../../test/fake-clock.ts'
import { MAX_COUNTED_REPORTS, MAX_COUNTED_REPORTS_OF_KEY } from '../runtime/memory-bounds.ts'
import { CountedReports } from './counted-reports.ts'

const HOUR_MS = 3_600_000

/** Creates a memory that counts in `counted` how often each report is counted. */
function memoryOf(limits?: ConstructorParameters<typeof CountedReports>[1]) {
  const clock = new FakeClock()
  const reports = new CountedReports(clock, limits)
  let counted = 0
  const deliver = (keyId: string, id: string) => {
    const before = counted
    reports.answerOnce({ keyId, id }, () => {
      counted += 1
      return { accepted: counted, ignored: 0 }
    })
    return counted > before
  }
  return { clock, reports, deliver }
}

describe('CountedReports', () => {
  it('A repetition of a report receives the answer to the report and is not counted', () => {
    const { reports } = memoryOf()
    const report = { keyId: 'key', id: 'report' }
    const answer = { accepted: 3, ignored: 1 }
    expect(reports.answerOnce(report, () => answer)).toEqual(answer)
    const count = () => {
      throw new Error('counted twice')
    }
    expect(reports.answerOnce(report, count)).toEqual(answer)
  })

  it('Each SDK key has ids of its own', () => {
    const { deliver } = memoryOf()
    expect([deliver('a', 'b c'), deliver('a b', 'c'), deliver('a', 'b c')]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('A report is counted again after an hour', () => {
    const { clock, reports, deliver } = memoryOf()
    deliver('key', 'report')
    clock.set(clock.now() + HOUR_MS - 1)
    expect(deliver('key', 'report')).toBe(false)
    clock.set(clock.now() + 1)
    expect(deliver('key', 'report')).toBe(true)
    expect(reports.size).toBe(1)
  })

  it('Reports that are older than an hour are forgotten, whatever their key', () => {
    const { clock, reports, deliver } = memoryOf()
    for (let id = 0; id < 1000; id += 1) deliver(`key-${id % 7}`, `report-${id}`)
    clock.set(clock.now() + HOUR_MS)
    deliver('other', 'report')
    expect(reports.size).toBe(1)
  })

  it('A report that could not be counted is not remembered', () => {
    const { reports, deliver } = memoryOf()
    const fail = () => {
      throw new Error('failed')
    }
    expect(() => reports.answerOnce({ keyId: 'key', id: 'report' }, fail)).toThrow('failed')
    expect([deliver('key', 'report'), deliver('key', 'report')]).toEqual([true, false])
  })

  it('A key with many reports forgets its own oldest reports, and those of no other key', () => {
    const { reports, deliver } = memoryOf()
    deliver('other', 'report')
    for (let id = 0; id < 2 * MAX_COUNTED_REPORTS_OF_KEY; id += 1) deliver('key', `report-${id}`)
    expect(reports.size).toBeLessThanOrEqual(1 + MAX_COUNTED_REPORTS_OF_KEY)
    expect(deliver('other', 'report')).toBe(false)
    expect(deliver('key', `report-${2 * MAX_COUNTED_REPORTS_OF_KEY - 1}`)).toBe(false)
    expect(deliver('key', 'report-0')).toBe(true)
  })

  it('All keys together have a limit, and the oldest reports are forgotten first', () => {
    const { reports, deliver } = memoryOf()
    const total = MAX_COUNTED_REPORTS + 1000
    for (let id = 0; id < total; id += 1) deliver(`key-${id}`, 'report')
    expect(reports.size).toBeLessThanOrEqual(MAX_COUNTED_REPORTS)
    expect(deliver(`key-${total - 1}`, 'report')).toBe(false)
    expect(deliver('key-0', 'report')).toBe(true)
  })

  it('A report is counted if and only if no report with its key and id is among the newest of the last hour', () => {
    const deliveries = fc.array(
      fc.record({ keyId: fc.constantFrom('a', 'b', 'c'), id: fc.nat(12), ms: fc.nat(HOUR_MS / 8) }),
      { maxLength: 200 },
    )
    fc.assert(
      fc.property(
        deliveries,
        fc.record({
          ofKey: fc.integer({ min: 1, max: 8 }),
          ofAll: fc.integer({ min: 1, max: 16 }),
        }),
        (all, limits) => {
          const { clock, reports, deliver } = memoryOf(limits)
          let remembered: { keyId: string; id: number; at: number }[] = []
          for (const { keyId, id, ms } of all) {
            clock.set(clock.now() + ms)
            remembered = remembered.filter(({ at }) => at > clock.now() - HOUR_MS)
            const isKnown = remembered.some((each) => each.keyId === keyId && each.id === id)
            expect(deliver(keyId, String(id))).toBe(!isKnown)
            if (isKnown) continue
            const ofKey = remembered.filter((each) => each.keyId === keyId)
            const isFull = ofKey.length >= limits.ofKey || remembered.length >= limits.ofAll
            const oldest = ofKey.length >= limits.ofKey ? ofKey[0] : remembered[0]
            if (isFull) remembered = remembered.filter((each) => each !== oldest)
            remembered.push({ keyId, id, at: clock.now() })
            expect(reports.size).toBe(remembered.length)
          }
        },
      ),
      { numRuns: runs(500) },
    )
  })
})
