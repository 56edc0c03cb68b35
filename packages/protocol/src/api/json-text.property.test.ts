import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { formatJson, lossOfJson } from './json-text.ts'

const tokensOf = (text: string) => text.match(/"(?:[^"\\]|\\.)*"|[^\s]/gs)?.join('')

it('Formatting equals JSON.stringify with an indentation, and can be repeated', () => {
  const run = (value: unknown) => {
    const expected = JSON.stringify(value, null, 2)
    expect(formatJson(JSON.stringify(value))).toBe(expected)
    expect(formatJson(expected)).toBe(expected)
    expect(tokensOf(formatJson(expected))).toBe(tokensOf(expected))
  }
  fc.assert(fc.property(fc.jsonValue(), run), { numRuns: runs(1000, 100) })
})

it('Nothing is lost of what JSON.stringify has written, apart from integers beyond 2^53', () => {
  const isSmall = (value: unknown): boolean =>
    typeof value === 'number'
      ? !Number.isInteger(value) || Number.isSafeInteger(value)
      : typeof value !== 'object' || value === null || Object.values(value).every(isSmall)
  const run = (value: unknown) => {
    expect(lossOfJson(JSON.stringify(value))).toBeUndefined()
  }
  fc.assert(fc.property(fc.jsonValue().filter(isSmall), run), { numRuns: runs(1000, 100) })
})
