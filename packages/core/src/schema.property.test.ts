import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../scripts/test-selection.ts'
import { parseContext } from './model/context.ts'
import { isFlagError } from './model/errors.ts'
import { contextSchema } from './schema.ts'

const name = fc.constantFrom('kind', 'key', 'user', 'organization', '__proto__', 'constructor', '')
const leaf = fc.oneof(
  fc.constantFrom<unknown>('user', 'multi', '', 'k'.repeat(64), 'k'.repeat(65), '😀'.repeat(64)),
  fc.constantFrom<unknown>(0, 1.5, 2 ** 53, Number.NaN, true, null, undefined),
  fc.constantFrom<unknown>(new Date(0), new Map(), 1n),
)

function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  const object = {}
  for (const [key, value] of entries) {
    const property = { value, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(object, key, property)
  }
  return object
}

const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map(objectOf),
  ),
})).value

const attributes = fc.array(fc.tuple(name, anything), { maxLength: 3 })
const single = attributes.map((rest) => objectOf([...rest, ['kind', 'user']]))
const multi = fc
  .array(fc.tuple(name, fc.oneof(attributes.map(objectOf), single, anything)), { maxLength: 3 })
  .map((parts) => objectOf([...parts, ['kind', 'multi']]))

/** Contexts near the limits of nesting and of the number of attributes. */
const large = fc.oneof(
  fc.integer({ min: 29, max: 33 }).map((depth) => {
    let value: object = { kind: 'user' }
    for (let level = 1; level < depth; level += 1) value = { kind: 'user', inner: value }
    return value
  }),
  fc.integer({ min: 1997, max: 2001 }).map((count) => {
    const names = Array.from({ length: count }, (_, index) => [`a${index}`, index] as const)
    return objectOf([...names, ['kind', 'user']])
  }),
)

describe('contextSchema for any input', () => {
  it('contextSchema accepts and refuses the same input as parseContext, with the same messages', () => {
    const numRuns = runs(3000)
    let accepted = 0
    fc.assert(
      fc.property(fc.oneof(anything, single, multi, large, fc.constant({})), (input) => {
        const result = contextSchema.safeParse(input)
        try {
          expect(parseContext(input)).toBe(input)
          expect(result.data).toBe(input)
          accepted += 1
        } catch (error) {
          if (!isFlagError(error)) throw error
          const issues = result.error?.issues.map(({ path, message }) => ({
            path: ['context', ...path].join('.'),
            message,
          }))
          expect(issues).toEqual(error.details?.issues)
        }
      }),
      { numRuns },
    )
    expect(accepted).toBeGreaterThan(numRuns / 10)
  })
})
