import { bench, describe } from 'vitest'
import { unknownOperator } from '../src/authoring/operator-suggestion.ts'
import { PublishedDefinitions } from '../src/authoring/published-definitions.ts'
import type { FlagDefinition } from '../src/index.ts'
import { runToEnd } from '../src/model/incremental.ts'
import { jsonExcerpt } from '../src/model/quote.ts'
import { flagDefinition } from '../test/definitions.ts'

const CYCLE_LENGTH = 5_000

const idOf = (at: number) => `flag-${at % CYCLE_LENGTH}`
const flagAt = (at: number, others: readonly string[]): FlagDefinition => {
  const prerequisites = others.map((flagId) => ({ flagId, variationIds: ['on'] }))
  return flagDefinition(`${idOf(at)}-${'x'.repeat(100)}`, { id: idOf(at), prerequisites })
}

const closing = { kind: 'flag', id: idOf(0), definition: flagAt(0, [idOf(1)]) } as const
const published = new PublishedDefinitions(
  {
    version: 1,
    flags: Array.from({ length: CYCLE_LENGTH }, (_, at) =>
      flagAt(at, at === 0 ? [] : [idOf(at + 1)]),
    ),
    segments: [],
  },
  { extensions: {}, maxConditionValueBytes: 1 },
)
const huge = new Array(4_000_000_000)
const longText = 'x'.repeat(10_000_000)

describe('Messages about large values', () => {
  bench('an excerpt of a huge array', () => {
    jsonExcerpt(huge)
  })
  bench('an excerpt of a text with 10,000,000 characters', () => {
    jsonExcerpt(longText)
  })
  bench('an unknown operator with 1,000,000 characters', () => {
    unknownOperator(longText.slice(0, 1_000_000))
  })
  bench('an unknown operator with the longest name that is compared', () => {
    unknownOperator('semvergreaterthanoreqxyz')
  })
  bench('a change that closes a cycle of 5,000 flags', () => {
    runToEnd(published.checkChange([closing]))
  })
})
