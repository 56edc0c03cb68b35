import { expect, it } from 'vitest'
import { LoadQueue } from './load-queue.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A queue of tasks that end when the test ends them. */
function openQueue(most: number) {
  const queue = new LoadQueue(most)
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const add = (organizationId: string, name: string) => {
    return queue.run(organizationId, async () => {
      begun.push(name)
      await new Promise<void>((resolve, reject) => {
        ends.set(name, (error) => (error === undefined ? resolve() : reject(error)))
      })
      return name
    })
  }
  const end = async (name: string, error?: Error) => {
    ends.get(name)?.(error)
    await turn()
  }
  return { queue, begun, add, end }
}

it('At most the given number of tasks run, and organizations take turns', async () => {
  const { begun, add, end } = openQueue(2)
  const results = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => add(name[0] ?? '', name))
  await turn()
  expect(begun).toEqual(['a1', 'a2'])
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2']) await end(name)
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
  expect(await Promise.all(results)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'])
})

it('A task that fails makes room for the next one', async () => {
  const { begun, add, end } = openQueue(1)
  const failing = add('a', 'a1')
  const next = add('a', 'a2')
  const refused = expect(failing).rejects.toThrow('broken')
  await turn()
  await end('a1', new Error('broken'))
  await refused
  expect(begun).toEqual(['a1', 'a2'])
  await end('a2')
  expect(await next).toBe('a2')
})

it('startAll starts the waiting tasks regardless of the limit, and later tasks wait for all of them', async () => {
  const { queue, begun, add, end } = openQueue(1)
  for (const name of ['a1', 'a2', 'b1']) void add(name[0] ?? '', name)
  queue.startAll()
  await turn()
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  void add('c', 'c1')
  await end('a1')
  await end('a2')
  expect(begun).toHaveLength(3)
  await end('b1')
  expect(begun).toHaveLength(4)
})
