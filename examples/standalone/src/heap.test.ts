import { expect, it } from 'vitest'
import { heapGrowth } from './heap.ts'

const GIBIBYTE = 1024 ** 3

it('The heap grows little if the memory for flag sets is limited, also with a small heap', () => {
  const maxFlagSetBytes = 128 * 1024 * 1024
  expect(heapGrowth({ heapLimit: 4 * GIBIBYTE, maxFlagSetBytes })).toBe(20)
  expect(heapGrowth({ heapLimit: GIBIBYTE / 4, maxFlagSetBytes })).toBe(20)
})

it('A small heap may double between collections, and V8 decides about a larger one', () => {
  expect(heapGrowth({ heapLimit: GIBIBYTE - 1 })).toBe(100)
  expect(heapGrowth({ heapLimit: GIBIBYTE })).toBeUndefined()
})
