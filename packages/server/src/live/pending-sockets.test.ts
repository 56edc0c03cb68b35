import { expect, it } from 'vitest'
import { settle } from '../../test/fake-clock.ts'
import { PendingSockets } from './pending-sockets.ts'

/** Creates pending sockets that record the order in which they are displaced. */
function createScene(perAddress: number, total: number) {
  const pending = new PendingSockets({ perAddress, total })
  const displaced: string[] = []
  const open = (name: string, address: string | undefined) => {
    const socket = { refuse: () => void displaced.push(name) }
    pending.add(socket, address)
    return socket
  }
  return { pending, displaced, open }
}

it('The oldest sockets of an address are displaced, in order, after arrived data was read', async () => {
  const { pending, displaced, open } = createScene(2, 100)
  for (const name of ['a1', 'a2', 'a3', 'a4']) open(name, 'a')
  expect(displaced).toEqual([])
  await settle()
  expect(displaced).toEqual(['a1', 'a2'])
  expect([pending.size, pending.displaced]).toEqual([2, 2])
  open('a5', 'a')
  await settle()
  expect(displaced).toEqual(['a1', 'a2', 'a3'])
})

it('No socket is displaced if enough sockets of the same address are closed before the turn ends', async () => {
  const { pending, displaced, open } = createScene(2, 100)
  const sockets = ['a1', 'a2', 'a3'].map((name) => open(name, 'a'))
  for (const socket of sockets.slice(2)) pending.remove(socket)
  await settle()
  expect(displaced).toEqual([])
})

it('Beyond the total limit, the oldest socket of the address with the most sockets is displaced immediately', () => {
  const { pending, displaced, open } = createScene(100, 6)
  for (const name of ['a1', 'a2']) open(name, 'a')
  for (const name of ['b1', 'b2', 'b3']) open(name, 'b')
  open('u1', undefined)
  expect(displaced).toEqual([])
  open('c1', 'c')
  expect(displaced).toEqual(['b1'])
  open('a3', 'a')
  expect(displaced).toEqual(['b1', 'a1'])
  expect(pending.size).toBe(6)
})

it('The number of pending sockets never exceeds the total limit, for any number of addresses', () => {
  const { pending, displaced, open } = createScene(2, 50)
  for (let number = 0; number < 1000; number += 1) {
    open(`s${number}`, `address-${number}`)
    expect(pending.size).toBeLessThanOrEqual(50)
  }
  expect(displaced).toHaveLength(950)
})

it('The address with the most sockets is found after any sequence of additions and removals', () => {
  const { pending, displaced, open } = createScene(1000, 40)
  const held = new Map<string, { name: string; socket: ReturnType<typeof open> }[]>()
  let seed = 1
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let step = 0; step < 5000; step += 1) {
    const address = `address-${random(9)}`
    const sockets = held.get(address) ?? []
    held.set(address, sockets)
    if (random(3) === 0) {
      const [left] = sockets.splice(random(sockets.length + 1), 1)
      if (left !== undefined) pending.remove(left.socket)
      continue
    }
    const name = `s${step}`
    sockets.push({ name, socket: open(name, address) })
    const gone = displaced.splice(0)
    const most = Math.max(...[...held.values()].map(({ length }) => length))
    for (const oldest of gone) {
      const loser = [...held.values()].find((all) => all[0]?.name === oldest)
      expect(loser).toHaveLength(most)
      loser?.shift()
    }
    expect(pending.size).toBe([...held.values()].reduce((sum, all) => sum + all.length, 0))
    expect(pending.size).toBeLessThanOrEqual(40)
  }
})

it('Removing a socket that is not pending has no effect', () => {
  const { pending, open } = createScene(2, 10)
  open('u1', undefined)
  pending.remove({ refuse: () => undefined })
  expect(pending.size).toBe(1)
})
