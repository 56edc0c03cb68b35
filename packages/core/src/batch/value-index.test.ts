import { describe, expect, it } from 'vitest'
import type { ConditionDefinition } from '../model/definition.ts'
import { runToEnd } from '../model/incremental.ts'
import type { JsonValue } from '../model/json.ts'
import { compileCondition, holdsFor } from '../operators/condition.ts'
import { has } from './bit-set.ts'
import { keepRows } from './keep-rows.ts'
import { conditionsRow } from './rule-row.ts'
import { indexValue } from './value-index.ts'

type Rule = readonly ConditionDefinition[]

function on(operator: string, value: string | number = '', negate = false): ConditionDefinition {
  return { attribute: 'a', operator, value: String(value), negate }
}

const conditionsOf = (rule: Rule) => rule.map((definition) => compileCondition(definition))

/** Returns the index of rules with conditions on one attribute and one scale. */
function indexOf(rules: readonly Rule[]) {
  const words = Math.ceil(rules.length / 32)
  const bits = new Array<number>(words).fill(-1)
  const rows = rules.map((rule, row) => {
    return { row, tests: conditionsRow(conditionsOf(rule), rule, null)?.tests ?? [] }
  })
  const used = rows.filter(({ tests }) => tests.length > 0)
  const first = used[0]?.tests[0]
  if (first === undefined) throw new Error('no rule has a test')
  const index = runToEnd(indexValue(first, used, { words, bits }))
  const withRoom = new Int32Array(bits.length + words)
  withRoom.set(bits)
  return { index, words, bits: withRoom, room: bits.length, size: bits.length }
}

/** Returns a test of a condition that calls `resultFor` and needs no preparation. */
const testWith = (resultFor: () => boolean) => ({ resultFor, prepare: () => false })

type Indexed = ReturnType<typeof indexOf>

/** Returns the numbers of the rules that an index keeps for a value. */
function kept(indexed: Indexed, count: number, value: JsonValue | undefined): number[] {
  const rows = new Int32Array(indexed.words).fill(-1)
  keepRows(indexed.index, value, rows, indexed)
  return Array.from({ length: count }, (_, row) => row).filter((row) => has(rows, row))
}

/** Expects that the index keeps exactly the rules whose conditions the values match. */
function expectAsAlone(
  rules: readonly Rule[],
  values: readonly (JsonValue | undefined)[],
): Indexed {
  const indexed = indexOf(rules)
  const compiled = rules.map(conditionsOf)
  for (const value of values) {
    const expected = compiled.flatMap((conditions, row) => {
      return conditions.every((condition) => holdsFor(condition, value)) ? [row] : []
    })
    expect([value, kept(indexed, rules.length, value)]).toEqual([value, expected])
  }
  return indexed
}

function sparseIn(places: Iterable<number>): number {
  return [...places].filter((place) => place < 0).length
}

const TEXTS = ['a', 'b', 'c', '', '7', 'other']
const OTHERS = [undefined, 7, true, [], ['a'], ['b', 7], [['a']], {}, { a: 1 }, Infinity]

