import { describe, expect, it } from 'vitest'
import type { Storage } from '../../ports/storage.ts'
import { newId } from '../samples/sample-fields.ts'
import { pause } from '../writers/overlapping-transactions.ts'

const LONG_MS = 3_600_000

/** Tests `claimLease` and `releaseLease`. */
export function describeLeases(open: () => Promise<Storage>): void {
  describe('leases', () => {
    describeClaims(open)
    describeExpiry(open)
  })
}

function describeClaims(open: () => Promise<Storage>): void {
  it('A lease belongs to the first holder that claims it, also after further claims', async () => {
    const storage = await open()
    const claim = (holder: string) => storage.claimLease({ name: 'jobs', holder, forMs: LONG_MS })
    expect(await claim('a')).toBe(true)
    expect(await claim('b')).toBe(false)
    expect(await claim('a')).toBe(true)
    expect(await claim('b')).toBe(false)
  })

  it('Leases with different names are independent', async () => {
    const storage = await open()
    const name = newId()
    expect(await storage.claimLease({ name, holder: 'a', forMs: LONG_MS })).toBe(true)
    expect(await storage.claimLease({ name: `${name}2`, holder: 'b', forMs: LONG_MS })).toBe(true)
  })

  it('A released lease is free, and only its holder can release it', async () => {
    const storage = await open()
    const name = 'jobs'
    const claim = (holder: string) => storage.claimLease({ name, holder, forMs: LONG_MS })
    await claim('a')
    await storage.releaseLease({ name, holder: 'b' })
    expect(await claim('b')).toBe(false)
    await storage.releaseLease({ name, holder: 'a' })
    expect(await claim('b')).toBe(true)
    await storage.releaseLease({ name: 'another', holder: 'b' })
    expect(await claim('a')).toBe(false)
  })

  it('The holder of a lease is found until the lease is free', async () => {
    const storage = await open()
    const name = 'jobs'
    expect(await storage.findLeaseHolder(name)).toBeUndefined()
    await storage.claimLease({ name, holder: 'a', forMs: LONG_MS })
    expect(await storage.findLeaseHolder(name)).toBe('a')
    expect(await storage.findLeaseHolder('another')).toBeUndefined()
    await storage.releaseLease({ name, holder: 'a' })
    expect(await storage.findLeaseHolder(name)).toBeUndefined()
    await storage.claimLease({ name, holder: 'b', forMs: 1 })
    await pause(10)
    expect(await storage.findLeaseHolder(name)).toBeUndefined()
  })

  it('Of many concurrent claims of a lease, one succeeds', async () => {
    const storage = await open()
    const claims = Array.from({ length: 20 }, (_, at) =>
      storage.claimLease({ name: 'jobs', holder: `holder ${at}`, forMs: LONG_MS }),
    )
    expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1)
  })
}

function describeExpiry(open: () => Promise<Storage>): void {
  it('An expired lease can be claimed by another holder, and not by its former holder', async () => {
    const storage = await open()
    const claim = (holder: string, forMs: number) =>
      storage.claimLease({ name: 'jobs', holder, forMs })
    await claim('a', 20)
    await pause(30)
    expect(await claim('b', LONG_MS)).toBe(true)
    expect(await claim('a', LONG_MS)).toBe(false)
  })

  it('A claim of the holder determines the expiry of the lease, which can be earlier than before', async () => {
    const storage = await open()
    const claim = (holder: string, forMs: number) =>
      storage.claimLease({ name: 'jobs', holder, forMs })
    await claim('a', 20)
    await claim('a', LONG_MS)
    await pause(30)
    expect(await claim('b', LONG_MS)).toBe(false)
    await claim('a', 1)
    await pause(10)
    expect(await claim('b', LONG_MS)).toBe(true)
  })
}
