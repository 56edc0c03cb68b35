import { describe, expect, it } from 'vitest'
import { FlagError, isFlagError } from './errors.ts'

describe('FlagError', () => {
  it('is an error with a name, a code, details and, only where there is one, a cause', () => {
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
  it('knows its own errors, and those of another copy of the package, by their brand', () => {
    expect(isFlagError(new FlagError('INTERNAL', 'x'))).toBe(true)
    expect(isFlagError({ [Symbol.for('@ff/core/FlagError')]: true })).toBe(true)
    const brand = Object.getOwnPropertyDescriptor(
      new FlagError('INTERNAL', 'x'),
      Symbol.for('@ff/core/FlagError'),
    )
    expect(brand?.value).toBe(true)
  })

  it.each([[new Error('x')], [{}], [null], [undefined], ['FlagError'], [7], [() => 1]])(
    'takes %o for none',
    (thrown) => {
      expect(isFlagError(thrown)).toBe(false)
    },
  )
})