describe('indexValue with texts', () => {
  const rules: readonly Rule[] = [
    ...[[on('eq', 'a')], [on('neq', 'a')], [on('in', '["a","b","a"]')], [on('not_in', '["b"]')]],
    ...[[on('exists')], [on('not_exists')], [on('in', '[]')], [on('not_in', '[]')], []],
    ...[[on('eq', 'a', true)], [on('exists', '', true)], [on('in', '["a",["a"]]')]],
    ...[[on('eq', 'a'), on('exists')], [on('neq', 'a'), on('neq', 'b')], [on('eq', '7')]],
    ...[
      [on('in', '["a","b"]'), on('neq', 'a')],
      [on('eq', 'a'), on('eq', 'b')],
    ],
    ...[
      [on('in', '["a","b"]'), on('in', '["b","c"]')],
      [on('eq', 'a'), on('not_exists')],
    ],
    ...[
      [on('neq', 'a'), on('not_exists')],
      [on('eq', 'a', true), on('exists', '', true)],
    ],
  ]

  it('The sets of few rules are full, and contain the rules that the value matches', () => {
    const { index } = expectAsAlone(rules, [...TEXTS, ...OTHERS])
    expect(sparseIn(index.byText.values())).toBe(0)
    expect(index.limits).toHaveLength(0)
  })

  it('The sets of rare texts in many rules are sparse, and contain the rules that the value matches', () => {
    const many = Array.from({ length: 500 }, (_, at): Rule => [on('eq', `text-${at}`)])
    const common = Array.from({ length: 500 }, (): Rule => [on('in', '["a","b"]')])
    const texts = ['text-0', 'text-31', 'text-32', 'text-499', ...TEXTS, ...OTHERS]
    const { index } = expectAsAlone([...many, ...rules, ...common], texts)
    expect(index.byText.get('text-0')).toBeLessThan(0)
    expect(index.byText.get('text-499')).toBeLessThan(0)
    expect(index.byText.get('a')).toBeGreaterThan(0)
  })

  it.each([
    [12, 12],
    // Two numbers for the pair, and three for the sparse set.
    [13, 5],
  ])('In sets of %d words, a text of one rule takes %d numbers', (words, size) => {
    const others = Array.from({ length: 32 * words - 1 }, (): Rule => [on('neq', 'a')])
    const before = indexOf([...others, [on('neq', 'a')]])
    const after = indexOf([...others, [on('in', '["rare"]')]])
    expect(after.words).toBe(words)
    expect(after.size - before.size).toBe(size)
    expect((after.index.byText.get('rare') ?? 0) < 0).toBe(size !== words)
  })

  it('Texts with equal sets share one set', () => {
    const keys = JSON.stringify(Array.from({ length: 100 }, (_, at) => `user-${at}`))
    const list = indexOf([[on('in', keys)], [on('eq', 'user-1')], [on('eq', 'a')]])
    const { byText, unlisted, missing } = list.index
    expect(byText.size).toBe(101)
    expect(new Set(byText.values()).size).toBe(3)
    expect(byText.get('user-1')).not.toBe(byText.get('user-2'))
    expect(byText.get('user-2')).toBe(byText.get('user-99'))
    // The set of all rows, the sets for unlisted and missing values, and those of the texts.
    expect(list.size).toBe(1 + 1 + 1 + 3)
    expect(new Set([0, unlisted, missing]).size).toBe(3)
  })

  it('A text for which two tests have the same result as for other texts has no set', () => {
    const contradiction = [on('eq', 'a'), on('eq', 'b')]
    const overlap = [on('in', '["a","b"]'), on('in', '["b","c"]')]
    const { byText } = indexOf([contradiction, overlap]).index
    expect([...byText.keys()]).toEqual(['b'])
  })
})

describe('indexValue with positions', () => {
  const numbers = [-1e308, -1, -5e-324, -0, 0, 5e-324, 1, 4.999999999999999, 5, 5.000000000000001]
  const values = [...numbers, 8, 9, 10, 1e308, '5', ' 5 ', 'x', ...OTHERS, [5, 'x'], ['9'], ['x']]
  const rules: readonly Rule[] = [
    ...[[on('gt', 5)], [on('gte', 5)], [on('lt', 5)], [on('lte', 5)], [on('between', '[5,9]')], []],
    ...[[on('gt', 5, true)], [on('between', '[5,9]', true)], [on('gt', 1), on('lt', 9)]],
    ...[
      [on('gt', 9), on('lt', 1)],
      [on('gte', 5), on('lte', 5)],
      [on('gt', 1), on('gt', 5)],
    ],
    ...[[on('between', '[1,9]'), on('between', '[5,9]', true)], [on('gt', '-0')], [on('lt', 0)]],
  ]

  it('The sets of few rules are full, and contain the rules that the value matches', () => {
    const { index } = expectAsAlone(rules, values)
    expect(sparseIn(index.places)).toBe(0)
    expect(index.byText.size).toBe(0)
    expect(index.places[0]).toBe(index.unlisted)
  })

  it('The sets of many rules are full and sparse, and contain the rules that the value matches', () => {
    const many = Array.from({ length: 1_000 }, (_, at): Rule => {
      const value = (at * 7) % 500
      return at % 3 === 0 ? [on('between', `[${value},${value + 40}]`)] : [on('gte', value)]
    })
    const all = Array.from({ length: 120 }, (_, at) => 5 * at - 20)
    const { index } = expectAsAlone([...many, ...rules], [...all, ...values])
    const sparse = sparseIn(index.places)
    expect(sparse).toBeGreaterThan(100)
    expect(index.places.length - sparse).toBeGreaterThan(30)
  })

  const limitsOf = (...rule: Rule) => [...indexOf([rule]).index.limits]
  const afterFive = 5.000000000000001

  it('The limits of a row are the positions at which the result of its tests changes', () => {
    expect(limitsOf(on('gt', 5))).toEqual([afterFive])
    expect(limitsOf(on('gte', 5))).toEqual([5])
    expect(limitsOf(on('lte', 5))).toEqual([afterFive])
    expect(limitsOf(on('between', '[5,9]'))).toEqual([5, 9.000000000000002])
    expect(limitsOf(on('gte', -1e308), on('lte', 1.7976931348623157e308))).toEqual([-1e308])
  })

  it('The limits of a row with two tests are the positions at which the result of both changes', () => {
    expect(limitsOf(on('gt', 5), on('lt', 9))).toEqual([afterFive, 9])
    expect(limitsOf(on('lt', 9), on('gt', 5))).toEqual([afterFive, 9])
    expect(limitsOf(on('gt', 9), on('lt', 5))).toEqual([])
    expect(limitsOf(on('gt', 1), on('gt', 5))).toEqual([afterFive])
    expect(limitsOf(on('gte', 5), on('gte', 5))).toEqual([5])
    expect(limitsOf(on('between', '[1,9]'), on('between', '[5,9]', true))).toEqual([1, 5])
    expect(limitsOf(on('lt', 5), on('gte', 5, true))).toEqual([5])
  })

  it('Networks that overlap or touch have only the limits at which the result changes', () => {
    const limits = limitsOf(on('in_cidr', '["10.0.0.0/9","10.128.0.0/9","10.1.0.0/16","0.0.0.0"]'))
    expect(limits).toEqual([0, 1, 10 * 2 ** 24, 11 * 2 ** 24])
    expect(limitsOf(on('in_cidr', '::/0'))).toEqual([])
  })

  it('The limits of all rows are sorted and distinct', () => {
    const { limits } = indexOf([
      [on('gte', 10)],
      [on('gte', 9)],
      [on('lt', 10)],
      [on('gte', -3)],
    ]).index
    expect([...limits]).toEqual([-3, 9, 10])
  })
})

