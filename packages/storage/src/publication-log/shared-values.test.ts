import { expect, it } from 'vitest'
import { SharedValues } from './shared-values.ts'

const condition = (value: string) => ({ attribute: 'plan', operator: 'eq', value })
const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

it('Sharing changes no value, whatever the names, the order and the lengths of its parts', () => {
  const long = 'x'.repeat(100)
  const text = JSON.stringify([
    { id: 'a', list: ['a', 'b', 1, null, true, { id: 'b' }], '': 'a' },
    { id: 'a', nested: { deep: ['a', long, long] }, length: 'b' },
    [condition('a'), condition('a'), condition(long), { ...condition('a'), negate: true }],
    [{ operator: 'eq', attribute: 'plan', value: 'a' }, { ...condition('a'), value: 1 }, [null]],
  ]).replace('"nested"', '"__proto__":"a","nested"')
  const shared = new SharedValues()
  for (let time = 0; time < 2; time += 1) {
    expect(JSON.stringify(shared.share(JSON.parse(text)))).toBe(text)
  }
  for (const value of [null, 'a', 1, true, [], {}]) expect(shared.share(value)).toBe(value)
})

it('Equal conditions of several values are one object', () => {
  const shared = new SharedValues()
  const [first] = shared.share([condition('pro')]) as unknown[]
  const [again, other] = shared.share([condition('pro'), condition('free')]) as unknown[]
  expect(again).toBe(first)
  expect(other).not.toBe(first)
  const long = [condition('x'.repeat(65))]
  expect(shared.share(copyOf(long))).not.toBe(shared.share(copyOf(long)))
})

it('Values that were seen long ago are not remembered', () => {
  const shared = new SharedValues()
  const [first] = shared.share([condition('first')]) as unknown[]
  shared.share(Array.from({ length: 20_001 }, (_, index) => condition(`${index}`)))
  const [again] = shared.share([condition('first')]) as unknown[]
  expect(again).toEqual(first)
  expect(again).not.toBe(first)
})
