import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { runToEnd } from '../runtime/time-slice.ts'
import { parseIncrementally, stringifyIncrementally } from './incremental-json.ts'

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('"', '\\', '\\"', '[', ']', '{', '}', ',', '],['),
)
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
})).value
const object = fc.dictionary(
  fc.oneof(text, fc.constantFrom('__proto__', '7', '1', 'rules')),
  fc.oneof(json, fc.array(json, { maxLength: 20 })),
)

/** Long texts. An object that contains one of them is parsed in several steps. */
const padding = ['x'.repeat(300_000), 'y"]'.repeat(50_000), 'z\\'.repeat(100_000)]

it('The incremental JSON functions return the same results as `JSON` for long objects', () => {
  fc.assert(
    fc.property(object, fc.nat(2), (value, at) => {
      const long = { ...value, rules: [padding[at], value, padding[0], padding[1]] }
      const written = JSON.stringify(long)
      expect(runToEnd(stringifyIncrementally(long))).toBe(written)
      expect(runToEnd(parseIncrementally(written))).toEqual(JSON.parse(written))
    }),
    { numRuns: runs(60) },
  )
})

it('The incremental JSON functions return the same results as `JSON` for short objects', () => {
  fc.assert(
    fc.property(object, (value) => {
      const written = JSON.stringify(value)
      expect(runToEnd(stringifyIncrementally(value))).toBe(written)
      expect(runToEnd(parseIncrementally(written))).toEqual(JSON.parse(written))
    }),
    { numRuns: runs(100) },
  )
})
