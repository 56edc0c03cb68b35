import { describe, expect, it } from 'vitest'
import { report, sized } from '../../../../server/test/drills/scale.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import type { ManagementUseCases } from '../../../src/index.ts'
import { createShop, type RunningInstance, type Shop, startInstances } from './instances.ts'

const OPERATIONS = sized({ full: 1000, small: 80 })
const CLIENTS = 3
const SHOPS = 3

/** A read or a write of one object, which stores one number. */
interface Operation {
  readonly object: number
  /** The number that was written or read. Each number is written once; 0 is the first number. */
  readonly number: number
  readonly isWrite: boolean
  /** The times of the call and of the response, in milliseconds. */
  readonly begin: number
  readonly end: number
}

describe('reads and writes at two instances over PostgreSQL', { timeout: 300_000 }, () => {
  it('Reads of the management plane are linearizable, and versions for SDKs never decrease', async () => {
    const { url } = await newPostgresSchema()
    const instances = await startInstances(2, { url })
    const shops: Shop[] = []
    for (let n = 0; n < SHOPS; n += 1) {
      shops.push(await createShop(instances[0]?.management as ManagementUseCases))
    }
    const history: Operation[] = []
    let number = 0
    let isOver = false
    const changing = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let n = client; n < OPERATIONS; n += CLIENTS) {
        const object = Math.floor(Math.random() * SHOPS)
        const { management } = instances[Math.floor(Math.random() * 2)] as RunningInstance
        const shop = shops[object] as Shop
        const isWrite = Math.random() < 0.5
        if (isWrite) number += 1
        const written = number
        const begin = performance.now()
        const seen = isWrite ? await write(management, shop, written) : await read(management, shop)
        history.push({ object, number: seen, isWrite, begin, end: performance.now() })
      }
    })
    const sequences = instances.flatMap((instance) =>
      shops.map((shop) => readVersions(instance, shop, () => isOver)),
    )
    await Promise.all(changing)
    isOver = true
    const versions = await Promise.all(sequences)
    for (const sequence of versions) expect(sequence).toEqual(sequence.toSorted((a, b) => a - b))
    for (let object = 0; object < SHOPS; object += 1) {
      const own = history.filter((operation) => operation.object === object)
      expect(whyNotLinearizable(own)).toBe(undefined)
    }
    const reads = versions.reduce((sum, { length }) => sum + length, 0)
    report(
      `${history.length} operations of ${CLIENTS} clients at two instances are linearizable; ` +
        `${reads} reads of SDKs are monotonic`,
    )
  })

  it.each([
    ['reads an older number after a newer one', [w(1, 0, 1), w(2, 2, 3), r(2, 4, 5), r(1, 6, 7)]],
    ['reads a number after its successor was written', [w(1, 0, 1), w(2, 2, 3), r(1, 4, 5)]],
    ['reads a number before it is written', [r(1, 0, 1), w(1, 2, 3)]],
    ['reads a number that was never written', [r(7, 0, 1)]],
  ] as const)('The check finds a client that %s', (_name, history) => {
    expect(whyNotLinearizable(history)).not.toBe(undefined)
  })

  it('The check accepts concurrent operations that have an order', () => {
    const history = [w(1, 0, 10), r(0, 1, 2), r(1, 3, 4), w(2, 2, 12), r(1, 5, 11), r(2, 9, 13)]
    expect(whyNotLinearizable(history)).toBe(undefined)
  })
})

function w(number: number, begin: number, end: number): Operation {
  return { object: 0, number, isWrite: true, begin, end }
}

function r(number: number, begin: number, end: number): Operation {
  return { ...w(number, begin, end), isWrite: false }
}

async function write(management: ManagementUseCases, shop: Shop, number: number) {
  await shop.set(management, number)
  return number
}

async function read(management: ManagementUseCases, { projectId, flagId }: Shop): Promise<number> {
  const flag = await management.getFlag({ params: { projectId, flagId } })
  const value = flag.variations.find(({ key }) => key === 'first')?.value
  return Number(/^n (\d+)$/.exec(String(value))?.[1])
}

/** Reads the version of a flag set again and again, and returns all versions. */
async function readVersions({ url }: RunningInstance, { sdkKey }: Shop, isOver: () => boolean) {
  const versions: number[] = []
  while (!isOver()) {
    const headers = { 'x-api-key': sdkKey }
    const response = await fetch(`${url}/evaluator/flag-set`, { headers })
    versions.push(((await response.json()) as { readonly version: number }).version)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return versions
}

/**
 * Returns why the operations of one object have no sequential order that respects their times;
 * `undefined` if they have one. All operations with one number form a zone, from the first response
 * to the last call. If the last call follows the first response, the number is present in the whole
 * zone: two such zones must not overlap, and none can contain all of another number (Gibbons and
 * Korach, "Testing shared memories").
 */
function whyNotLinearizable(history: readonly Operation[]): string | undefined {
  const initial = w(0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY)
  const groups = new Map<number, Operation[]>()
  for (const operation of [initial, ...history]) {
    groups.set(operation.number, [...(groups.get(operation.number) ?? []), operation])
  }
  const zones: { number: number; from: number; to: number }[] = []
  for (const [number, operations] of groups) {
    const writing = operations.find(({ isWrite }) => isWrite)
    if (writing === undefined) return `${number} was read but never written`
    if (operations.some(({ end }) => end < writing.begin)) return `${number} was read too early`
    const from = Math.min(...operations.map(({ end }) => end))
    zones.push({ number, from, to: Math.max(...operations.map(({ begin }) => begin)) })
  }
  for (const one of zones.filter(({ from, to }) => from < to)) {
    for (const other of zones) {
      if (one === other) continue
      const isPresent = other.from < other.to
      const overlaps = isPresent && other.from < one.to && one.from < other.to
      const isInside = !isPresent && one.from < other.to && other.from < one.to
      if (overlaps || isInside) return `${one.number} and ${other.number} have no order`
    }
  }
  return undefined
}
