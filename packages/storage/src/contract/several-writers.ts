import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Storage, StorageSession } from '../ports/storage.ts'
import { describeConcurrentClaims } from './claims/concurrent-claims.ts'
import { flagChange, flagDefinition, METADATA } from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { sample } from './samples/samples.ts'
import { describeConcurrentUsage } from './usage/concurrent-usage.ts'
import { sdkKeyVersion } from './version-list.ts'
import {
  barrier,
  both,
  pause,
  succeedsUnless,
  type Work,
} from './writers/overlapping-transactions.ts'

/** Two stores on one new, empty database, on which `migrate` has not been called. */
export interface WritersUnderTest {
  /** The stores of two instances. They can be the same object if a store has only one instance. */
  readonly storages: readonly [Storage, Storage]
  /** Closes the stores and removes their data. */
  readonly close: () => Promise<void>
}

const DELETED_AT = '2026-04-01T00:00:00.000Z'

/**
 * Defines the vitest tests of transactions with different locks, on two stores with one database.
 * Every store for several instances must pass them. The tests also hold for a store that runs all
 * transactions one after another.
 *
 * @example
 * severalWritersContract('memory', async () => {
 *   const { storage } = memory()
 *   return { storages: [storage, storage], close: () => storage.close() }
 * })
 */
export function severalWritersContract(
  name: string,
  create: () => Promise<WritersUnderTest>,
): void {
  describe(`the contract of several writers: ${name}`, () => {
    let opened: WritersUnderTest

    beforeEach(async () => {
      opened = await create()
      await Promise.all(opened.storages.map((storage) => storage.migrate()))
    })
    afterEach(() => opened.close())

    const stores = () => opened.storages
    describeWrites(stores)
    describeConflicts(stores)
    describeReferences(stores)
    describeConcurrentUsage(stores)
    describeConcurrentClaims(stores)
  })
}

type Stores = () => WritersUnderTest['storages']

function describeWrites(stores: Stores): void {
  it('Overlapping transactions save all their changes, and each sees only its own before the commit', async () => {
    const meet = barrier()
    const flags = [sample('flag'), sample('flag')] as const
    const insert = (own: number) => async (tx: StorageSession) => {
      await tx.insert('flag', flags[own] ?? flags[0])
      await meet()
      const { data } = await tx.list('flag', {})
      await tx.update('flag', flags[own]?.id ?? '', { revision: 2 })
      return data.some(({ id }) => id === flags[own]?.id)
    }
    const [first, second] = await both(stores(), insert(0), insert(1))
    expect([first, second]).toEqual([{ result: true }, { result: true }])
    for (const storage of stores()) {
      expect((await storage.list('flag', { where: { revision: 2 } })).total).toBe(2)
    }
  })

  it('Transactions of two stores with the same lock run one after another', async () => {
    const trace: string[] = []
    const run = (storage: Storage, name: string) =>
      storage.transaction('lock', async (tx) => {
        await tx.insert('flag', sample('flag'))
        trace.push(name)
        await pause(20)
        trace.push(name)
      })
    const [first, second] = stores()
    await Promise.all([run(first, 'a'), run(second, 'b'), run(first, 'c'), run(second, 'd')])
    expect(trace).toHaveLength(8)
    for (let at = 0; at < trace.length; at += 2) expect(trace[at]).toBe(trace[at + 1])
  })

  it('Transactions that change the same records in opposite order both succeed', async () => {
    const meet = barrier()
    const flags = [sample('flag', { revision: 1 }), sample('flag', { revision: 1 })] as const
    for (const flag of flags) await stores()[0].insert('flag', flag)
    const rename =
      (order: readonly number[], field: 'name' | 'description') => async (tx: StorageSession) => {
        for (const at of order) {
          await tx.update('flag', flags[at]?.id ?? '', { [field]: 'changed' })
          await meet()
        }
      }
    const outcomes = await both(stores(), rename([0, 1], 'name'), rename([1, 0], 'description'))
    expect(outcomes).toEqual([{ result: undefined }, { result: undefined }])
    for (const { id } of flags) {
      const changed = { name: 'changed', description: 'changed' }
      expect(await stores()[1].find('flag', id)).toMatchObject(changed)
    }
  })

  it('Publications to one environment receive successive versions', async () => {
    const meet = barrier()
    const environmentId = newId()
    const publish = (key: string) => async (tx: StorageSession) => {
      const change = flagChange(flagDefinition({ key }))
      const version = await tx.publish(environmentId, [change], METADATA)
      await meet()
      return version
    }
    const outcomes = await both(stores(), publish('a'), publish('b'))
    expect(new Set(outcomes.map((each) => 'result' in each && each.result))).toEqual(
      new Set([1, 2]),
    )
    const flagSet = await stores()[1].loadFlagSet(environmentId)
    expect(flagSet?.version).toBe(2)
    expect(flagSet?.flags.map(({ key }) => key)).toEqual(['a', 'b'])
  })

  it('Two overlapping transactions that change SDK keys both increase the version of all SDK keys', async () => {
    const meet = barrier()
    const work: Work<void> = async (tx) => {
      await meet()
      await tx.insert('sdkKey', sample('sdkKey'))
    }
    const before = await sdkKeyVersion(stores()[0])
    await both(stores(), work, work)
    expect(await sdkKeyVersion(stores()[1])).toBe(before + 2)
  })
}

