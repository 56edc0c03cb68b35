import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../test/fake-clock.ts'
import { toSocketLike } from './to-socket-like.ts'

class StandardSocketDouble {
  bufferedAmount = 0
  readyState = 1
  readonly sent: string[] = []
  readonly closed: [code: number, reason: string][] = []
  send(text: string): void {
    this.sent.push(text)
  }
  close(code: number, reason: string): void {
    this.closed.push([code, reason])
  }
}

describe('toSocketLike', () => {
  it('A converted socket sends texts, and sends nothing after it was closed.', () => {
    const socket = new StandardSocketDouble()
    const like = toSocketLike(socket)
    like.send({ text: 'one' })
    like.close(1013, 'too slow', false)
    socket.readyState = 2
    like.send({ text: 'two' })
    expect(socket.sent).toEqual(['one'])
    expect(socket.closed).toEqual([[1013, 'too slow']])
  })

  it('A converted socket calls the task of whenDrained once, when all bytes were sent.', async () => {
    const clock = new FakeClock()
    const socket = new StandardSocketDouble()
    const like = toSocketLike(socket, clock)
    socket.bufferedAmount = 500
    let calls = 0
    like.whenDrained(() => {
      calls += 1
    })
    await clock.advance(1000)
    expect([calls, like.bufferedAmount]).toEqual([0, 500])
    socket.bufferedAmount = 0
    await clock.advance(1000)
    await clock.advance(1000)
    expect(calls).toBe(1)
  })

  it('A converted socket stops waiting for drained bytes when it was closed.', async () => {
    const clock = new FakeClock()
    const socket = new StandardSocketDouble()
    const like = toSocketLike(socket, clock)
    socket.bufferedAmount = 500
    like.whenDrained(() => expect.unreachable())
    await clock.advance(150)
    socket.readyState = 3
    await clock.advance(1000)
    socket.readyState = 1
    socket.bufferedAmount = 0
    await clock.advance(1000)
  })
})
