import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { type Duplex, PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { settle } from '../../test/fake-clock.ts'
import { UpgradeQueue } from './upgrade-queue.ts'

const upgradeOver = (socket: Duplex) => ({
  request: new IncomingMessage(new Socket()),
  socket,
  head: Buffer.alloc(0),
})

it('An upgrade queue handles upgrades in order of arrival, over several turns of the event loop', async () => {
  const handled: Duplex[] = []
  const queue = new UpgradeQueue(({ socket }) => handled.push(socket))
  const sockets = Array.from({ length: 200 }, () => new PassThrough())
  for (const socket of sockets) queue.add(upgradeOver(socket))
  expect([handled.length, queue.size]).toEqual([0, 200])
  await new Promise((resolve) => setImmediate(resolve))
  expect(handled.length).toBeGreaterThan(0)
  expect(handled.length).toBeLessThan(200)
  await settle()
  expect(handled).toEqual(sockets)
  expect(queue.size).toBe(0)
  for (const socket of sockets) expect(socket.listenerCount('error')).toBe(0)
})

it('An upgrade queue survives the error of a socket with a queued upgrade', async () => {
  const handled: Duplex[] = []
  const queue = new UpgradeQueue(({ socket }) => handled.push(socket))
  const socket = new PassThrough()
  queue.add(upgradeOver(socket))
  socket.emit('error', new Error('the connection was reset'))
  await settle()
  expect(handled).toEqual([socket])
})
