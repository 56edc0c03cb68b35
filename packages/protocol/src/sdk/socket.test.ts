import { describe, expect, it } from 'vitest'
import golden from '../../test/golden/sdk-socket.json' with { type: 'json' }
import { asClientMessage, asServerMessage } from './socket.ts'

describe('asClientMessage', () => {
  it.each(golden.client)('asClientMessage accepts the golden message %j', (message) => {
    expect(asClientMessage(message)).toEqual(message)
  })

  it.each([
    null,
    'ping',
    [],
    {},
    { type: 'later' },
    { type: 'toString' },
    { type: 'init' },
    { type: 'init', sdkKey: 'ff_1' },
    { type: 'init', sdkKey: 1, context: {} },
    { type: 'init', sdkKey: 'ff_1', context: 'user' },
    { type: 'context' },
    { type: 'context', context: null },
    { type: 'init', sdkKey: 'ff_1', context: {}, since: '7' },
    { type: 'init', sdkKey: 'ff_1', context: {}, since: -1 },
    { type: 'init', sdkKey: 'ff_1', context: {}, id: 1.5 },
    { type: 'init', sdkKey: 'ff_1', flagSet: null },
    { type: 'init', sdkKey: 'ff_1', flagSet: 7 },
    { type: 'init', sdkKey: 'ff_1', flagSet: { since: 'all' } },
    { type: 'init', flagSet: {} },
    { type: 'context', context: {}, id: null },
    Object.create({ type: 'ping' }),
  ])('asClientMessage refuses the message %j', (message) => {
    expect(asClientMessage(message)).toBeUndefined()
  })
})

describe('asServerMessage', () => {
  it.each(golden.server)('asServerMessage accepts the golden message %j', (message) => {
    expect(asServerMessage(message)).toEqual(message)
  })

  it.each([
    undefined,
    7,
    {},
    { type: 'later' },
    { type: 'flags' },
    { type: 'flags', flags: [], version: 1, full: true },
    { type: 'flags', flags: {}, version: 1 },
    { type: 'flags', flags: {}, version: '1', full: true },
    { type: 'flags', flags: {}, version: -1, full: true },
    { type: 'flags', flags: {}, version: 1.5, full: true },
    { type: 'flags', flags: {}, version: 1, full: false, removed: 'a' },
    { type: 'flags', flags: {}, version: 1, full: false, removed: [1] },
    { type: 'flags', flags: {}, version: 1, full: true, id: -1 },
    { type: 'error', error: 'no status' },
    { type: 'error', statusCode: 400 },
    { type: 'error', error: 'busy', statusCode: 429, retryAfter: '2' },
    { type: 'error', error: 'busy', statusCode: 429, retryAfter: -1 },
  ])('asServerMessage refuses the message %j', (message) => {
    expect(asServerMessage(message)).toBeUndefined()
  })
})
