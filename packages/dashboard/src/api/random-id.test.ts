import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { randomId } from './random-id.ts'

describe('randomId', () => {
  it('A random id is a UUID of version 4, and no two are equal.', () => {
    const ids = Array.from({ length: 1000 }, randomId)
    for (const id of ids) expect(z.uuidv4().safeParse(id).success, id).toBe(true)
    expect(new Set(ids).size).toBe(1000)
  })
})
