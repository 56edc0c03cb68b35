import { describe, expect, it } from 'vitest'
import whole from '../../test/golden/sdk-flag-set.json' with { type: 'json' }
import golden from '../../test/golden/sdk-flag-set-poll.json' with { type: 'json' }
import {
  asFlagSetMessage,
  asFlagSetPollRequest,
  asFlagSetUpdate,
  isFlagSetDiff,
} from './flag-set.ts'

const { response } = whole
const { response: diff } = golden
const [segment] = diff.segments

describe('asFlagSetUpdate', () => {
  it('asFlagSetUpdate accepts the golden flag set and the golden changes', () => {
    expect(asFlagSetUpdate(response)).toEqual(response)
    expect(asFlagSetUpdate(diff)).toEqual(diff)
    expect([response, diff].map((update) => isFlagSetDiff(update as never))).toEqual([false, true])
  })

  it.each([
    null,
    [],
    {},
    { ...response, root: undefined },
    { ...response, version: '7' },
    { ...response, flags: {} },
    { ...response, segments: undefined },
    { ...diff, from: null },
    { ...diff, from: -1 },
    { ...diff, to: undefined },
    { ...diff, flags: [null] },
    { ...diff, flags: [{ definition: null }] },
    { ...diff, flags: [{ id: 'a' }] },
    { ...diff, flags: [{ id: 'a', definition: 'b' }] },
    { ...diff, segments: [{ ...segment, included: undefined }] },
    { ...diff, segments: [{ ...segment, included: { added: [] } }] },
    { ...diff, segments: [{ ...segment, excluded: { added: [1], removed: [] } }] },
  ])('asFlagSetUpdate refuses update %#', (update) => {
    expect(asFlagSetUpdate(update)).toBeUndefined()
  })
})

describe('asFlagSetPollRequest', () => {
  it('asFlagSetPollRequest accepts a version or none', () => {
    expect(asFlagSetPollRequest(golden.request)).toEqual(golden.request)
    expect(asFlagSetPollRequest({})).toEqual({})
    expect(asFlagSetPollRequest({ since: null })).toEqual({})
  })

  it.each([null, [], 'text', { since: '7' }, { since: -1 }, { since: 1.5 }])(
    'asFlagSetPollRequest refuses the body %j',
    (body) => {
      expect(asFlagSetPollRequest(body)).toBeUndefined()
    },
  )
})

describe('asFlagSetMessage', () => {
  it.each(golden.messages)('asFlagSetMessage accepts the golden message %#', (message) => {
    expect(asFlagSetMessage(message)).toEqual(message)
  })

  it.each([
    null,
    {},
    { type: 'flags', version: 1 },
    { type: 'flagSet' },
    { type: 'flagSet', version: -1 },
    { type: 'flagSet', version: 7, update: response },
    { type: 'flagSet', version: 7, update: null },
  ])('asFlagSetMessage refuses message %#', (message) => {
    expect(asFlagSetMessage(message)).toBeUndefined()
  })
})
