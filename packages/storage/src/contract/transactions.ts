import { describe, expect, it } from 'vitest'
import type { StorageSession } from '../ports/storage.ts'
import {
  expectRefusal,
  flagChange,
  flagDefinition,
  METADATA,
  type OpenStorage,
} from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { sample } from './samples/samples.ts'

const LOCK = 'an organization'

/** Tests `transaction`: atomicity, isolation and locks. */
export function describeTransactions(open: OpenStorage): void {
  describe('transactions', () => {
    describeAtomicity(open)
    describeRefusals(open)
    describeIsolation(open)
    describeLocks(open)
  })
}

function describeAtomicity(open: OpenStorage): void {
  it('A transaction saves all its changes and returns the result of its work', async () => {
    const storage = await open()
    const flag = sample('flag')
    const environmentId = newId()
    const result = await storage.transaction(LOCK, async (tx) => {
      await tx.insert('flag', flag)
      await tx.update('flag', flag.id, { name: 'Renamed' })
      await tx.publish(environmentId, [flagChange(flagDefinition())], METADATA)
      return 'done'
    })
    expect(result).toBe('done')
    expect((await storage.find('flag', flag.id))?.name).toBe('Renamed')
    expect((await storage.loadFlagSet(environmentId))?.version).toBe(1)
  })

  it('A transaction changes nothing if its work throws, and rejects with the same error', async () => {
    const storage = await open()
    const [kept, lost] = [sample('flag'), sample('flag')]
    const environmentId = newId()
    await storage.insert('flag', kept)
    await storage.publish(environmentId, [flagChange(flagDefinition())], METADATA)
    const before = await storage.loadFlagSet(environmentId)
    const error = new Error('changed my mind')
    const work = storage.transaction(LOCK, async (tx) => {
      await tx.insert('flag', lost)
      await tx.update('flag', kept.id, { deletedAt: '2026-04-01T00:00:00.000Z' })
      await tx.publish(environmentId, [flagChange(flagDefinition())], METADATA)
      await tx.publish(newId(), [flagChange(flagDefinition())], METADATA)
      throw error
    })
    await expect(work).rejects.toBe(error)
    expect(await storage.list('flag', {})).toEqual({ data: [kept], total: 1 })
    expect(await storage.loadFlagSet(environmentId)).toEqual(before)
    expect((await storage.loadChanges(environmentId, 0)).version).toBe(1)
    await storage.insert('flag', lost)
  })

  it('A failed transaction does not prevent the next transaction', async () => {
    const storage = await open()
    const flag = sample('flag')
    const failing = storage.transaction(LOCK, async () => {
      throw new Error('no')
    })
    const next = storage.transaction(LOCK, (tx) => tx.insert('flag', flag))
    await expect(failing).rejects.toThrow('no')
    await next
    expect(await storage.find('flag', flag.id)).toEqual(flag)
  })
}

function describeRefusals(open: OpenStorage): void {
  it('A call that fails in a transaction changes nothing, and the transaction remains usable', async () => {
    const storage = await open()
    const [first, second] = [sample('flag'), sample('flag')]
    await storage.transaction(LOCK, async (tx) => {
      await tx.insert('flag', first)
      await expectRefusal(tx.insert('flag', first), 'CONFLICT')
      await expectRefusal(tx.update('flag', first.id, { name: 'x' }, 9), 'CONFLICT')
      await expectRefusal(tx.update('flag', newId(), { name: 'x' }), 'NOT_FOUND')
      await tx.insert('flag', second)
    })
    expect(await storage.find('flag', first.id)).toEqual(first)
    expect(await storage.find('flag', second.id)).toEqual(second)
  })

  it('Using a session after its transaction has ended fails with INTERNAL', async () => {
    const storage = await open()
    const flag = sample('flag')
    const sessions: StorageSession[] = []
    await storage.transaction(LOCK, async (tx) => {
      sessions.push(tx)
    })
    for (const tx of sessions) {
      await expectRefusal(tx.insert('flag', flag), 'INTERNAL')
      await expectRefusal(tx.find('flag', flag.id), 'INTERNAL')
    }
    expect(await storage.find('flag', flag.id)).toBeUndefined()
  })
}

