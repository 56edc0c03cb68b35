import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { valuesOf } from '../all-flags.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import { type JsonValue, jsonEquals } from '../model/json.ts'
import { isInNetwork, NetworkSet, parseAddress, parseNetwork } from './cidr.ts'
import { compileCondition, matchesCondition } from './condition.ts'
import type { Operator } from './operator.ts'
import { StructureSet } from './structure-set.ts'
import { inLowerCase } from './text-comparison.ts'

/** A few units, including halves of a surrogate pair, so that random texts often match lists. */
const UNITS = ['a', 'b', 'A', 'İ', 'Σ', 'ς', '\ud83d', '\ude00', '中', '\u0000']
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 24 }),
  fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const list = fc.oneof(
  fc.array(text, { maxLength: 6 }),
  fc.array(text, { minLength: 5, maxLength: 60 }),
)

const PLAIN: readonly (readonly [Operator, (text: string, part: string) => boolean])[] = [
  ['contains', (whole, part) => whole.includes(part)],
  ['starts_with', (whole, part) => whole.startsWith(part)],
  ['ends_with', (whole, part) => whole.endsWith(part)],
  ['in', (whole, part) => whole === part],
]

/** Returns the results of a condition that is evaluated directly, and by the condition index. */
function answers(definition: ConditionDefinition, it: JsonValue): readonly boolean[] {
  const context = { kind: 'user', it }
  const scope = { context, isInSegment: () => false, servedVariation: () => undefined }
  const rule = { id: 'r', orderIndex: 0, createdAt: '', segmentId: null, rolloutId: null }
  const flag = {
    id: 'f',
    key: 'f',
    type: 'boolean',
    isActive: true,
    variations: [
      { id: 'yes', key: 'yes', value: 'true' },
      { id: 'no', key: 'no', value: 'false' },
    ],
    ...{ defaultVariationId: 'no', offVariationId: null, targets: [], prerequisites: [] },
    rules: [{ ...rule, conditions: [definition], variationId: 'yes' }],
    rollouts: [],
  } as const
  const flagSet = compileFlagSet({ version: 1, flags: [flag], segments: [] })
  const all = valuesOf(evaluateTogether(flagSet, context, 0))
  return [matchesCondition(compileCondition(definition), scope), all['f'] === true]
}

describe('Conditions with lists', () => {
  it.each(PLAIN)(
    '%s with a list has the same result as a plain comparison with each text',
    (operator, holds) => {
      fc.assert(
        fc.property(list, fc.array(text, { maxLength: 8 }), fc.boolean(), (parts, texts, isOne) => {
          const it = isOne ? (texts[0] ?? '') : texts
          const searched = isOne ? [texts[0] ?? ''] : texts
          const value = JSON.stringify(parts)
          for (const [name, fold] of [
            [operator, (each: string) => each],
            [`${operator}_ci`, inLowerCase],
          ] as const) {
            const expected = searched.some((whole) => {
              return parts.some((part) => holds(fold(whole), fold(part)))
            })
            const positive = { attribute: 'it', operator: name, value }
            const negative = { ...positive, operator: `not_${name}` }
            expect(answers(positive, it)).toEqual([expected, expected])
            expect(answers({ ...positive, negate: true }, it)).toEqual([!expected, !expected])
            expect(answers(negative, it)).toEqual([!expected, !expected])
          }
        }),
        { numRuns: runs(1000) },
      )
    },
  )

  it('contains finds exactly the texts of a list with units of all pages', () => {
    const textOf = (index: number, offset = 0) =>
      String.fromCharCode(index << 7, 0xe000 + (((index >> 1) + offset) % 2))
    const list = Array.from({ length: 512 }, (_, index) => textOf(index))
    const value = JSON.stringify(list)
    const definition = { attribute: 'it', operator: 'contains', value } as const
    for (const [index, each] of list.entries()) {
      expect(answers(definition, `-${each}-`)).toEqual([true, true])
      expect(answers(definition, `-${textOf(index, 1)}-`)).toEqual([false, false])
    }
  })

  it('Searches in trees that are too large for rows have the same results as plain comparisons', () => {
    const word = (alphabet: string, longest: number) =>
      fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: longest })
    const bigList = fc.oneof(
      fc.array(word('abcdefghijklmnopqrstuvwxyz', 6), { minLength: 3000, maxLength: 5000 }),
      fc.array(word('ab', 200), { minLength: 200, maxLength: 400 }),
    )
    const searched = fc.array(word('abcdefghijklmnopqrstuvwxyz中', 300), { maxLength: 5 })
    fc.assert(
      fc.property(bigList, searched, fc.nat(), (parts, others, seed) => {
        // Texts that almost contain a listed text, because random texts rarely contain most of one.
        const near = parts.slice(seed % parts.length).slice(0, 20)
        const joined = near.map((part) => part.slice(0, -1)).join('')
        for (const [operator, holds] of PLAIN) {
          const value = JSON.stringify(parts)
          const condition = compileCondition({ attribute: 'it', operator, value })
          for (const it of [...others, ...near, joined, `${joined}${near[0]}`]) {
            const expected = parts.some((part) => holds(it, part))
            expect(condition.test?.resultFor(it)).toBe(expected)
          }
        }
      }),
      { numRuns: runs(20) },
    )
  })

  it('A NetworkSet has the same results as a comparison with each network', () => {
    const base = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.0', '10.0.128.0', '::1'))
    const network = fc.tuple(base, fc.nat({ max: 32 })).map(([address, bits]) => {
      return address.includes(':') ? `${address}/${4 * bits}` : `${address}/${bits}`
    })
    fc.assert(
      fc.property(fc.array(network, { maxLength: 30 }), base, (texts, address) => {
        const networks = texts.flatMap((each) => parseNetwork(each) ?? [])
        const words = parseAddress(address) ?? []
        const expected = networks.some((each) => isInNetwork(words, each))
        expect(new NetworkSet(networks).has(words)).toBe(expected)
      }),
      { numRuns: runs(5000) },
    )
  })

  it('A StructureSet finds exactly the equal structures, in any order of properties', () => {
    const leaf = fc.constantFrom<JsonValue>(0, -0, 1, '1', '', 'a', true, null)
    const { structure } = fc.letrec<{ value: JsonValue; structure: JsonValue[] }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        tie('structure'),
        fc.dictionary(fc.constantFrom('a', 'b', '1', '__proto__'), tie('value'), { maxKeys: 3 }),
      ),
      structure: fc.array(tie('value'), { maxLength: 3 }),
    }))
    fc.assert(
      fc.property(fc.array(structure, { maxLength: 8 }), structure, (all, one) => {
        const set = new StructureSet()
        for (const each of all) set.add(each)
        for (const value of [one, ...all, turned(one), { ...[one] }]) {
          expect(set.has(value)).toBe(all.some((each) => jsonEquals(each, value)))
        }
      }),
      { numRuns: runs(5000) },
    )
  })
})

/** Returns the same value with the properties of all objects in reverse order. */
function turned(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).reverse()
  return Object.fromEntries(members.map(([name, member]) => [name, turned(member)]))
}
