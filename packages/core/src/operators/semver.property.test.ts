import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { compareSemver, parseSemver, type Semver, semverKey } from './semver.ts'

const number = fc.constantFrom('0', '1', '2', '10', '99', '9'.repeat(30), `1${'0'.repeat(30)}`)
const identifier = fc.oneof(number, fc.constantFrom('a', 'A', 'b', '-', '0a', '1-', 'rc'))

const versionText = fc
  .tuple(
    fc.constantFrom('', 'v', 'V'),
    fc.array(number, { minLength: 1, maxLength: 3 }),
    fc.array(identifier, { maxLength: 3 }),
    fc.constantFrom('', '+build', '+001.a'),
  )
  .map(([prefix, core, prerelease, build]) => {
    const suffix = prerelease.length > 0 ? `-${prerelease.join('.')}` : ''
    return `${prefix}${core.join('.')}${suffix}${build}`
  })

const version = versionText.map((text): Semver => {
  const parsed = parseSemver(text)
  if (parsed === undefined) throw new Error(`${text} must be readable`)
  return parsed
})

/** A literal implementation of section 11 of the specification, with big integers. */
function reference(a: Semver, b: Semver): number {
  for (const part of ['major', 'minor', 'patch'] as const) {
    if (a[part] !== b[part]) return BigInt(a[part]) < BigInt(b[part]) ? -1 : 1
  }
  if (a.prerelease === '' || b.prerelease === '') {
    return (a.prerelease === '' ? 1 : 0) - (b.prerelease === '' ? 1 : 0)
  }
  const left = a.prerelease.split('.')
  const right = b.prerelease.split('.')
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const [x, y] = [left[index], right[index]]
    if (x === undefined) return -1
    if (y === undefined) return 1
    if (x === y) continue
    const [isNumberX, isNumberY] = [/^\d+$/.test(x), /^\d+$/.test(y)]
    if (isNumberX && isNumberY) return BigInt(x) < BigInt(y) ? -1 : 1
    if (isNumberX !== isNumberY) return isNumberX ? -1 : 1
    return x < y ? -1 : 1
  }
  return 0
}

describe('compareSemver for any versions', () => {
  it('compareSemver agrees with a reference implementation', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compareSemver(a, b))).toBe(reference(a, b))
      }),
      { numRuns: runs(3000) },
    )
  })

  it('compareSemver is a total preorder, and versions are equal if and only if their keys are', () => {
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareSemver(a, b))).toBe(-Math.sign(compareSemver(b, a)) + 0)
        expect(compareSemver(a, b) === 0).toBe(semverKey(a) === semverKey(b))
        if (compareSemver(a, b) <= 0 && compareSemver(b, c) <= 0) {
          expect(compareSemver(a, c)).toBeLessThanOrEqual(0)
        }
      }),
      { numRuns: runs(3000) },
    )
  })

  it('parseSemver accepts or refuses any text without throwing', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseSemver(text)
        if (parsed !== undefined) expect(text).toMatch(/^[vV]?\d/)
      }),
      { numRuns: runs(100) },
    )
  })
})
