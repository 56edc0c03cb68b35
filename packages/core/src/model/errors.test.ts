import { describe, expect, it } from 'vitest'
import { FlagError, isFlagError } from './errors.ts'

describe('FlagError', () => {
  it('A FlagError has a name, a code, details and, only if there is one, a cause', () => {
    const cause = new TypeError('why')
    const error = new FlagError('CONFLICT', 'taken', { cause, details: { id: 'a' } })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'FlagError',
      code: 'CONFLICT',
      details: { id: 'a' },
      cause,
    })
    const plain = new FlagError('INTERNAL', 'broken')
    expect(plain.details).toBeNull()
    expect('cause' in plain).toBe(false)
  })
})

describe('isFlagError', () => {
  it('isFlagError recognizes errors of this and of another copy of the package by their brand', () => {
    expect(isFlagError(new FlagError('INTERNAL', 'x'))).toBe(true)
    expect(isFlagError({ [Symbol.for('@ff/core/FlagError')]: true })).toBe(true)
    const brand = Object.getOwnPropertyDescriptor(
      new FlagError('INTERNAL', 'x'),
      Symbol.for('@ff/core/FlagError'),
    )
    expect(brand?.value).toBe(true)
  })

  it.each([[new Error('x')], [{}], [null], [undefined], ['FlagError'], [7], [() => 1]])(
    'isFlagError returns false for %o',
    (thrown) => {
      expect(isFlagError(thrown)).toBe(false)
    },
  )
})
