import { afterEach, describe, expect, it } from 'vitest'
import type { ChangeFeed, FlagSetChange, Resync } from '../ports/change-feed.ts'
import { newId } from './samples/sample-fields.ts'

export interface ChangeFeedUnderTest {
  readonly changeFeed: ChangeFeed
  readonly close: () => Promise<void>
}

const SOON_MS = 2000

/** What every change feed must do. `create` returns a feed without listeners. */
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

    describeTelling(open)
    describeUnsubscribing(open)
  })
}

function describeTelling(open: () => Promise<ChangeFeed>): void {
  it('every listener receives every change, in this process too', async () => {
    const feed = await open()
    const [first, second] = [listener(), listener()]
    await feed.subscribe(first.listen)
    await feed.subscribe(second.listen)
    const changes: readonly FlagSetChange[] = [flagSetChange(7), { type: 'sdkKeys' }]
    for (const change of changes) await feed.publish(change)
    for (const { heard } of [first, second]) {
      await expect.poll(() => heard, { timeout: SOON_MS }).toEqual(changes)
    }
  })

  it('a change without a listener has no effect', async () => {
    const feed = await open()
    await feed.publish(flagSetChange(1))
    const late = listener()
    await feed.subscribe(late.listen)
    const change = flagSetChange(2)
    await feed.publish(change)
    await expect.poll(() => late.heard, { timeout: SOON_MS }).toContainEqual(change)
  })

  it('a listener that throws disturbs neither the publisher nor other listeners', async () => {
    const feed = await open()
    const calm = listener()
    await feed.subscribe(() => {
      throw new Error('a broken listener')
    })
    await feed.subscribe(calm.listen)
    const changes = [flagSetChange(1), flagSetChange(2)]
    for (const change of changes) await feed.publish(change)
    await expect.poll(() => calm.heard, { timeout: SOON_MS }).toEqual(changes)
  })
}

function describeUnsubscribing(open: () => Promise<ChangeFeed>): void {
  it('a listener that has unsubscribed receives no further changes', async () => {
    const feed = await open()
    const [gone, staying] = [listener(), listener()]
    const unsubscribe = await feed.subscribe(gone.listen)
    await feed.subscribe(staying.listen)
    unsubscribe()
    unsubscribe()
    const change = flagSetChange(3)
    await feed.publish(change)
    await expect.poll(() => staying.heard, { timeout: SOON_MS }).toEqual([change])
    expect(gone.heard).toEqual([])
  })

  it('subscribing one listener twice makes two subscriptions', async () => {
    const feed = await open()
    const twice = listener()
    const unsubscribe = await feed.subscribe(twice.listen)
    await feed.subscribe(twice.listen)
    unsubscribe()
    const change = flagSetChange(4)
    await feed.publish(change)
    await expect.poll(() => twice.heard, { timeout: SOON_MS }).toEqual([change])
  })
}

function flagSetChange(version: number): FlagSetChange {
  return { type: 'flagSet', environmentId: newId(), version }
}

function listener() {
  const heard: (FlagSetChange | Resync)[] = []
  return {
    heard,
    listen: (change: FlagSetChange | Resync) => {
      heard.push(change)
    },
  }
}
