import { describe, expect, it } from 'vitest'
import golden from '../../test/golden/sdk-poll.json' with { type: 'json' }
import { asPollRequest } from './poll.ts'

describe('asPollRequest', () => {
  it('reads the golden request', () => {
    expect(asPollRequest(golden.request)).toEqual(golden.request)
  })

  it('takes an absent or null since as none', () => {
    expect(asPollRequest({ context: {} })).toEqual({ context: {} })
    expect(asPollRequest({ context: {}, since: null })).toEqual({ context: {} })
  })

  it.each([1, true, {}, []])('takes the since %j as an unknown one', (since) => {
    expect(asPollRequest({ context: {}, since })).toEqual({ context: {}, since: '' })
  })

  it('refuses a body without a context', () => {
    expect(asPollRequest({ since: '"1.0-a-b"' })).toBeUndefined()
    expect(asPollRequest(null)).toBeUndefined()
  })
})
