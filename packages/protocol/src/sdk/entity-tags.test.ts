import { describe, expect, it } from 'vitest'
import { isTagNamedIn } from './entity-tags.ts'

describe('isTagNamedIn', () => {
  it.each([
    '"a1"',
    'W/"a1"',
    '"b2", "a1"',
    '"b2" , W/"a1" ',
    '*',
    '"a1-gzip"',
    'W/"a1-gzip"',
    '"a1;br"',
    '"a1--gzip"',
    '"a1:dtagent10"',
    '"a1-zstd-gzip"',
  ])('The header %s contains the tag "a1", strong or weak', (header) => {
    expect(isTagNamedIn(header, '"a1"')).toBe(true)
    expect(isTagNamedIn(header, 'W/"a1"')).toBe(true)
  })

  it.each([
    '',
    'a1',
    '"a"',
    '"a12"',
    '"a1',
    '"a1-gzip',
    '"a1-gzip"x',
    '"xa1"',
    'w/"a1"',
    '"b2"',
    `"a1${'x'.repeat(10_240)}"`,
    `"a1-${'"'.repeat(10_240)}`,
  ])('The header %.20s does not contain the tag "a1"', (header) => {
    expect(isTagNamedIn(header, '"a1"')).toBe(false)
  })

  it('A missing header contains no tag', () => {
    expect(isTagNamedIn(undefined, '"a1"')).toBe(false)
    expect(isTagNamedIn(null, '"a1"')).toBe(false)
  })
})
