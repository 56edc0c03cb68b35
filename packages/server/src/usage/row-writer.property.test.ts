import { FlagError } from '@ff/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../runtime/logger.ts'
import { RowWriter } from './row-writer.ts'

/** A store that refuses bad rows, and that is away from one call on. */
function storeOf(bad: ReadonlySet<number>, awayFrom = Number.POSITIVE_INFINITY) {
  const written: number[] = []
  let calls = 0
  const write = async (rows: readonly number[]) => {
    calls += 1
    if (calls > awayFrom) throw new FlagError('UNAVAILABLE', 'away')
    if (rows.some((row) => bad.has(row))) throw new FlagError('INVALID_REQUEST', 'bad')
    written.push(...rows)
  }
  return { written, write, calls: () => calls }
}

const cases = fc.record({
  length: fc.nat(60),
  bad: fc.uniqueArray(fc.nat(59), { maxLength: 8 }),
  rowsACall: fc.integer({ min: 1, max: 20 }),
  awayFrom: fc.nat(30),
})

describe('RowWriter', () => {
  it('writes every good row once, in order, and drops every bad row once', async () => {
    const property = fc.asyncProperty(cases, async ({ length, bad, rowsACall }) => {
      const rows = Array.from({ length }, (_, row) => row)
      const { write, written } = storeOf(new Set(bad))
      const dropped: number[] = []
      const drop = (row: number) => void dropped.push(row)
      await new RowWriter(silentLogger).write({ rows, rowsACall, write, drop })
      expect(written).toEqual(rows.filter((row) => !bad.includes(row)))
      expect(dropped).toEqual(rows.filter((row) => bad.includes(row)))
    })
    await fc.assert(property)
  })

  it('stops when the store is away, having written or dropped no row that was not there', async () => {
    const property = fc.asyncProperty(cases, async ({ length, bad, rowsACall, awayFrom }) => {
      const rows = Array.from({ length }, (_, row) => row)
      const { write, written, calls } = storeOf(new Set(bad), awayFrom)
      const dropped: number[] = []
      const drop = (row: number) => void dropped.push(row)
      const outcome = await new RowWriter(silentLogger)
        .write({ rows, rowsACall, write, drop })
        .catch((error: FlagError) => error.code)
      const settled = [...written, ...dropped]
      expect(new Set(settled).size).toBe(settled.length)
      expect(dropped.every((row) => bad.includes(row))).toBe(true)
      expect(outcome).toBe(calls() > awayFrom ? 'UNAVAILABLE' : undefined)
      if (outcome === undefined) expect(settled.sort((a, b) => a - b)).toEqual(rows)
    })
    await fc.assert(property)
  })

  it('finds one bad row of a batch with two calls for each halving', async () => {
    const rows = Array.from({ length: 256 }, (_, row) => row)
    const { write, calls } = storeOf(new Set([77]))
    const drop = () => undefined
    await new RowWriter(silentLogger).write({ rows, rowsACall: 256, write, drop })
    expect(calls()).toBe(1 + 2 * 8)
  })

  it('logs a reason for dropping rows once while it stays the same', async () => {
    const logged: unknown[] = []
    const logger = { ...silentLogger, error: (message: string) => void logged.push(message) }
    const writer = new RowWriter(logger)
    const { write } = storeOf(new Set([1, 3]))
    for (let round = 0; round < 3; round += 1) {
      await writer.write({ rows: [0, 1, 2, 3], rowsACall: 4, write, drop: () => undefined })
    }
    expect(logged).toEqual(['the store refused some usage, which is dropped'])
  })
})
