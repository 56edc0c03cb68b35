import type { ChangeFeed } from '@ff/storage'
import { redis } from '@ff/storage/redis'
import { describe, expect, inject, it } from 'vitest'
import { report, sized } from '../../../../server/test/drills/scale.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { newRedisOptions } from '../../../../storage/test/redis-store.ts'
import { createShop, evaluateCounter, openSocket, startInstances } from '../postgres/instances.ts'
import { pause } from '../server-process.ts'

const CHANGES = sized({ full: 500, small: 30 })
const CLIENTS = sized({ full: 20, small: 3 })
const MAX_DELAY_MS = 300

/** Wraps a feed: each message arrives late or not at all, many arrive twice, and most out of order. */
function disordered(feed: ChangeFeed, delivered: { count: number }): ChangeFeed {
  return {
    publish: (change) => feed.publish(change),
    subscribe: (listener) =>
      feed.subscribe((change) => {
        for (let copies = Math.floor(Math.random() * 3); copies > 0; copies -= 1) {
          delivered.count += 1
          setTimeout(() => listener(change), Math.random() * MAX_DELAY_MS)
        }
      }),
  }
}

describe.skipIf(inject('redisUrl') === '')('messages of Redis that arrive in disorder', () => {
  it('The version of no client goes back if messages are delayed, repeated, lost and reordered', {
    timeout: 300_000,
  }, async () => {
    const { url } = await newPostgresSchema()
    const [options, delivered] = [newRedisOptions(), { count: 0 }]
    const instances = await startInstances(3, { url, listenUrl: false }, () => {
      const ports = redis(options)
      return { ...ports, changeFeed: disordered(ports.changeFeed, delivered) }
    })
    const [here] = instances
    if (here === undefined) throw new Error('There is no instance.')
    const shop = await createShop(here.management)
    const seen: (readonly number[])[] = []
    for (const instance of instances) {
      for (let n = 0; n < CLIENTS; n += 1) {
        seen.push((await openSocket(instance.url, shop.sdkKey)).received)
      }
    }
    let hasEnded = false
    const readers = instances.map(async (instance) => {
      const numbers: number[] = []
      seen.push(numbers)
      for (; !hasEnded; await pause(10)) {
        numbers.push((await evaluateCounter(instance.url, shop.sdkKey)).number ?? Number.NaN)
      }
    })
    for (let number = 1; number <= CHANGES; number += 1) {
      // Changes through all instances, faster than messages arrive.
      const instance = instances[number % instances.length] ?? here
      await shop.set(instance.management, number)
      await pause(Math.random() * 40)
    }
    await expect.poll(() => seen.map((numbers) => numbers.at(-1))).toEqual(seen.map(() => CHANGES))
    hasEnded = true
    await Promise.all(readers)
    for (const numbers of seen) expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    report(
      `${CHANGES} changes at 3 instances, ${delivered.count} messages delivered in disorder: ` +
        `${seen.length} clients received ${seen.flat().length} values, none after a later one`,
    )
  })
})
