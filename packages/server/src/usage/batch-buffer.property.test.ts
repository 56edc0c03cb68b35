import { FlagError } from '@ff/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { type Logger, silentLogger } from '../runtime/logger.ts'
import { BatchBuffer } from './batch-buffer.ts'

interface Row {
  readonly environmentId: string
  readonly name: number
  readonly count: number
}

interface BufferCase {
  readonly coarser?: readonly ((row: Row) => Row)[]
  readonly bad?: ReadonlySet<number>
  readonly awayFrom?: number
  readonly rowsACall?: number
  readonly maxRows?: number
  readonly logger?: Logger
}

/**
 * Creates a buffer with a store that refuses bad rows and is unavailable after `awayFrom` calls.
 */
function bufferOf({ bad = new Set(), awayFrom = Infinity, ...options }: BufferCase = {}) {
  const written: Row[] = []
  const dropped: Row[] = []
  const store = { awayFrom, calls: 0 }
  const buffer = new BatchBuffer<Row>({
    ...{ maxRows: 1000, rowsACall: 256, logger: silentLogger, ...options },
    nameOf: ({ name }) => String(name),
    merge: (earlier, later) => ({ ...later, count: earlier.count + later.count }),
    write: async (rows) => {
      store.calls += 1
      if (store.calls > store.awayFrom) throw new FlagError('UNAVAILABLE', 'away')
      if (rows.some(({ name }) => bad.has(name))) throw new FlagError('INVALID_REQUEST', 'bad')
      written.push(...rows)
      return []
    },
    drop: (row) => {
      dropped.push(row)
      return row.count
    },
  })
  return { buffer, written, dropped, store }
}

function addRows({ buffer }: ReturnType<typeof bufferOf>, names: readonly number[], owner = 'a') {
  for (const name of names) buffer.add({ environmentId: owner, name, count: 1 })
}

const namesOf = (rows: readonly Row[]) => rows.map(({ name }) => name)
const upTo = (length: number) => Array.from({ length }, (_, name) => name)

const cases = fc.record({
  length: fc.nat(60),
  bad: fc.uniqueArray(fc.nat(59), { maxLength: 8 }),
  rowsACall: fc.integer({ min: 1, max: 20 }),
  awayFrom: fc.nat(30),
})

