import { describe, expect, it } from 'vitest'
import { holds, table } from '../../test/operator-table.ts'
import { compileCondition, holdsFor } from './condition.ts'

describe('array_contains_all and array_contains_none', () => {
  table([
    [['a', 'b', 'c'], 'array_contains_all', '["c", "a"]', true],
    [['a', 'b'], 'array_contains_all', '["c", "a"]', false],
    [['a', 'b'], 'array_contains_all', 'a', true],
    [['1', true, { x: 1 }], 'array_contains_all', '[1, "true", {"x": 1}]', true],
    [[{ x: 2 }], 'array_contains_all', '[{"x": 1}]', false],
    [[[1]], 'array_contains_all', '["[1]"]', true],
    [['[1]'], 'array_contains_all', '["[1]"]', true],
    [['{'], 'array_contains_all', '["{"]', true],
    [[['a']], 'array_contains_all', '["a"]', false],
    [['a', 'a'], 'array_contains_all', '["a", "a"]', true],
    [['a'], 'array_contains_all', '[]', false],
    [[], 'array_contains_all', '["a"]', false],
    [[null], 'array_contains_all', '["null"]', false],
    ['a', 'array_contains_all', '["a"]', false],
    [['a'], 'array_contains_all', '[null]', false],

    [['a', 'b'], 'array_contains_none', '["c", "d"]', true],
    [['a', 'b'], 'array_contains_none', '["c", "b"]', false],
    [[1], 'array_contains_none', '1', false],
    [[], 'array_contains_none', '["a"]', true],
    [['a'], 'array_contains_none', '[]', true],
    [[['a']], 'array_contains_none', '["a"]', true],
    ['b', 'array_contains_none', '["a"]', false],
    [undefined, 'array_contains_none', '["a"]', false],
  ])
})

describe('array_size', () => {
  table([
    [[1, 2], 'array_size', '2', true],
    [[1, 2], 'array_size', ' 2.0 ', true],
    [[1, 2], 'array_size', '3', false],
    [[], 'array_size', '0', true],
    [[1, 2], 'array_size', '{"op": "eq", "value": 2}', true],
    [[1, 2], 'array_size', '{"op": "neq", "value": 2}', false],
    [[1, 2], 'array_size', '{"op": "neq", "value": 3}', true],
    [[1, 2], 'array_size', '{"op": "gt", "value": 1}', true],
    [[1, 2], 'array_size', '{"op": "gte", "value": "3"}', false],
    [[1, 2], 'array_size', '{"op": "lt", "value": 2}', false],
    [[1, 2], 'array_size', '{"op": "lte", "value": 2}', true],
    [[1, 2], 'array_size', '{"op": "between", "value": [1, 2]}', true],
    [[[1], [2], [3]], 'array_size', '1', false],
    [[1, 2], 'array_size', '{"op": "gt", "value": 1, "more": 1}', false],
    [[1, 2], 'array_size', '{"op": "toString", "value": 1}', false],
    [[1, 2], 'array_size', '{"op": ["gt"], "value": 1}', false],
    [[1, 2], 'array_size', '{"op": "gt"}', false],
    [[1, 2], 'array_size', '{"op": "gt", "value": {}}', false],
    [[1, 2], 'array_size', '[2]', false],
    [[1, 2], 'array_size', 'two', false],
    ['ab', 'array_size', '2', false],
  ])
})

