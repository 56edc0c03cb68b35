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
  throw new Error('The value is valid.')
}

describe('the messages for invalid requests', () => {
  const key = endpoints.createSdkKey.body
  const cases: [string, z.ZodType, unknown, string][] = [
    ['a missing text', key, { kind: 'client' }, 'name: is required'],
    ['a missing choice', key, { name: 'x' }, 'kind: is required'],
    ['a missing id', endpoints.getFlagMetrics.query, {}, 'environmentId: is required'],
    ['a missing object', endpoints.explainEvaluation.body, {}, 'context: is required'],
    ['a missing body', key, undefined, 'is required'],
    ['a list for a body', key, [], 'must be an object'],
    ['a number for a text', key, { name: 5, kind: 'client' }, 'name: must be a string'],
    ['null for a text', key, { name: null, kind: 'client' }, 'name: must be a string'],
    ['an unknown choice', key, { name: 'x', kind: 'y' }, 'kind: must be one of "client", "server"'],
    ['a value other than the only choice', z.literal('24h'), '7d', 'must be "24h"'],
    ['an empty text', key, { name: ' ', kind: 'client' }, 'name: must not be empty'],
    [
      'a text that is too long',
      key,
      { name: 'x'.repeat(257), kind: 'client' },
      'name: must have at most 256 characters',
    ],
    ['an empty list', z.array(z.string()).min(1), [], 'must not be empty'],
    [
      'a list that is too long',
      z.array(z.string()).max(2),
      ['', '', ''],
      'must have at most 2 entries',
    ],
    ['a fraction for a whole number', z.int(), 0.5, 'must be an integer'],
    ['a number below the minimum', z.int().min(1), 0, 'must be at least 1'],
    ['a number above the maximum', z.number().max(100), 101, 'must be at most 100'],
    ['a number at an exclusive bound', z.number().gt(0), 0, 'must be more than 0'],
    ['text for a boolean', z.boolean(), 'yes', 'must be true or false'],
    [
      'a date for a timestamp',
      key,
      { name: 'x', kind: 'client', expires_at: '2030-01-01' },
      'expires_at: must be a time with date and zone, such as 2030-01-31T12:00:00Z',
    ],
    [
      'a value with a message of its schema',
      endpoints.getFlagMetrics.query,
      { environmentId: 'x' },
      'environmentId: must be a UUID',
    ],
  ]

  it.each(cases)('The message for %s says what is expected', (_what, codec, wire, message) => {
    expect(faultOf(codec, wire)).toBe(message)
  })
})