describe('indexValue with searches', () => {
  const texts = ['', 'a', 'b', 'ab', 'ba', 'aab', 'abab', 'bbaa', 'cabc', 'aaaaaa', 'c', 'éa', 'Ab']
  const values = [...texts, ...OTHERS, ['ab', 'x'], ['c', ['ab']], null]

  it.each(['contains', 'starts_with', 'ends_with'])(
    'The rows of %s contain the rules that the value matches',
    (operator) => {
      const rules: readonly Rule[] = [
        ...[[on(operator, 'a')], [on(operator, 'ab')], [on(operator, '["b","aa","a","a"]')], []],
        ...[[on(`not_${operator}`, 'ab')], [on(operator, 'ba', true)], [on(operator, '[]')]],
        ...[[on(`not_${operator}`, '["a","c"]', true)], [on(operator, 'éa')], [on(operator, 'x')]],
      ]
      const { index } = expectAsAlone(rules, values)
      expect([index.byText.size, index.limits.length]).toEqual([0, 0])
      const others = Array.from({ length: 500 }, (_, at): Rule => [on(operator, `text-${at}`)])
      expectAsAlone([...others, ...rules], [...values, 'text-1', 'text-499', 'text-text-77'])
    },
  )

  it('Searches in lower case find texts in any case', () => {
    const rules: readonly Rule[] = ['contains_ci', 'not_contains_ci'].flatMap((operator) => {
      return [[on(operator, 'aB')], [on(operator, '["É","c"]')]]
    })
    expectAsAlone(rules, ['xAb', 'ab', 'É', 'e', 'C', 7, undefined, ['x', 'AB']])
  })

  it('The rows of the elements of an array contain the rules that the array matches', () => {
    const rules: readonly Rule[] = [
      ...[[on('array_contains_all', 'a')], [on('array_contains_all', '["b"]')], []],
      ...[[on('array_contains_none', '["a","b"]')], [on('array_contains_none', '[]')]],
      ...[[on('array_contains_all', '[7]', true)], [on('array_contains_none', '7', true)]],
      [on('array_contains_all', '[""]')],
    ]
    const arrays = [[], ['a'], ['b', 'a', 'b'], [7], ['7', true], [''], [null, ['a']], [{ a: 1 }]]
    expectAsAlone(rules, [...arrays, ...values])
  })

  it.each<[operator: string, matching: JsonValue, other: JsonValue]>([
    ['contains', 'a b', 'c'],
    ['ends_with', 'b', 'c'],
    ['array_contains_all', ['a', 'b'], ['c']],
  ])('The index of %s evaluates no condition by itself', (operator, matching, other) => {
    const rule = [on(operator, 'b')]
    const [test] = conditionsRow(conditionsOf(rule), rule, null)?.tests ?? []
    if (test?.condition === undefined) throw new Error('no condition')
    const condition = {
      ...test.condition,
      test: testWith(() => {
        throw new Error('the condition has been evaluated')
      }),
    }
    const sets = { words: 1, bits: [-1] }
    const index = runToEnd(indexValue(test, [{ row: 0, tests: [{ ...test, condition }] }], sets))
    const bits = Int32Array.of(...sets.bits, 0)
    const kept = [matching, other, undefined].map((value) => {
      const rows = Int32Array.of(-1)
      keepRows(index, value, rows, { words: 1, bits, room: sets.bits.length })
      return rows[0]
    })
    expect(kept).toEqual([-1, -2, -2])
  })

  it('The repetitions in a text do not change how often the sets are read', () => {
    const repeated = Array.from(
      { length: 100 },
      (_, at): Rule => [on('contains', 'a'.repeat(at + 1))],
    )
    const indexed = indexOf(repeated)
    const readsFor = (text: string) => {
      let reads = 0
      const bits = new Proxy(indexed.bits, {
        get: (target, name) => {
          reads += 1
          const found: unknown = Reflect.get(target, name, target)
          return typeof found === 'function' ? found.bind(target) : found
        },
      })
      expect(kept({ ...indexed, bits }, 100, text)).toEqual([...repeated.keys()])
      return reads
    }
    expect(readsFor('a'.repeat(20_000))).toBe(readsFor('a'.repeat(100)))
    expect(kept(indexed, 100, `b${'a'.repeat(50)}b`)).toHaveLength(50)
  })
})

