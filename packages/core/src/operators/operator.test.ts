import { describe, expect, it } from 'vitest'
import { holds, table } from '../../test/operator-table.ts'
import { compileCondition, matchesCondition } from './condition.ts'
import { isOperator, operators } from './operator.ts'

describe('isOperator', () => {
  it('isOperator returns true for exactly the names in the table', () => {
    expect([...operators.keys()].every(isOperator)).toBe(true)
    const others = ['', 'EQ', 'eq ', 'equals', 'toString', '__proto__', 'constructor']
    expect(others.some(isOperator)).toBe(false)
  })
})

describe('exists', () => {
  table([
    ['', 'exists', '', true],
    [0, 'exists', '', true],
    [false, 'exists', 'whatever', true],
    [[], 'exists', '', true],
    [[null], 'exists', '', true],
    [{}, 'exists', '', true],
    [null, 'exists', '', false],
    [undefined, 'exists', '', false],
    [null, 'not_exists', '', true],
    [undefined, 'not_exists', '', true],
    ['', 'not_exists', '', false],
    [[], 'not_exists', '', false],
  ])
})

describe('eq', () => {
  table([
    ['pro', 'eq', 'pro', true],
    ['Pro', 'eq', 'pro', false],
    ['', 'eq', '', true],
    [' pro', 'eq', 'pro', false],
    [42, 'eq', '42', true],
    [42, 'eq', '42.0', false],
    [42, 'eq', ' 42', false],
    ['42.0', 'eq', '42.0', true],
    [0.1, 'eq', '0.1', true],
    [1e21, 'eq', '1e+21', false],
    [-0, 'eq', '0', true],
    [true, 'eq', 'true', true],
    [true, 'eq', 'True', false],
    [true, 'eq', '1', false],
    [1, 'eq', 'true', false],
    ['true', 'eq', 'true', true],
    [false, 'eq', '', false],
    [0, 'eq', '', false],
    ['null', 'eq', 'null', true],
    [null, 'eq', 'null', false],
    // U+00E9 does not equal e and U+0301, because texts are not normalized.
    ['caf\u00e9', 'eq', 'cafe\u0301', false],
    ['\u{1f600}', 'eq', '\u{1f600}', true],
  ])

  describe('eq for arrays and objects', () => {
    table([
      [{ a: 1, b: [2] }, 'eq', '{"b": [2], "a": 1}', true],
      [{ a: 1 }, 'eq', '{"a": "1"}', false],
      [{ a: 1 }, 'eq', '{"a": 1, "b": null}', false],
      [{}, 'eq', '{}', true],
      [{}, 'eq', '[]', false],
      [[1, 2], 'eq', '[1, 2]', true],
      [[1, 2], 'eq', '[2, 1]', false],
      [[1, 2], 'eq', '["1", "2"]', false],
      [[], 'eq', '[]', true],
      [[], 'eq', '', false],
      ['[1, 2]', 'eq', '[1, 2]', true],
      ['[1,2]', 'eq', '[1, 2]', false],
      [1, 'eq', '[1, 2]', false],
      [[1, 2], 'eq', '2', true],
      [['a', 'b'], 'eq', 'b', true],
      [['a', 'b'], 'eq', 'c', false],
      [[[1, 2], 3], 'eq', '[1, 2]', true],
      [[[1, 2], 3], 'eq', '1', false],
      [[{ a: 1 }], 'eq', '{"a": 1}', true],
      [[null], 'eq', 'null', false],
      [[null], 'eq', '[null]', true],
    ])
  })

  describe('neq', () => {
    table([
      ['free', 'neq', 'pro', true],
      ['pro', 'neq', 'pro', false],
      [42, 'neq', '42.0', true],
      [true, 'neq', '1', true],
      [{ a: 1 }, 'neq', 'pro', true],
      [{ a: 1 }, 'neq', '{"a":1}', false],
      [['a', 'b'], 'neq', 'b', false],
      [['a', 'b'], 'neq', 'c', true],
      [[], 'neq', 'c', true],
      [[null], 'neq', 'c', true],
      [undefined, 'neq', 'pro', false],
      [null, 'neq', 'pro', false],
    ])
  })
})