function describeIsolation(open: OpenStorage): void {
  it('A transaction sees its own changes', async () => {
    const storage = await open()
    const flag = sample('flag')
    const definition = flagDefinition()
    const environmentId = newId()
    await storage.transaction(LOCK, async (tx) => {
      await tx.insert('flag', flag)
      await tx.update('flag', flag.id, { name: 'Mine' })
      expect((await tx.find('flag', flag.id))?.name).toBe('Mine')
      expect((await tx.list('flag', { search: 'mine' })).total).toBe(1)
      expect(await tx.publish(environmentId, [flagChange(definition)], METADATA)).toBe(1)
      expect(await tx.publish(environmentId, [flagChange(definition)], METADATA)).toBe(1)
      expect((await tx.loadFlagSet(environmentId))?.flags).toEqual([definition])
      expect((await tx.loadChanges(environmentId, 0)).flags).toHaveLength(1)
      await tx.update('flag', flag.id, { deletedAt: '2026-04-01T00:00:00.000Z' })
      expect(await tx.find('flag', flag.id)).toBeUndefined()
    })
  })

  it('Other callers do not see a change before its transaction has ended', async () => {
    const storage = await open()
    const flag = sample('flag')
    const environmentId = newId()
    const seen = []
    let signalChanged = () => {}
    const changed = new Promise<void>((resolve) => {
      signalChanged = resolve
    })
    const transaction = storage.transaction(LOCK, async (tx) => {
      await tx.insert('flag', flag)
      await tx.publish(environmentId, [flagChange(flagDefinition())], METADATA)
      signalChanged()
      await pause()
      throw new Error('rolled back')
    })
    const rolledBack = expect(transaction).rejects.toThrow('rolled back')
    await changed
    seen.push(await storage.find('flag', flag.id))
    seen.push((await storage.list('flag', {})).total)
    seen.push(await storage.loadFlagSet(environmentId))
    seen.push((await storage.loadChanges(environmentId, 0)).version)
    await rolledBack
    expect(seen).toEqual([undefined, 0, undefined, 0])
  })

  it('A write outside an open transaction is saved even if the transaction is rolled back', async () => {
    const storage = await open()
    const [inside, outside] = [sample('flag'), sample('flag')]
    const transaction = storage.transaction(LOCK, async (tx) => {
      await tx.insert('flag', inside)
      await pause()
      throw new Error('rolled back')
    })
    const write = storage.insert('flag', outside)
    await expect(transaction).rejects.toThrow('rolled back')
    await write
    expect((await storage.list('flag', {})).data).toEqual([outside])
  })
}

function describeLocks(open: OpenStorage): void {
  it('Transactions with the same lock run one after another', async () => {
    const storage = await open()
    const trace: string[] = []
    const run = (name: string) =>
      storage.transaction(LOCK, async (tx) => {
        trace.push(`${name} begins`)
        await tx.insert('flag', sample('flag'))
        await pause()
        trace.push(`${name} ends`)
      })
    await Promise.all([run('a'), run('b'), run('c')])
    for (let index = 0; index < trace.length; index += 2) {
      expect(trace[index + 1]).toBe(trace[index]?.replace('begins', 'ends'))
    }
    expect(trace).toHaveLength(6)
  })

  it('Concurrent transactions that increment a number lose no increment', async () => {
    const storage = await open()
    const organization = sample('organization', { flagCount: 0 })
    await storage.insert('organization', organization)
    const countUp = () =>
      storage.transaction(organization.id, async (tx) => {
        const found = await tx.find('organization', organization.id)
        const flagCount = (found?.flagCount ?? 0) + 1
        await tx.update('organization', organization.id, { flagCount })
      })
    await Promise.all(Array.from({ length: 30 }, countUp))
    expect((await storage.find('organization', organization.id))?.flagCount).toBe(30)
  })

  it('An audit chain has no gaps or forks after concurrent transactions with the same lock', async () => {
    const storage = await open()
    const chain = newId()
    const append = () =>
      storage.transaction(chain, async (tx) => {
        const head = await tx.find('auditHead', chain)
        const sequence = (head?.sequence ?? 0) + 1
        const next = { sequence, hash: `hash ${sequence}` }
        const id = `${chain}:${String(sequence).padStart(3, '0')}`
        await tx.insert('auditEvent', sample('auditEvent', { id, ...next }))
        if (head === undefined)
          await tx.insert('auditHead', sample('auditHead', { id: chain, ...next }))
        else await tx.update('auditHead', chain, next)
      })
    await Promise.all(Array.from({ length: 20 }, append))
    const { data } = await storage.list('auditEvent', {})
    expect(data.map(({ sequence }) => sequence)).toEqual(Array.from(data, (_, index) => index + 1))
    expect(data).toHaveLength(20)
    const head = { sequence: 20, hash: 'hash 20' }
    expect(await storage.find('auditHead', chain)).toMatchObject(head)
  })

  it('Concurrent transactions with different locks save all their changes', async () => {
    const storage = await open()
    const flags = Array.from({ length: 12 }, () => sample('flag'))
    await Promise.all(
      flags.map((flag, index) =>
        storage.transaction(`lock ${index % 4}`, async (tx) => {
          await tx.insert('flag', flag)
          await tx.update('flag', flag.id, { revision: 2 })
        }),
      ),
    )
    const { data } = await storage.list('flag', { where: { revision: 2 } })
    expect(data).toHaveLength(12)
  })

  it('Concurrent calls within one transaction all succeed', async () => {
    const storage = await open()
    const environmentId = newId()
    const versions = await storage.transaction(LOCK, (tx) =>
      Promise.all(
        Array.from({ length: 5 }, async (_, index) => {
          await tx.insert('flag', sample('flag'))
          return tx.publish(
            environmentId,
            [flagChange(flagDefinition({ key: `flag-${index}` }))],
            METADATA,
          )
        }),
      ),
    )
    expect(versions.sort()).toEqual([1, 2, 3, 4, 5])
    expect((await storage.loadFlagSet(environmentId))?.flags).toHaveLength(5)
  })
}

/** Waits long enough for other operations to run if nothing prevents them. */
async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20))
}
