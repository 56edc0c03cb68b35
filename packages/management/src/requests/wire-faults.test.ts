import { isFlagError } from '@ff/core'
import { endpoints } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { decodeWire } from './validation.ts'

function faultOf(codec: z.ZodType, wire: unknown): string {
  try {
    decodeWire(codec, wire)
  } catch (error) {
    if (isFlagError(error)) return error.message
  }
  throw new Error('nothing is wrong')
}

describe('what is wrong with a request is said in words', () => {
  const key = endpoints.createSdkKey.body
  const cases: [string, z.ZodType, unknown, string][] = [
    ['a missing text', key, { kind: 'client' }, 'name: is required'],
    ['a missing choice', key, { name: 'x' }, 'kind: is required'],
    ['a missing id', endpoints.getFlagMetrics.query, {}, 'environmentId: is required'],
    ['a missing object', endpoints.explainEvaluation.body, {}, 'context: is required'],
    ['a missing body', key, undefined, 'is required'],
    ['a list for a body', key, [], 'must be an object'],
    ['a number for a text', key, { name: 5, kind: 'client' }, 'name: must be text'],
    ['null for a text', key, { name: null, kind: 'client' }, 'name: must be text'],
    ['another choice', key, { name: 'x', kind: 'y' }, 'kind: must be one of "client", "server"'],
    ['the only choice', z.literal('24h'), '7d', 'must be "24h"'],
    ['an empty text', key, { name: ' ', kind: 'client' }, 'name: must not be empty'],
    [
      'a long text',
      key,
      { name: 'x'.repeat(257), kind: 'client' },
      'name: must have at most 256 characters',
    ],
    ['an empty list', z.array(z.string()).min(1), [], 'must not be empty'],
    ['a long list', z.array(z.string()).max(2), ['', '', ''], 'must have at most 2 entries'],
    ['a broken number', z.int(), 0.5, 'must be a whole number'],
    ['a low number', z.int().min(1), 0, 'must be at least 1'],
    ['a high number', z.number().max(100), 101, 'must be at most 100'],
    ['a number at an open end', z.number().gt(0), 0, 'must be more than 0'],
    ['text for a switch', z.boolean(), 'yes', 'must be true or false'],
    [
      'a day for an instant',
      key,
      { name: 'x', kind: 'client', expires_at: '2030-01-01' },
      'expires_at: must be a time with date and zone, such as 2030-01-31T12:00:00Z',
    ],
    [
      'a fault that the schema names itself',
      endpoints.getFlagMetrics.query,
      { environmentId: 'x' },
      'environmentId: must be a UUID',
    ],
  ]

  it.each(cases)('%s', (_what, codec, wire, message) => {
    expect(faultOf(codec, wire)).toBe(message)
  })
})