describe('in', () => {
  table([
    ['b', 'in', '["a", "b"]', true],
    ['c', 'in', '["a", "b"]', false],
    ['a', 'in', 'a', true],
    [' ["a"]', 'in', ' ["a"]', false],
    ['["a"', 'in', '["a"', true],
    ['{"a":1}', 'in', '{"a":1}', true],
    ['a', 'in', '[]', false],
    ['', 'in', '[]', false],
    ['', 'in', '', true],
    [42, 'in', '[41, 42]', true],
    [42, 'in', '[42.0]', true],
    [42, 'in', '["42"]', true],
    [42, 'in', '["42.0"]', false],
    ['42', 'in', '[42]', true],
    [true, 'in', '[true]', true],
    ['true', 'in', '[true]', true],
    [true, 'in', '["true"]', true],
    [true, 'in', '[1]', false],
    [1, 'in', '[true]', false],
    [{ a: 1 }, 'in', '[{"a": 1}]', true],
    [{ a: 1 }, 'in', '["{\\"a\\": 1}"]', true],
    ['{"a":1}', 'in', '[{"a":1}]', false],
    [['x', 'b'], 'in', '["a", "b"]', true],
    [['x', 'y'], 'in', '["a", "b"]', false],
    [['a', 'b'], 'in', '[["a", "b"]]', true],
    [[], 'in', '["a"]', false],
    [undefined, 'in', '["a"]', false],
    ['c', 'not_in', '["a", "b"]', true],
    ['a', 'not_in', '["a", "b"]', false],
    [['x', 'a'], 'not_in', '["a", "b"]', false],
    [['x', 'y'], 'not_in', '["a", "b"]', true],
    [[], 'not_in', '["a"]', true],
    ['a', 'not_in', '[]', true],
    [7, 'not_in', '["a"]', true],
    [undefined, 'not_in', '["a"]', false],
    [null, 'not_in', '[]', false],
  ])

  describe('in for a long list of arrays and objects', () => {
    const list = [0, 1, 2, 3, 4, 5].flatMap((n) => [[n], { a: n, b: [{ d: 1, c: n }] }, [n, n]])
    const value = JSON.stringify(list)
    table([
      [{ b: [{ c: 5, d: 1 }], a: 5 }, 'in', value, true],
      [{ a: 5, b: [{ c: 4, d: 1 }] }, 'in', value, false],
      [{ a: 5, b: [{ c: 5, d: null }] }, 'in', value, false],
      [{ a: 5, c: [{ c: 5, d: 1 }] }, 'in', value, false],
      [{ a: 5 }, 'in', value, false],
      [[[4, 4]], 'in', value, true],
      [[4, 4], 'in', value, true],
      [[4, 3], 'in', value, false],
      [[[7]], 'in', value, false],
      ['[1]', 'in', value, false],
      [null, 'in', value, false],
    ])
  })

  it('in and not_in refuse a list with null', () => {
    expect(holds('a', 'in', '["a", null]')).toBe(false)
    expect(holds('b', 'not_in', '["a", null]')).toBe(false)
  })

  it('in looks up a text in a long list in constant time', () => {
    const list = Array.from({ length: 100_000 }, (_, index) => `user-${index}`)
    const value = JSON.stringify(list)
    const condition = compileCondition({ attribute: 'it', operator: 'in', value })
    const scope = {
      context: { kind: 'user', it: 'unlisted' },
      isInSegment: () => false,
      servedVariation: () => undefined,
    }
    // A linear search would need 10^11 comparisons.
    let held = 0
    for (let round = 0; round < 1_000_000; round += 1) {
      if (matchesCondition(condition, scope)) held += 1
    }
    expect(held).toBe(0)
  })
})

describe('Operators that ignore case', () => {
  table([
    ['PRO', 'eq_ci', 'Pro', true],
    ['STRASSE', 'eq_ci', 'straße', false],
    ['ÄÖÜ', 'eq_ci', 'äöü', true],
    ['ΟΔΟΣ', 'eq_ci', 'οδοσ', true],
    ['ΟΔΟΣ', 'eq_ci', 'οδος', false],
    ['İ', 'eq_ci', 'i', true],
    ['I', 'eq_ci', 'ı', false],
    ['\u212a', 'eq_ci', 'k', true],
    ['\u{10400}', 'eq_ci', '\u{10428}', true],
    [true, 'eq_ci', 'TRUE', true],
    [1e21, 'eq_ci', '1E+21', false],
    [{ a: 'X' }, 'eq_ci', '{"a": "x"}', false],
    [{ a: 'X' }, 'eq_ci', '{"a": "X"}', true],
    [['A', 'B'], 'eq_ci', 'b', true],
    ['B', 'in_ci', '["a", "b"]', true],
    ['b', 'in_ci', '["A", "B"]', true],
    ['X', 'in_ci', '[{"a": 1}, "x"]', true],
    ['C', 'in_ci', '["a", "b"]', false],
    ['B', 'not_in_ci', '["a", "b"]', false],
    ['C', 'not_in_ci', '["a", "b"]', true],
    ['Checkout', 'contains_ci', 'OUT', true],
    ['Checkout', 'starts_with_ci', 'cHECK', true],
    ['Checkout', 'ends_with_ci', 'OUT', true],
    ['Checkout', 'not_contains_ci', 'OUT', false],
    ['Checkout', 'not_starts_with_ci', 'OUT', true],
    ['Checkout', 'not_ends_with_ci', 'OUT', false],
    [5, 'not_ends_with_ci', 'OUT', false],
  ])
})

describe('Text operators', () => {
  table([
    ['ada@example.com', 'contains', '@example', true],
    ['ada@example.com', 'contains', '@EXAMPLE', false],
    ['ada@example.com', 'starts_with', 'ada', true],
    ['ada@example.com', 'starts_with', 'example', false],
    ['ada@example.com', 'ends_with', '.com', true],
    ['ada@example.com', 'ends_with', 'ada', false],
    ['ada@example.com', 'ends_with', '[".org", ".com"]', true],
    ['ada@example.com', 'ends_with', '[]', false],
    ['ada@example.com', 'not_ends_with', '[]', true],
    ['ada', 'contains', '', true],
    ['room 42', 'contains', '[42]', true],
    ['is true', 'ends_with', '[true]', true],
    ['a[b', 'contains', '[b', true],
    ['', 'contains', 'a', false],
    ['', 'not_contains', 'a', true],
    [42, 'contains', '4', false],
    [42, 'not_contains', '5', false],
    [true, 'starts_with', 't', false],
    [{ a: 'a' }, 'contains', 'a', false],
    [{ a: 'a' }, 'not_contains', 'b', false],
    [undefined, 'not_contains', 'b', false],
    [['xa', 'yb'], 'starts_with', 'y', true],
    [['xa', 'yb'], 'not_starts_with', 'y', false],
    [['xa', 'yb'], 'not_starts_with', 'z', true],
    [[1, 'yb'], 'not_starts_with', 'z', true],
    [[1, 2], 'not_starts_with', 'z', false],
    [[null], 'not_starts_with', 'z', false],
    [[['ya']], 'starts_with', 'y', false],
    [[], 'starts_with', 'y', false],
    [[], 'not_starts_with', 'y', true],
  ])
})
