import { describe, expect, it } from 'vitest'
import golden from '../../test/golden/sdk-events.json' with { type: 'json' }
import {
  asEventsRequest,
  eventsText,
  findEventsFault,
  MAX_EVENT_COUNT,
  MAX_EVENTS,
} from './events.ts'

const event = { flag_key: 'a', reason: 'STATIC', count: 1, from: '2030-01-01T00:00:00Z' }

describe('asEventsRequest', () => {
  it('asEventsRequest decodes the golden request', () => {
    expect(asEventsRequest(golden.request)).toEqual({
      id: '5f0c1d3e-8a52-4b8e-9d0a-6c1f2e7b4a90',
      events: [
        {
          flagKey: 'new-checkout',
          variationKey: 'true',
          reason: 'TARGETING_MATCH',
          count: 12,
          micros: 480,
          from: '2030-01-01T00:00:00.000Z',
          contextKeys: ['user-1', 'user-2'],
        },
        {
          flagKey: 'theme',
          variationKey: null,
          reason: 'ERROR',
          count: 1,
          micros: 0,
          from: '2030-01-01T00:00:00.000Z',
          contextKeys: [],
        },
      ],
    })
  })

  it('asEventsRequest decodes the text that eventsText returns', () => {
    const from = '2030-01-01T00:00:00.000Z'
    const sent = { flagKey: 'a', variationKey: null, reason: 'ERROR', count: 2, from } as const
    const received = { ...sent, micros: 0, contextKeys: [] }
    expect(asEventsRequest(JSON.parse(eventsText([sent])))).toEqual({ events: [received] })
    const named = JSON.parse(eventsText([sent], 'report-1'))
    expect(asEventsRequest(named)).toEqual({ id: 'report-1', events: [received] })
  })

  it('asEventsRequest accepts an id of 1 to 64 characters, and a request without an id', () => {
    expect(asEventsRequest({ events: [] })?.id).toBeUndefined()
    for (const id of ['x', 'x'.repeat(64)]) {
      expect(asEventsRequest({ id, events: [event] })?.id).toBe(id)
    }
  })

  it.each([null, '', 'x'.repeat(65), 1, {}, ['x']])(
    'findEventsFault returns `id` for the invalid id %j',
    (id) => {
      expect(findEventsFault({ id, events: [event] })).toBe('id')
      expect(asEventsRequest({ id, events: [event] })).toBeUndefined()
    },
  )

  it('asEventsRequest omits unknown fields and converts times to UTC', () => {
    const later = { events: [{ ...event, from: '2030-01-01T01:00:00+01:00', later: 1 }], later: 1 }
    expect(asEventsRequest(later)).toEqual(asEventsRequest({ events: [event] }))
    expect(asEventsRequest({ events: [] })).toEqual({ events: [] })
  })

  it('asEventsRequest accepts at most MAX_EVENTS events in a request', () => {
    const most = { ...event, count: MAX_EVENT_COUNT }
    expect(asEventsRequest({ events: Array(MAX_EVENTS).fill(most) })?.events).toHaveLength(1000)
    expect(findEventsFault({ events: Array(MAX_EVENTS + 1).fill(event) })).toBe('events')
  })

  it.each([undefined, null, 'text', 1, [], {}, { events: null }, { events: {} }])(
    'asEventsRequest refuses the body %j',
    (body) => {
      expect(asEventsRequest(body)).toBeUndefined()
      expect(findEventsFault(body)).toBe('events')
    },
  )

  it.each([
    ['flag_key', undefined],
    ['flag_key', ''],
    ['flag_key', 1],
    ['flag_key', 'x'.repeat(1025)],
    ['variation_key', 1],
    ['variation_key', ''],
    ['reason', 'static'],
    ['reason', 'toString'],
    ['count', 0],
    ['count', -1],
    ['count', 1.5],
    ['count', '1'],
    ['count', MAX_EVENT_COUNT + 1],
    ['micros', -1],
    ['micros', 1e15],
    ['micros', null],
    ['from', 'yesterday'],
    ['from', '2030-01-01'],
    ['from', '2030-13-01T00:00:00Z'],
    ['from', 1_900_000_000_000],
    ['context_keys', 'user-1'],
    ['context_keys', [1]],
    ['context_keys', ['']],
  ])('findEventsFault returns the path of an invalid %s: %j', (field, value) => {
    const wrong = { ...event, [field]: value }
    expect(findEventsFault({ events: [event, wrong] })).toBe(`events.1.${field}`)
    expect(asEventsRequest({ events: [event, wrong] })).toBeUndefined()
  })

  it('findEventsFault returns the path of an invalid event', () => {
    expect(findEventsFault({ events: [event, null] })).toBe('events.1')
    expect(findEventsFault({ events: [Object.create(event)] })).toBe('events.0.flag_key')
  })
})