function describeConflicts(stores: Stores): void {
  it('Of two updates with the same expected revision, the second fails with CONFLICT, and its transaction remains usable', async () => {
    const meet = barrier()
    const flag = sample('flag', { revision: 1 })
    await stores()[0].insert('flag', flag)
    const rename = (name: string) => async (tx: StorageSession) => {
      const found = await tx.find('flag', flag.id)
      await meet()
      const update = tx.update('flag', flag.id, { name, revision: 2 }, found?.revision)
      const isApplied = await succeedsUnless('CONFLICT', update)
      await tx.insert('plan', sample('plan'))
      return isApplied
    }
    const outcomes = await both(stores(), rename('a'), rename('b'))
    const applied = outcomes.filter((each) => 'result' in each && each.result)
    // A store that runs them one after another reads the new revision, and applies both.
    expect(applied.length).toBeGreaterThan(0)
    const { name } = (await stores()[1].find('flag', flag.id)) ?? {}
    expect(['a', 'b']).toContain(name)
    expect((await stores()[0].list('plan', {})).total).toBe(2)
  })

  it.each(['the same id', 'the same unique key'])(
    'Of two concurrent records with %s, one is saved, and the transaction of the other remains usable',
    async (equal) => {
      const meet = barrier()
      const flag = sample('flag')
      const twin = equal === 'the same id' ? { id: flag.id, key: 'other' } : { key: flag.key }
      const { projectId } = flag
      const insert = (own: typeof flag) => async (tx: StorageSession) => {
        await meet()
        const isSaved = await succeedsUnless('CONFLICT', tx.insert('flag', own))
        await tx.insert('plan', sample('plan'))
        await meet()
        return isSaved
      }
      const other = sample('flag', { projectId, ...twin })
      const outcomes = await both(stores(), insert(flag), insert(other))
      expect(outcomes.map((each) => 'result' in each && each.result).sort()).toEqual([false, true])
      expect((await stores()[1].list('flag', {})).total).toBe(1)
      expect((await stores()[1].list('plan', {})).total).toBe(2)
    },
  )

  it('A record that a concurrent transaction has deleted cannot be changed', async () => {
    const meet = barrier()
    const flag = sample('flag')
    await stores()[0].insert('flag', flag)
    const remove = async (tx: StorageSession) => {
      await tx.update('flag', flag.id, { deletedAt: DELETED_AT })
      await meet()
    }
    const rename = async (tx: StorageSession) => {
      await meet()
      const isChanged = await succeedsUnless(
        'NOT_FOUND',
        tx.update('flag', flag.id, { name: 'late' }),
      )
      await tx.insert('plan', sample('plan'))
      return isChanged
    }
    const [removed, renamed] = await both(stores(), remove, rename)
    expect(removed).toEqual({ result: undefined })
    const deleted = await stores()[0].findDeleted('flag', flag.id)
    expect(renamed).toEqual({ result: deleted?.name === 'late' })
    expect((await stores()[1].list('plan', {})).total).toBe(1)
  })
}

function describeReferences(stores: Stores): void {
  it.each(['the reference', 'the deletion'])(
    'A record that another transaction deletes is never referred to afterwards, if %s begins first',
    async (first) => {
      const meet = barrier()
      const plan = sample('plan')
      await stores()[0].insert('plan', plan)
      const refer: Work<void> = async (tx) => {
        if (first === 'the deletion') await meet()
        const held = await tx.hold('plan', plan.id)
        if (first === 'the reference') await meet()
        if (held === undefined) throw new Error('the plan is deleted')
        await tx.insert('organization', sample('organization', { planId: plan.id }))
      }
      const remove: Work<void> = async (tx) => {
        if (first === 'the reference') await meet()
        await tx.update('plan', plan.id, { deletedAt: DELETED_AT })
        if (first === 'the deletion') await meet()
        const { total } = await tx.list('organization', { where: { planId: plan.id } })
        if (total > 0) throw new Error('the plan is in use')
      }
      const outcomes = await both(stores(), refer, remove)
      const [reader] = stores()
      const isLiving = (await reader.find('plan', plan.id)) !== undefined
      const { total } = await reader.list('organization', { where: { planId: plan.id } })
      expect({ isLiving, total }).toEqual(
        isLiving ? { isLiving, total: 1 } : { isLiving, total: 0 },
      )
      expect(outcomes.filter((each) => 'result' in each)).toHaveLength(1)
    },
  )

  it('Several transactions can hold one record at the same time', async () => {
    const meet = barrier()
    const plan = sample('plan')
    await stores()[0].insert('plan', plan)
    const refer: Work<string | undefined> = async (tx) => {
      const held = await tx.hold('plan', plan.id)
      await meet()
      await tx.insert('organization', sample('organization', { planId: plan.id }))
      return held?.id
    }
    const outcomes = await both(stores(), refer, refer)
    expect(outcomes).toEqual([{ result: plan.id }, { result: plan.id }])
  })

  it('hold returns the record of find, and undefined for a deleted and an unknown record', async () => {
    const [storage] = stores()
    const deleted = sample('plan', { deletedAt: DELETED_AT })
    const plan = sample('plan')
    await storage.insert('plan', plan)
    await storage.insert('plan', deleted)
    const held = await storage.transaction('lock', (tx) =>
      Promise.all([plan.id, deleted.id, newId()].map((id) => tx.hold('plan', id))),
    )
    expect(held).toEqual([plan, undefined, undefined])
    expect(await storage.hold('plan', plan.id)).toEqual(plan)
  })
}
