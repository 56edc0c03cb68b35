import { describe, expect, it } from 'vitest'
import golden from '../../test/golden/sdk-poll.json' with { type: 'json' }
import { asPollRequest } from './poll.ts'

describe('asPollRequest', () => {
  it('asPollRequest accepts the golden request', () => {
    expect(asPollRequest(golden.request)).toEqual(golden.request)
  })

  it('asPollRequest omits `since` if it is absent or null', () => {
    expect(asPollRequest({ context: {} })).toEqual({ context: {} })
    expect(asPollRequest({ context: {}, since: null })).toEqual({ context: {} })
  })

  it.each([1, true, {}, []])(
    'asPollRequest replaces `since` %j with an unknown entity tag',
    (since) => {
      expect(asPollRequest({ context: {}, since })).toEqual({ context: {}, since: '' })
    },
  )

  it('asPollRequest refuses a body without a context', () => {
    expect(asPollRequest({ since: '"1.0-a-b"' })).toBeUndefined()
    expect(asPollRequest(null)).toBeUndefined()
  })
})
