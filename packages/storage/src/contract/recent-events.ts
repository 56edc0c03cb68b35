import { afterEach, describe, expect, it } from 'vitest'
import { MAX_RECENT_EVENTS, type RecentEvents } from '../ports/recent-events.ts'
import type { Records } from '../ports/records.ts'
import { newId } from './samples/sample-fields.ts'
import { sample } from './samples/samples.ts'

/** Recent events without copies. */
export interface RecentEventsUnderTest {
  readonly recentEvents: RecentEvents
  /** Closes the recent events and releases their resources. */
  readonly close: () => Promise<void>
}

/** Returns the first entries of a chain, newest first. */
function chainOf(length: number): readonly Records['auditEvent'][] {
  const hashOf = (sequence: number) => (sequence === 0 ? '' : `hash ${sequence}`)
  return Array.from({ length }, (_, n) => {
    const sequence = length - n
    const hashes = { previousHash: hashOf(sequence - 1), hash: hashOf(sequence) }
    return sample('auditEvent', { sequence, ...hashes })
  })
}

/**
 * Defines the vitest tests that an implementation of `RecentEvents` must pass. Each call of `create`
 * returns one without copies.
 */
export function recentEventsContract(
  name: string,
  create: () => Promise<RecentEventsUnderTest>,
): void {
  describe(`the recent events contract: ${name}`, () => {
    const opened: RecentEventsUnderTest[] = []
    const open = async () => {
      const underTest = await create()
      opened.push(underTest)
      return underTest.recentEvents
    }

    afterEach(async () => {
      for (const { close } of opened.splice(0)) await close()
    })

    describeCopies(open)
  })
}

function describeCopies(open: () => Promise<RecentEvents>): void {
  it('The entries of a new chain, and entries added to a filled copy, are found newest first', async () => {
    const events = await open()
    const [entries, chain, other] = [chainOf(5), newId(), newId()]
    expect(await events.find(chain, 'hash 5')).toBeUndefined()
    for (const entry of entries.toReversed()) await events.add(chain, entry)
    expect(await events.find(chain, 'hash 5')).toEqual(entries)
    await events.fill(other, entries.slice(2))
    for (const entry of entries.slice(0, 2).toReversed()) await events.add(other, entry)
    expect(await events.find(other, 'hash 5')).toEqual(entries)
  })

  it('A copy whose newest entry is not that of the store is not found', async () => {
    const events = await open()
    const [entries, chain] = [chainOf(3), newId()]
    await events.fill(chain, entries)
    expect(await events.find(chain, 'hash 2')).toBeUndefined()
    expect(await events.find(chain, 'hash 4')).toBeUndefined()
    expect(await events.find(newId(), 'hash 3')).toBeUndefined()
    expect(await events.find(chain, 'hash 3')).toEqual(entries)
  })

  it('A missing entry, a repeated entry and an entry of another branch remove the copy until it is filled', async () => {
    const events = await open()
    const [entries, chain] = [chainOf(6), newId()]
    const [sixth, fifth] = entries
    if (sixth === undefined || fifth === undefined) throw new Error('The chain is too short.')
    for (const added of [sixth, fifth, { ...sixth, previousHash: 'other' }]) {
      await events.fill(chain, added === fifth ? entries.slice(1) : entries.slice(2))
      await events.add(chain, added)
      for (const { hash } of entries) expect(await events.find(chain, hash)).toBeUndefined()
      await events.fill(chain, entries)
      expect(await events.find(chain, sixth.hash)).toEqual(entries)
    }
  })

  it('A copy contains the newest thousand entries', async () => {
    const events = await open()
    const [entries, chain] = [chainOf(MAX_RECENT_EVENTS + 3), newId()]
    await events.fill(chain, entries.slice(3))
    for (const entry of entries.slice(0, 3).toReversed()) await events.add(chain, entry)
    const newest = entries.slice(0, MAX_RECENT_EVENTS)
    expect(await events.find(chain, entries[0]?.hash ?? '')).toEqual(newest)
  })

  it('A copy that would be very large is not kept, and the chain can be filled again later', async () => {
    const events = await open()
    const [entries, chain] = [chainOf(4), newId()]
    const [newest, ...earlier] = entries
    if (newest === undefined) throw new Error('The chain is too short.')
    await events.fill(chain, earlier)
    const large = { ...newest, comment: 'x'.repeat(20_000_000) }
    await events.add(chain, large)
    await events.fill(chain, [large, ...earlier])
    const found = await events.find(chain, newest.hash)
    if (found !== undefined) expect(found).toEqual([large, ...earlier])
    await events.fill(chain, entries)
    await expect.poll(() => events.find(chain, newest.hash), { timeout: 60_000 }).toEqual(entries)
  })
}
