import type { ProjectEvent } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import { EventQueue } from './event-queue.ts'

const eventOf = (n: number): ProjectEvent => ({ event: 'reload', id: `p:${n}`, data: {} })

describe('EventQueue', () => {
  it('Events are received in order, whether the reader or the event comes first', async () => {
    const queue = new EventQueue(() => undefined)
    const first = queue.next()
    queue.push([eventOf(1), eventOf(2), eventOf(3)])
    const received = [await first, await queue.next(), await queue.next()]
    expect(received.map(({ value }) => value.id)).toEqual(['p:1', 'p:2', 'p:3'])
  })

  it('The queue of a reader with more than 2,000 unread events is ended', async () => {
    let ends = 0
    const queue = new EventQueue(() => {
      ends += 1
    })
    queue.push(Array.from({ length: 2000 }, (_, n) => eventOf(n)))
    expect(queue.hasEnded).toBe(false)
    queue.push([eventOf(2000)])
    queue.push([eventOf(2001)])
    queue.end()
    expect([queue.hasEnded, ends]).toEqual([true, 1])
    expect(await queue.next()).toEqual({ done: true, value: undefined })
  })

  it('A waiting reader is released when its queue ends', async () => {
    const queue = new EventQueue(() => undefined)
    const waiting = queue.next()
    await queue.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
  })
})