describe('keepRows', () => {
  it('Rules for versions keep the same pre-releases and addresses of IPv6 as without the index', () => {
    expectAsAlone(
      ['1.2.3', '2', '1.2.4'].flatMap((version) => {
        return ['semver_gt', 'semver_lte', 'semver_eq'].map((operator) => [on(operator, version)])
      }),
      ['1.2.3-rc', '1.2.4-0', '1.2.3', '2.0.0-1', '131072.1.1', ['1.2.3', '2.0.0-a'], 'x', 7],
    )
    expectAsAlone(
      [[on('in_cidr', '::/0')], [on('not_in_cidr', '::/0')], [on('not_in_cidr', '10.0.0.0/8')]],
      ['::1', '10.0.0.1', '11.0.0.1', '::ffff:10.0.0.1', ['::1', '10.0.0.1'], 'x', 10],
    )
  })

  it('Negated and other rules keep the values that are missing or of another type', () => {
    const values = [undefined, 'x', 7, true, '1.2.3.4', '0.1.0', {}, [], NaN]
    expectAsAlone([[on('semver_gt', '1')], [on('semver_gt', '1', true)]], values)
    expectAsAlone([[on('contains', '1')], [on('contains', '1', true)]], values)
    const all = ['array_contains_all', 'array_contains_none']
    expectAsAlone(
      all.flatMap((operator) => [[on(operator, '7')], [on(operator, '7', true)]]),
      [...values, '7'],
    )
  })

  it('keepRows does not evaluate conditions of rows that have been removed', () => {
    const calls: number[] = []
    const rule = [on('gt', 1)]
    const tests = [0, 1, 2, 40].map((row) => {
      const [test] = conditionsRow(conditionsOf(rule), rule, null)?.tests ?? []
      if (test?.condition === undefined) throw new Error('no condition')
      const condition = {
        ...test.condition,
        test: testWith(() => {
          calls.push(row)
          return row === 1
        }),
      }
      return { row, tests: [{ ...test, condition }] }
    })
    const [first] = tests[0]?.tests ?? []
    if (first === undefined) throw new Error('no test')
    const index = runToEnd(indexValue(first, tests, { words: 2, bits: [-1, -1] }))
    const rows = Int32Array.of(0b1110, -1)
    keepRows(index, [2], rows, { words: 2, bits: Int32Array.of(-1, -1), room: 0 })
    expect(calls).toEqual([1, 2, 40])
    expect([...rows]).toEqual([0b1010, ~(1 << 8)])
  })
})