describe('elem_match', () => {
  const people = [
    { name: 'Ada', plan: 'free' },
    7,
    { name: 'Bob', plan: 'pro', at: { n: 2 } },
    null,
  ]
  const nested = (depth: number): string => {
    const inside = depth === 0 ? 'a' : JSON.parse(nested(depth - 1))
    const operator = depth === 0 ? 'eq' : 'elem_match'
    return JSON.stringify([{ attribute: '', operator, value: inside }])
  }
  table([
    [people, 'elem_match', '[{"attribute": "plan", "operator": "eq", "value": "pro"}]', true],
    [
      people,
      'elem_match',
      '[{"attribute": "plan", "operator": "eq", "value": "pro"}, {"attribute": "name", "operator": "eq", "value": "Ada"}]',
      false,
    ],
    [people, 'elem_match', '[{"attribute": "at.n", "operator": "gt", "value": 1}]', true],
    [people, 'elem_match', '[{"attribute": "/at/n", "operator": "in", "value": [1, 2]}]', true],
    [people, 'elem_match', '[{"attribute": "", "operator": "gt", "value": "6"}]', true],
    [people, 'elem_match', '[{"attribute": "", "operator": "not_exists"}]', true],
    [people.slice(0, 3), 'elem_match', '[{"attribute": "", "operator": "not_exists"}]', false],
    [people, 'elem_match', '[{"attribute": "toString", "operator": "exists"}]', false],
    // A kind at the start of a reference has no meaning in an element.
    [[{ x: 1 }], 'elem_match', '[{"attribute": "user.x", "operator": "exists"}]', false],
    [
      [{ kind: 'user', x: 1 }],
      'elem_match',
      '[{"attribute": "user.x", "operator": "exists"}]',
      false,
    ],
    [
      [1, 2],
      'elem_match',
      '[{"attribute": "", "operator": "gt", "value": 1, "negate": true}]',
      true,
    ],
    [
      [2, 3],
      'elem_match',
      '[{"attribute": "", "operator": "gt", "value": 1, "negate": true}]',
      false,
    ],
    [[['a', 'b']], 'elem_match', '[{"attribute": "", "operator": "in", "value": ["b"]}]', true],
    [[['a']], 'elem_match', nested(1), true],
    [[[[['a']]]], 'elem_match', nested(1), false],
    [[[[['a']]]], 'elem_match', nested(3), true],
    [[[[[['a']]]]], 'elem_match', nested(4), false],
    [[], 'elem_match', '[{"attribute": "", "operator": "not_exists"}]', false],
    [[1], 'elem_match', '[]', false],
    // An absent value is the empty text.
    [[''], 'elem_match', '[{"attribute": "", "operator": "eq"}]', true],
    [
      { plan: 'pro' },
      'elem_match',
      '[{"attribute": "plan", "operator": "eq", "value": "pro"}]',
      false,
    ],
    [[1], 'elem_match', '[{"attribute": "", "operator": "exists"}, 1]', false],
    [[1], 'elem_match', '[{"attribute": "", "operator": "in_segment", "value": "s"}]', false],
    [[1], 'elem_match', '[{"attribute": "", "operator": "nonsense", "value": "s"}]', false],
    [[1], 'elem_match', '[{"operator": "exists"}]', false],
    [[1], 'elem_match', `[${'['.repeat(50_000)}${']'.repeat(50_000)}]`, false],
    [
      [1],
      'elem_match',
      `[{"attribute": "", "operator": "eq", "value": ${'['.repeat(50_000)}${']'.repeat(50_000)}}]`,
      false,
    ],
    [
      [1],
      'elem_match',
      JSON.stringify(Array(65).fill({ attribute: '', operator: 'exists' })),
      false,
    ],
    [
      [1],
      'elem_match',
      JSON.stringify(Array(64).fill({ attribute: '', operator: 'exists' })),
      true,
    ],
  ])
})

describe('elem_match beyond its limit of work', () => {
  const conditions = (count: number, operator = 'neq', value = 'b') =>
    JSON.stringify(Array(count).fill({ attribute: '', operator, value }))
  const nested = (count: number, operator?: string) =>
    JSON.stringify([{ attribute: '', operator: 'elem_match', value: conditions(count, operator) }])
  const beside = (count: number, others: string, operator?: string) =>
    JSON.stringify([...JSON.parse(conditions(count, operator)), ...JSON.parse(others)])
  /** 488 elements that count 16 units each, with 4 units of text in total. */
  const fits = [...Array<string>(487).fill(''), 'aaaa']

  table([
    // 64 × (16 × 488 + 4) = 499,968.
    [fits, 'elem_match', conditions(64), true],
    [[...fits.slice(1), 'a'.repeat(5)], 'elem_match', conditions(64), false],
    [[...fits, 'a'], 'elem_match', conditions(63), true],
    // 10 × (16 × 3,000 + 2,000) = 500,000.
    [[...Array<string>(2999).fill(''), 'a'.repeat(2000)], 'elem_match', conditions(10), true],
    [[...Array<string>(2999).fill(''), 'a'.repeat(2001)], 'elem_match', conditions(10), false],
    // Properties of objects count like elements.
    [[Object.fromEntries(fits.entries())], 'elem_match', conditions(63), true],
    [[Object.fromEntries(fits.entries())], 'elem_match', conditions(64), false],
    // The outer condition counts too.
    [[fits.slice(1)], 'elem_match', nested(63), true],
    [[fits], 'elem_match', nested(63), false],
    // Only the conditions inside an inner condition count for its own limit.
    [[Array<string>(900).fill('')], 'elem_match', beside(30, nested(1)), true],
    [[['a'.repeat(1000)]], 'elem_match', beside(1, nested(1, 'not_matches'), 'not_matches'), true],
    // Patterns search at most 2,048 units in total, as in an array without `elem_match`.
    [['a'.repeat(1024), 'a'.repeat(1024)], 'elem_match', conditions(1, 'not_matches'), true],
    [['a'.repeat(1024), 'a'.repeat(1024)], 'elem_match', conditions(2, 'not_matches'), false],
    [['a'.repeat(1024), 'a'.repeat(1025)], 'elem_match', conditions(1, 'not_matches'), false],
    [['a'.repeat(4000)], 'elem_match', conditions(1), true],
  ])

  it('The limit of nesting does not count conditions beside each other', () => {
    const value = JSON.stringify(Array(6).fill(JSON.parse(nested(1))[0]))
    expect(holds([['a']], 'elem_match', value)).toBe(true)
  })

  it('An elem_match condition beyond its limit of work does not match, negated or not', () => {
    const it = [...fits, 'aaaaa']
    const definition = { attribute: 'it', operator: 'elem_match', value: conditions(64) }
    for (const negate of [false, true]) {
      const condition = compileCondition({ ...definition, negate })
      expect(holdsFor(condition, it)).toBe(false)
      expect(holdsFor(condition, ['b'])).toBe(negate)
    }
  })
})
