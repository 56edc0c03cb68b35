import { describe, expect, it } from 'vitest'
import { compareSemver, parseSemver, semverKey } from './semver.ts'

function compare(a: string, b: string): number {
  const left = parseSemver(a)
  const right = parseSemver(b)
  if (left === undefined || right === undefined) throw new Error(`${a} or ${b} is unreadable`)
  expect(semverKey(left) === semverKey(right)).toBe(compareSemver(left, right) === 0)
  return Math.sign(compareSemver(left, right))
}

describe('parseSemver and compareSemver', () => {
  it('compareSemver sorts the examples of semver.org', () => {
    const ascending = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '2.0.0',
      '2.1.0',
      '2.1.1',
    ]
    for (const [index, a] of ascending.entries()) {
      for (const [other, b] of ascending.entries()) {
        expect(compare(a, b), `${a} and ${b}`).toBe(Math.sign(index - other))
      }
    }
  })

  it.each([
    ['1', '1.0.0'],
    ['1.2', '1.2.0'],
    ['v1.2.3', '1.2.3'],
    ['V1', '1'],
    ['1-beta', '1.0.0-beta'],
    ['1.0.0+build', '1.0.0'],
    ['1.0.0-rc.1+build.007', '1.0.0-rc.1+other'],
    ['1+5', '1.0.0'],
  ])('The versions %s and %s are equal', (a, b) => {
    expect(compare(a, b)).toBe(0)
  })

  it.each([
    ['9.0.0', '10.0.0'],
    ['1.9', '1.10'],
    ['1.0.9', '1.0.10'],
    ['1.0.0-9', '1.0.0-10'],
    ['1.0.0-10', '1.0.0--'],
    ['1.0.0-999', '1.0.0-A'],
    ['1.0.0-Z', '1.0.0-a'],
    ['1.0.0-100', '1.0.0-9a'],
    ['1.0.0-a.b', '1.0.0-a.b.0'],
    ['9007199254740992.0.0', '9007199254740993.0.0'],
    [`1.0.0-${'9'.repeat(400)}`, `1.0.0-1${'0'.repeat(400)}`],
  ])('The version %s precedes %s', (a, b) => {
    expect(compare(a, b)).toBe(-1)
    expect(compare(b, a)).toBe(1)
  })

  it.each([
    '',
    'v',
    'vv1',
    '1.',
    '.1',
    '1..2',
    '1.2.3.4',
    '01.0.0',
    '1.02',
    '1.0.00',
    '1.0.0-',
    '1.0.0-01',
    '1.0.0-a..b',
    '1.0.0-a.',
    '1.0.0-ä',
    '1.0.0+',
    '1.0.0+a+b',
    '1.0.0+a..b',
    ' 1.0.0',
    '1.0.0\n',
    '-1.0.0',
    '1.x',
    '1.0.0 beta',
    '١.0.0',
    'latest',
  ])('parseSemver refuses %j', (text) => {
    expect(parseSemver(text)).toBeUndefined()
  })

  it('parseSemver accepts identifiers that only look like numbers', () => {
    expect(parseSemver('1.0.0-0a.-1.0')?.prerelease).toBe('0a.-1.0')
  })

  it('parseSemver takes linear time for hostile texts', () => {
    const baits = [
      '1'.repeat(250_000),
      `1.0.0-${'1'.repeat(250_000)}!`,
      `1-${'a.'.repeat(125_000)}`,
    ]
    // A backtracking search would exceed the time limit of the test.
    expect(baits.map((bait) => parseSemver(bait) !== undefined)).toEqual([true, false, false])
  })
})
