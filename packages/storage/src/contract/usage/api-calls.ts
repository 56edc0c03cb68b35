import { describe, expect, it } from 'vitest'
import type { Storage } from '../../ports/storage.ts'
import type { ApiCalls } from '../../ports/usage.ts'
import { expectRefusal, type OpenStorage } from '../samples/fixtures.ts'
import { newId } from '../samples/sample-fields.ts'

/** Tests the pending API calls of organizations: adding, summing and taking. */
export function describeApiCalls(open: OpenStorage): void {
  describe('API calls', () => {
    describeAdding(open)
    describeTaking(open)
  })
}

function describeAdding(open: OpenStorage): void {
  it('API calls of an organization are summed over all instances and calls', async () => {
    const storage = await open()
    const calls = newCalls({ calls: 3 })
    const other = { ...calls, instanceId: newId(), calls: 40 }
    await storage.addApiCalls([calls, other, calls])
    await storage.addApiCalls([calls])
    expect(await storage.loadApiCalls([calls.organizationId])).toEqual(sums([calls, 49]))
  })

  it('API calls are returned for the requested organizations that have any, or for all', async () => {
    const storage = await open()
    const [one, two] = [newCalls({ calls: 1 }), newCalls({ calls: 2 })]
    await storage.addApiCalls([one, two])
    const ids = [one.organizationId, newId()]
    expect(await storage.loadApiCalls(ids)).toEqual(sums([one, 1]))
    expect(await storage.loadApiCalls([])).toEqual(new Map())
    expect(await storage.loadApiCalls()).toEqual(sums([one, 1], [two, 2]))
    const many = Array.from({ length: 2500 }, newId)
    expect(await storage.loadApiCalls([...many, two.organizationId])).toEqual(sums([two, 2]))
  })

  it('Adding API calls that are not finite fails with INVALID_REQUEST and adds nothing', async () => {
    const storage = await open()
    const good = newCalls()
    const bad = { ...good, calls: Number.NaN }
    await expectRefusal(storage.addApiCalls([good, bad]), 'INVALID_REQUEST')
    await storage.transaction('lock', async (tx) => {
      await expectRefusal(tx.addApiCalls([good, bad]), 'INVALID_REQUEST')
      await tx.addApiCalls([])
    })
    expect(await storage.loadApiCalls()).toEqual(new Map())
  })

  it('Sums of API calls larger than 32 bits are exact', async () => {
    const storage = await open()
    const calls = newCalls({ calls: 4_000_000_000_000_001 })
    await storage.addApiCalls([calls])
    await storage.addApiCalls([calls])
    expect(await storage.loadApiCalls()).toEqual(sums([calls, 8_000_000_000_000_002]))
    expect(await storage.takeApiCalls(calls.organizationId)).toBe(8_000_000_000_000_002)
  })
}

function describeTaking(open: OpenStorage): void {
  it('Taken API calls are removed for all instances of the organization, and for no other one', async () => {
    const storage = await open()
    const [one, two] = [newCalls({ calls: 1 }), newCalls({ calls: 2 })]
    await storage.addApiCalls([one, { ...one, instanceId: newId() }, two])
    expect(await storage.takeApiCalls(one.organizationId)).toBe(2)
    expect(await storage.takeApiCalls(one.organizationId)).toBe(0)
    expect(await storage.loadApiCalls()).toEqual(sums([two, 2]))
    await storage.addApiCalls([one])
    expect(await storage.takeApiCalls(one.organizationId)).toBe(1)
  })

  it('API calls that a transaction takes or adds stay unchanged if it is rolled back', async () => {
    const storage = await open()
    const calls = newCalls({ calls: 5 })
    await storage.addApiCalls([calls])
    const failing = storage.transaction('lock', async (tx) => {
      await tx.addApiCalls([calls])
      expect(await tx.takeApiCalls(calls.organizationId)).toBe(10)
      expect(await tx.loadApiCalls()).toEqual(new Map())
      await tx.addApiCalls([calls, newCalls()])
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await storage.loadApiCalls()).toEqual(sums([calls, 5]))
  })

  it('Each API call is taken exactly once while other calls are added', async () => {
    const storage = await open()
    const calls = newCalls({ calls: 1 })
    expect(await addAndTake([storage, storage], calls)).toBe(60)
  })
}

/**
 * Adds 60 API calls of six instances while others are taken, and returns the number of calls that
 * were taken.
 */
export async function addAndTake(
  [first, second]: readonly [Storage, Storage],
  { organizationId }: Pick<ApiCalls, 'organizationId'>,
): Promise<number> {
  const instanceIds = Array.from({ length: 6 }, newId)
  const takes: Promise<number>[] = []
  const adds = Array.from({ length: 60 }, (_, index) => {
    const instanceId = instanceIds[index % 6] ?? ''
    if (index % 10 === 9) takes.push(second.takeApiCalls(organizationId))
    const storage = index % 2 === 0 ? first : second
    return storage.addApiCalls([{ organizationId, instanceId, calls: 1 }])
  })
  await Promise.all(adds)
  takes.push(first.takeApiCalls(organizationId))
  const taken = await Promise.all(takes)
  const left = (await second.loadApiCalls([organizationId])).size
  return left > 0 ? Number.NaN : taken.reduce((sum, each) => sum + each, 0)
}

function newCalls(fields: Partial<ApiCalls> = {}): ApiCalls {
  return { organizationId: newId(), instanceId: newId(), calls: 1, ...fields }
}

function sums(...of: readonly (readonly [ApiCalls, number])[]): ReadonlyMap<string, number> {
  return new Map(of.map(([{ organizationId }, sum]) => [organizationId, sum]))
}