describe('BatchBuffer', () => {
  it('A batch buffer writes every valid row once, in order, and drops every invalid row once.', async () => {
    const property = fc.asyncProperty(cases, async ({ length, bad, rowsACall }) => {
      const scene = bufferOf({ bad: new Set(bad), rowsACall })
      addRows(scene, upTo(length))
      await scene.buffer.flush()
      expect(namesOf(scene.written)).toEqual(upTo(length).filter((row) => !bad.includes(row)))
      expect(namesOf(scene.dropped)).toEqual(upTo(length).filter((row) => bad.includes(row)))
      expect([scene.buffer.size, scene.buffer.dropped]).toEqual([0, scene.dropped.length])
    })
    await fc.assert(property, { numRuns: runs(100) })
  })

  it('A batch buffer stops when the store is unavailable, and later writes or drops each remaining row once.', async () => {
    const property = fc.asyncProperty(cases, async ({ length, bad, rowsACall, awayFrom }) => {
      const scene = bufferOf({ bad: new Set(bad), rowsACall, awayFrom })
      const { buffer, written, dropped, store } = scene
      addRows(scene, upTo(length))
      const outcome = await buffer.flush().catch((error: FlagError) => error.code)
      const settled = namesOf([...written, ...dropped])
      expect(new Set(settled).size).toBe(settled.length)
      expect(namesOf(dropped).every((row) => bad.includes(row))).toBe(true)
      expect(outcome).toBe(store.calls > awayFrom ? 'UNAVAILABLE' : undefined)
      if (outcome === undefined) expect(settled.sort((a, b) => a - b)).toEqual(upTo(length))
      expect(buffer.size).toBe(length - settled.length)
      store.awayFrom = Infinity
      await buffer.flush()
      const all = namesOf([...written, ...dropped])
      expect(all.sort((a, b) => a - b)).toEqual(upTo(length))
    })
    await fc.assert(property, { numRuns: runs(100) })
  })

  it('A batch buffer merges a new row with a row of the same name that could not be written.', async () => {
    const scene = bufferOf({ awayFrom: 0 })
    addRows(scene, [1, 2])
    const failing = scene.buffer.flush()
    addRows(scene, [2, 3])
    await expect(failing).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(scene.buffer.size).toBe(3)
    scene.store.awayFrom = Infinity
    await scene.buffer.flush()
    expect(scene.written.map(({ name, count }) => [name, count])).toEqual([
      [1, 1],
      [2, 2],
      [3, 1],
    ])
  })

  it('A batch that could not be written moves behind the rows that were not tried.', async () => {
    const scene = bufferOf({ awayFrom: 0, rowsACall: 1 })
    addRows(scene, [1, 2, 3])
    await scene.buffer.flush().catch(() => undefined)
    scene.store.awayFrom = Infinity
    await scene.buffer.flush()
    expect(namesOf(scene.written)).toEqual([2, 3, 1])
  })

  it('A full batch buffer drops rows of the environment with the most rows.', async () => {
    const scene = bufferOf({ maxRows: 100 })
    addRows(scene, upTo(150), 'crowd')
    addRows(scene, upTo(10), 'small')
    expect([scene.buffer.size, scene.buffer.dropped]).toEqual([100, 60])
    await scene.buffer.flush()
    const small = scene.written.filter(({ environmentId }) => environmentId === 'small')
    expect(namesOf(small)).toEqual(upTo(10))
    addRows(scene, upTo(150), 'crowd')
    addRows(scene, upTo(150), 'other')
    await scene.buffer.flush()
    const others = scene.written.filter(({ environmentId }) => environmentId === 'other')
    expect([others.length, scene.written.length]).toEqual([50, 200])
  })

  it('A row for a full batch buffer costs the same, however many rows and environments there are.', () => {
    const costOf = (environments: number, rowsOfEach: number) => {
      let calls = 0
      const toSame = (row: Row) => {
        calls += 1
        return row
      }
      const maxRows = environments * rowsOfEach
      const scene = bufferOf({ maxRows, coarser: [toSame, toSame] })
      for (let owner = 0; owner < environments; owner += 1) {
        addRows(scene, upTo(rowsOfEach), `environment-${owner}`)
      }
      calls = 0
      addRows(scene, upTo(rowsOfEach * 3), 'environment-0')
      addRows(scene, upTo(1000), 'other')
      expect([scene.buffer.size, calls > 0]).toEqual([maxRows, true])
      return calls / (rowsOfEach * 2 + 1000)
    }
    for (const [environments, rowsOfEach] of [
      [1, 20_000],
      [2, 10_000],
      [1000, 20],
      [20, 1000],
    ] as const) {
      expect(costOf(environments, rowsOfEach)).toBeLessThan(250)
    }
  })

  it('A full batch buffer merges rows with less detail before it drops any, and keeps their sum.', async () => {
    const step = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(400), fc.boolean())
    const property = fc.asyncProperty(fc.array(step, { maxLength: 300 }), async (steps) => {
      const [pairs, tens] = [2, 20].map((size) => (row: Row) => {
        return { ...row, name: row.name - (row.name % size) }
      })
      const coarser = [pairs, tens].filter((each) => each !== undefined)
      // Each of three environments has at most 21 rows without detail.
      const scene = bufferOf({ maxRows: 70, coarser })
      for (const [owner, name, isWritten] of steps) {
        addRows(scene, [name], owner)
        expect(scene.buffer.size).toBeLessThanOrEqual(70)
        if (isWritten && name % 10 === 0) await scene.buffer.flush()
      }
      await scene.buffer.flush()
      const sumOf = (owner: string) =>
        scene.written
          .filter(({ environmentId }) => environmentId === owner)
          .reduce((sum, { count }) => sum + count, 0)
      for (const owner of ['a', 'b', 'c']) {
        expect(sumOf(owner)).toBe(steps.filter(([each]) => each === owner).length)
      }
      expect(scene.dropped).toEqual([])
    })
    await fc.assert(property, { numRuns: runs(100) })
  })

  it('A batch buffer finds one invalid row of a batch with two calls per halving.', async () => {
    const scene = bufferOf({ bad: new Set([77]) })
    addRows(scene, upTo(256))
    await scene.buffer.flush()
    expect(scene.store.calls).toBe(1 + 2 * 8)
  })

  it('A batch buffer logs the same reason for dropping rows only once.', async () => {
    const logged: unknown[] = []
    const logger = { ...silentLogger, error: (message: string) => void logged.push(message) }
    const scene = bufferOf({ bad: new Set([1, 3]), logger })
    for (let round = 0; round < 3; round += 1) {
      addRows(scene, upTo(4))
      await scene.buffer.flush()
    }
    expect(logged).toEqual(['The store refused some usage, which was dropped'])
  })
})
