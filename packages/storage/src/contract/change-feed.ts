import { afterEach, describe, expect, it } from 'vitest'
import type { ChangeFeed, FlagSetChange, Resync } from '../ports/change-feed.ts'
import { newId } from './samples/sample-fields.ts'

/** A change feed without listeners. */
export interface ChangeFeedUnderTest {
  readonly changeFeed: ChangeFeed
  /** Closes the change feed and releases its resources. */
  readonly close: () => Promise<void>
}

/** The time limit for changes. It is reached only if one never arrives. */
const ARRIVAL = { timeout: 60_000 }

/**
 * Defines the vitest tests that every change feed must pass. Each call of `create` returns a feed
 * without listeners.
 */
export function changeFeedContract(name: string, create: () => Promise<ChangeFeedUnderTest>): void {
  describe(`the change feed contract: ${name}`, () => {
    const opened: ChangeFeedUnderTest[] = []
    const open = async () => {
      const underTest = await create()
      opened.push(underTest)
      return underTest.changeFeed
    }

    afterEach(async () => {
      for (const { close } of opened.splice(0)) await close()
    })

    describeDelivery(open)
    describeUnsubscribing(open)
  })
}

function describeDelivery(open: () => Promise<ChangeFeed>): void {
  it('Every listener receives every change, including the listeners in the publishing process', async () => {
    const feed = await open()
    const [first, second] = [listener(), listener()]
    await feed.subscribe(first.listen)
    await feed.subscribe(second.listen)
    const project = { type: 'project', projectId: newId() } as const
    const changes: readonly FlagSetChange[] = [flagSetChange(7), { type: 'sdkKeys' }, project]
    for (const change of changes) await feed.publish(change)
    for (const { received } of [first, second]) {
      await expect.poll(() => received, ARRIVAL).toEqual(changes)
    }
  })

  it('A change that is published without listeners has no effect', async () => {
    const feed = await open()
    await feed.publish(flagSetChange(1))
    const late = listener()
    await feed.subscribe(late.listen)
    const change = flagSetChange(2)
    await feed.publish(change)
    await expect.poll(() => late.received, ARRIVAL).toContainEqual(change)
  })

  it('A listener that throws affects neither the publisher nor other listeners', async () => {
    const feed = await open()
    const working = listener()
    await feed.subscribe(() => {
      throw new Error('a broken listener')
    })
    await feed.subscribe(working.listen)
    const changes = [flagSetChange(1), flagSetChange(2)]
    for (const change of changes) await feed.publish(change)
    await expect.poll(() => working.received, ARRIVAL).toEqual(changes)
  })
}

function describeUnsubscribing(open: () => Promise<ChangeFeed>): void {
  it('A listener that has unsubscribed receives no further changes', async () => {
    const feed = await open()
    const [removed, remaining] = [listener(), listener()]
    const unsubscribe = await feed.subscribe(removed.listen)
    await feed.subscribe(remaining.listen)
    unsubscribe()
    unsubscribe()
    const change = flagSetChange(3)
    await feed.publish(change)
    await expect.poll(() => remaining.received, ARRIVAL).toEqual([change])
    expect(removed.received).toEqual([])
  })

  it('A listener that subscribes twice has two independent subscriptions', async () => {
    const feed = await open()
    const twice = listener()
    const unsubscribe = await feed.subscribe(twice.listen)
    await feed.subscribe(twice.listen)
    unsubscribe()
    const change = flagSetChange(4)
    await feed.publish(change)
    await expect.poll(() => twice.received, ARRIVAL).toEqual([change])
  })
}

function flagSetChange(version: number): FlagSetChange {
  return { type: 'flagSet', environmentId: newId(), version }
}

function listener() {
  const received: (FlagSetChange | Resync)[] = []
  return {
    received,
    listen: (change: FlagSetChange | Resync) => {
      received.push(change)
    },
  }
}
