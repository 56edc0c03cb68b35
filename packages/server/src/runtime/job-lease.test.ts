import { FlagError } from '@ff/core'
import { activateStore, COPY_HOLDER, JOBS_LEASE, type Leases } from '@ff/storage'
import { describe, expect, it } from 'vitest'
import { MemoryLeases } from '../../../storage/src/memory/memory-leases.ts'
import { allInMemory, breakable } from '../../test/capabilities.ts'
import { FakeClock } from '../../test/fake-clock.ts'
import { JobLease } from './job-lease.ts'
import { silentLogger } from './logger.ts'

const SECOND = 1000

/** Opens leases and returns a function that starts instances, by default all with one clock. */
function openLeases() {
  const clock = new FakeClock()
  const leases = new MemoryLeases(() => clock.monotonicNow())
  let count = 0
  const start = async (more: Partial<ConstructorParameters<typeof JobLease>[0]> = {}) => {
    count += 1
    const options = { storage: leases, jobs: 'on' as const, clock, logger: silentLogger, ...more }
    const lease = new JobLease({ ...options, holder: `instance ${count}` })
    await lease.start()
    return lease
  }
  return { clock, leases, start }
}

/** Returns the leases, with the number of claims. */
function counting(leases: Leases) {
  let claims = 0
  const storage: Leases = {
    claimLease(claim) {
      claims += 1
      return leases.claimLease(claim)
    },
    findLeaseHolder: (name) => leases.findLeaseHolder(name),
    releaseLease: (lease) => leases.releaseLease(lease),
  }
  return { storage, claims: () => claims }
}

describe('the lease of the shared jobs', () => {
  it('One of several instances holds the lease, from its start on', async () => {
    const { clock, start } = openLeases()
    const instances = [await start(), await start(), await start()]
    const held = () => Promise.all(instances.map((each) => each.isHeld()))
    expect(await held()).toEqual([true, false, false])
    await clock.advance(60 * SECOND)
    expect(await held()).toEqual([true, false, false])
  })

  it('An instance without the lease makes one claim in five seconds', async () => {
    const { clock, leases, start } = openLeases()
    const { storage, claims } = counting(leases)
    await start()
    const idle = await start({ storage })
    const before = claims()
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(SECOND)
      await idle.isHeld()
    }
    expect(claims() - before).toBe(12)
  })

  it.each([0, 500, 1900, 2100, 3500, 4900])(
    'If the holder is killed %i ms after the start of another instance, that one takes over within ten seconds',
    async (killedAfterMs) => {
      const { clock, start } = openLeases()
      // The killed instance has a clock of its own, which stops.
      const own = new FakeClock(clock.now())
      const killed = await start({ clock: own })
      const other = await start()
      for (let ms = 0; ms < killedAfterMs; ms += 100) {
        await Promise.all([own, clock].map((each) => each.advance(100)))
      }
      expect([await killed.isHeld(), await other.isHeld()]).toEqual([true, false])
      await clock.advance(10 * SECOND)
      expect(await other.isHeld()).toBe(true)
    },
  )

  it('A stopped instance releases the lease at once, and has no timer', async () => {
    const { clock, start } = openLeases()
    const [first, second] = [await start(), await start()]
    await first.stop()
    expect(await (await start()).isHeld()).toBe(true)
    await second.stop()
    // One timer is that of the third instance.
    expect(clock.timers).toBe(1)
  })

  it('An instance that cannot reach the store holds the lease until it expires by its own clock', async () => {
    const { clock, leases, start } = openLeases()
    const broken = breakable({
      claimLease: (claim) => leases.claimLease(claim),
      releaseLease: (lease) => leases.releaseLease(lease),
    } as Parameters<typeof breakable>[0])
    const lease = await start({ storage: broken.storage })
    broken.break()
    await clock.advance(4999)
    expect(await lease.isHeld()).toBe(true)
    await clock.advance(1)
    expect(await lease.isHeld()).toBe(false)
    broken.repair()
    await clock.advance(5 * SECOND)
    expect(await lease.isHeld()).toBe(true)
  })

  it('An instance that was suspended claims the lease again before it uses it', async () => {
    const { clock, start } = openLeases()
    const own = new FakeClock(clock.now())
    const suspended = await start({ clock: own })
    own.set(own.now() + 60 * SECOND)
    clock.set(clock.now() + 60 * SECOND)
    expect(await suspended.isHeld()).toBe(true)
    own.set(own.now() + 60 * SECOND)
    clock.set(clock.now() + 60 * SECOND)
    const other = await start()
    expect(await suspended.isHeld()).toBe(false)
    expect(await other.isHeld()).toBe(true)
  })

  /** Opens the leases of a store that was created as a copy. */
  async function openCopy() {
    const opened = openLeases()
    const lines: string[] = []
    const log = (message: string) => void lines.push(message.split(':')[0] ?? '')
    const logger = { ...silentLogger, warn: log, info: log }
    const forMs = Number.MAX_SAFE_INTEGER
    await opened.leases.claimLease({ name: JOBS_LEASE, holder: COPY_HOLDER, forMs })
    return { ...opened, lines, logger }
  }

  it('No instance holds the lease of a copy until the store is activated', async () => {
    const { clock, leases, start, lines, logger } = await openCopy()
    const lease = await start({ logger })
    await clock.advance(3600 * SECOND)
    expect([await lease.isHeld(), await lease.isOff()]).toEqual([false, true])
    expect(lines).toEqual(['The store is a copy that is not active, so background jobs are off'])
    expect([await activateStore(leases), await activateStore(leases)]).toEqual([true, false])
    await clock.advance(5 * SECOND)
    expect([await lease.isHeld(), await lease.isOff()]).toEqual([true, false])
    expect(lines.slice(1)).toEqual(['The store was activated, and background jobs run'])
    const other = await start({ logger })
    expect([await other.isHeld(), await other.isOff(), lines.length]).toEqual([false, false, 2])
  })

  it('The first instance that activates the store takes the lease at its start', async () => {
    const { start, lines, logger } = await openCopy()
    const [lease, other] = [await start({ logger, jobs: 'activate' }), await start({ logger })]
    expect([await lease.isHeld(), await other.isHeld()]).toEqual([true, false])
    expect(lines).toEqual(['The store was activated, and background jobs run'])
    expect(await (await start({ jobs: 'activate' })).isHeld()).toBe(false)
  })

  it('An instance with `jobs` off never claims the lease, and says so', async () => {
    const { clock, leases, start } = openLeases()
    const lines: string[] = []
    const logger = { ...silentLogger, warn: (message: string) => void lines.push(message) }
    const { storage, claims } = counting(leases)
    const lease = await start({ storage, logger, jobs: 'off' })
    await clock.advance(60 * SECOND)
    expect([claims(), await lease.isHeld(), await lease.isOff()]).toEqual([0, false, true])
    expect(lines).toEqual([expect.stringContaining('In this process, background jobs are off')])
    await lease.stop()
  })

  it('An error of a claim is logged once, and an unavailable store is not logged', async () => {
    const clock = new FakeClock()
    const errors: string[] = []
    const logger = { ...silentLogger, error: (message: string) => void errors.push(message) }
    let error: Error = new FlagError('UNAVAILABLE', 'away')
    const storage: Leases = {
      claimLease: () => Promise.reject(error),
      findLeaseHolder: async () => undefined,
      releaseLease: async () => undefined,
    }
    await new JobLease({ storage, jobs: 'on', holder: 'a', clock, logger }).start()
    expect(errors).toEqual([])
    error = new Error('broken')
    await clock.advance(20 * SECOND)
    expect(errors).toEqual(['The lease of the background jobs could not be claimed'])
  })

  it('A database that accepts no changes is logged when this begins and when it ends, as is a lost lease', async () => {
    const clock = new FakeClock()
    const lines: string[] = []
    const logger = { ...silentLogger, warn: (message: string) => void lines.push(message) }
    const details = { reason: 'read_only' }
    let error: Error | undefined
    const storage: Leases = {
      claimLease: () => (error === undefined ? Promise.resolve(true) : Promise.reject(error)),
      findLeaseHolder: async () => undefined,
      releaseLease: async () => undefined,
    }
    const lease = new JobLease({ storage, jobs: 'on', holder: 'a', clock, logger })
    await lease.start()
    expect([lease.readOnlySince, lines]).toEqual([undefined, []])
    error = new FlagError('UNAVAILABLE', 'read-only', { details })
    await clock.advance(2 * SECOND)
    const since = clock.now()
    await clock.advance(60 * SECOND)
    expect([lease.readOnlySince, await lease.isHeld()]).toEqual([since, false])
    expect(lines).toEqual([
      'The store accepts no changes, and background jobs wait until it does',
      'The lease of the background jobs was lost',
    ])
    error = undefined
    await clock.advance(5 * SECOND)
    expect([lease.readOnlySince, await lease.isHeld()]).toEqual([undefined, true])
    expect(lines.slice(2)).toEqual(['The store accepts changes again'])
  })

  it('A change that is refused because the database is read-only is noted at once, and its recovery within a second', async () => {
    const { clock, leases, start } = openLeases()
    let isReadOnly = false
    const refuse = () =>
      new FlagError('UNAVAILABLE', 'read-only', { details: { reason: 'read_only' } })
    const claims: Leases = {
      claimLease: (claim) => (isReadOnly ? Promise.reject(refuse()) : leases.claimLease(claim)),
      findLeaseHolder: (name) => leases.findLeaseHolder(name),
      releaseLease: (lease) => leases.releaseLease(lease),
    }
    await start()
    const lease = await start({ storage: claims })
    const { storage } = allInMemory()
    const watched = lease.watch({
      ...storage,
      transaction: (lock, work) =>
        isReadOnly ? Promise.reject(refuse()) : storage.transaction(lock, work),
    })
    await watched.migrate()
    expect(await watched.transaction('any', async () => 7)).toBe(7)
    isReadOnly = true
    await expect(watched.transaction('any', async () => 7)).rejects.toMatchObject(refuse())
    expect(lease.readOnlySince).toBe(clock.now())
    await clock.advance(10 * SECOND)
    expect(lease.readOnlySince).toBe(clock.now() - 10 * SECOND)
    isReadOnly = false
    await clock.advance(1 * SECOND)
    expect(lease.readOnlySince).toBeUndefined()
  })
})
