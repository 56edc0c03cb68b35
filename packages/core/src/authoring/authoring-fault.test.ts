import { describe, expect, it } from 'vitest'
import { isExactNumber } from '../model/json.ts'
import { isOperator, operators } from '../operators/operator.ts'
import { re2 } from '../regex.ts'
import { authoringFault } from './authoring-fault.ts'
import { conditionFault } from './condition-fault.ts'

const EXTENSIONS = { regex: re2 }
const faultOf = (operator: string, value: string) =>
  authoringFault({ attribute: 'a', operator, value }, EXTENSIONS)

const operatorsOf = (...expectations: readonly string[]) =>
  [...operators].flatMap(([name, { comparison }]) => {
    return expectations.includes(comparison.expects) ? name : []
  })

/** The smallest positive integer that a double cannot represent. */
const INEXACT = '9007199254740993'
const BEYOND = 'Integers must be from -9007199254740991 to 9007199254740991.'

describe('authoringFault', () => {
  it('authoringFault returns the fault of a condition that the engine does not accept', () => {
    for (const [operator, value] of [
      ['eqals', '1'],
      ['gt', 'four'],
      ['contains', '[{}]'],
      ['in', '[null]'],
      ['matches', '('],
      ['in_cidr', '[]'],
    ] as const) {
      const fault = conditionFault({ attribute: 'a', operator, value }, EXTENSIONS)
      expect(faultOf(operator, value)).toBe(fault ?? 'a fault')
    }
    expect(authoringFault({ attribute: 'a', operator: 'matches', value: 'a' })).toBe(
      '"matches" requires the regex engine, which is not available.',
    )
    expect(faultOf('in_bucket', '{"salt": "s", "ranges": [], "scheme": "x"}')).toBe(
      '"in_bucket" requires the bucketing scheme "x", which is not available.',
    )
  })

  it('authoringFault returns a sentence for a value that is not a condition, and never throws', () => {
    for (const garbage of [undefined, null, 1, {}, { attribute: 'a', operator: 'in', value: 1 }]) {
      expect(authoringFault(garbage as never)).toMatch(/^The attribute, the operator and the value/)
    }
    expect(faultOf('elem_match', '[{"attribute": "a", "operator": 7, "value": "b"}]')).toMatch(
      /^The value of "elem_match" must be a JSON array of at most/,
    )
    expect(faultOf('between', '[true, 2]')).toBe(
      'The value of "between" must be a JSON array of two numbers, the lower one first.',
    )
  })

  it.each([
    ['eq', '[draft'],
    ['eq', 'pro,team'],
    ['str_gt', `[${INEXACT}]`],
    ['exists', `[${INEXACT}]`],
    ['matches', `[${INEXACT}]`],
    ['contains', 'a, b'],
    ['contains', 'a [draft]'],
    ['starts_with', '["[draft]"]'],
    ['in', '["pro,team", "free"]'],
    ['in', ' ["pro"] '],
    ['in', 'pro'],
    ['in', ''],
    ['in', '[1, 1.5, 1e3, true, {"a": 9007199254740991}]'],
    ['in', `["${INEXACT}"]`],
    ['in', INEXACT],
    ['eq', INEXACT],
    ['eq', `"${INEXACT}"`],
    ['eq', '{"a": [0.1, -9007199254740991]}'],
    ['gt', '9007199254740991'],
    ['gt', '0.30000000000000004'],
    ['between', '["-1e3", 9007199254740991]'],
    ['before', '2024-06-01T12:00:00Z'],
    ['before', '1717243200000'],
    ['modulo', '10|3'],
    ['array_size', '{"op": "gte", "value": 2}'],
    ['in_cidr', '10.0.0.0/8'],
    ['not_in_cidr', '["10.0.0.0/8", "2001:db8::1"]'],
    ['not_in_segment', '[]'],
    ['in_bucket', '{"salt": "a,b", "ranges": [[0, 5000]]}'],
    ['elem_match', '[{"attribute": "a", "operator": "in", "value": ["x", "y"]}]'],
  ])('authoringFault accepts the operator %s with the value %j', (operator, value) => {
    expect(faultOf(operator, value)).toBeUndefined()
  })

  it.each(operatorsOf('list', 'texts', 'network', 'versions', 'types'))(
    'The value of %s is refused if it starts with a bracket but is not a JSON array',
    (operator) => {
      for (const value of ['[draft]', ' \n["a",]', '["a"', '[', '[pro, team]']) {
        expect(faultOf(operator, value)).toContain(
          `The value of "${operator}" starts with "[" but is not a JSON array.`,
        )
      }
    },
  )

  it('The fault of a text that starts with a bracket contains the list to write instead', () => {
    expect(faultOf('contains', '[draft]')).toBe(
      'The value of "contains" starts with "[" but is not a JSON array. To compare with this text, write ["[draft]"].',
    )
  })

  it('A membership operator refuses text with a comma and without brackets', () => {
    for (const operator of ['in', 'not_in', 'in_ci', 'not_in_ci']) {
      expect(faultOf(operator, 'pro, team')).toBe(
        `The value of "${operator}" contains a comma but is not a JSON array. For a list, write ["pro","team"]; for one text, write ["pro, team"].`,
      )
    }
    expect(faultOf('in', '{"a":1,"b":2}')).toBe(
      'The value of "in" contains a comma but is not a JSON array. Write [{"a":1,"b":2}].',
    )
  })

  it.each([
    ['10.0.0.0/33', '"10.0.0.0/33"', false],
    ['["10.0.0.0/8", "10.0.0.0/33"]', '"10.0.0.0/33"', false],
    ['["10.0.0.0/8", "010.0.0.1"]', '"010.0.0.1"', false],
    ['10.0.0.0/8, 11.0.0.0/8', '"10.0.0.0/8, 11.0.0.0/8"', true],
    ['["10.0.0.0/8 11.0.0.0/8"]', '"10.0.0.0/8 11.0.0.0/8"', true],
    ['', '""', false],
  ])('The fault of the network list %j names the invalid entry', (value, entry, isSeveral) => {
    for (const operator of ['in_cidr', 'not_in_cidr']) {
      const advice = isSeveral ? ' Write a list as a JSON array.' : ''
      expect(faultOf(operator, value)).toBe(
        `The value of "${operator}" has the entry ${entry}, which is neither an IP address nor a network in CIDR notation.${advice}`,
      )
    }
  })

  it.each<readonly [operator: string, value: string]>([
    ...operatorsOf('number').map((operator) => [operator, INEXACT] as const),
    ['gt', ` -${INEXACT} `],
    ['gt', '9007199254740992'],
    ['gt', '1e21'],
    ['between', `[0, ${INEXACT}]`],
    ['between', `[0, "${INEXACT}"]`],
    ['modulo', `${INEXACT}|1`],
    ['modulo', `2|${INEXACT}`],
    ['array_size', INEXACT],
    ['array_size', `{"op": "lt", "value": "${INEXACT}"}`],
    ['before', INEXACT],
    ['after', `-${INEXACT}`],
  ])(
    'The operator %s refuses an integer that a double cannot represent exactly: %s',
    (operator, value) => {
      expect(faultOf(operator, value)).toBe(
        `The value of "${operator}" has an integer that cannot be represented exactly. ${BEYOND}`,
      )
    },
  )

  it.each([
    ['in', `[${INEXACT}]`],
    ['not_in_ci', `[[{"a": ${INEXACT}}]]`],
    ['in', '[1e400]'],
    ['contains', `["a", ${INEXACT}]`],
    ['eq', `{"a": ${INEXACT}}`],
    ['neq', `[[${INEXACT}]]`],
    ['eq_ci', `[-${INEXACT}]`],
    ['array_contains_all', `[${INEXACT}]`],
    ['in_segment', `[${INEXACT}]`],
  ])(
    'The operator %s refuses JSON with a number that a double cannot represent exactly: %s',
    (operator, value) => {
      expect(faultOf(operator, value)).toBe(
        `The value of "${operator}" has an integer that cannot be represented exactly. Write it as text.`,
      )
    },
  )

  it('authoringFault checks conditions on elements in the same way, at all depths', () => {
    const nested = (condition: object) =>
      JSON.stringify([
        { attribute: '', operator: 'exists' },
        { attribute: '', ...condition },
      ])
    const inner = { operator: 'not_in_cidr', value: ['10.0.0.0/8', 'x'] }
    expect(faultOf('elem_match', nested(inner))).toMatch(
      /^Condition 1 in the value of "elem_match": The value of "not_in_cidr" has the entry "x"/,
    )
    const twice = { operator: 'elem_match', value: nested({ operator: 'in', value: 'a,b' }) }
    expect(faultOf('elem_match', nested(twice))).toMatch(
      /^Condition 1 .*: Condition 1 .*: The value of "in" contains a comma/,
    )
    expect(faultOf('elem_match', nested({ operator: 'gt', value: INEXACT }))).toContain(BEYOND)
    const number = `[{"attribute": "", "operator": "eq", "value": ${INEXACT}}]`
    expect(faultOf('elem_match', number)).toContain('cannot be represented exactly')
  })

  it('authoringFault returns the fault of conditionFault for conditions that are nested too deeply', () => {
    let value = '[{"attribute": "", "operator": "in", "value": "a,b"}]'
    for (let depth = 0; depth < 4; depth += 1) {
      value = `[{"attribute": "", "operator": "elem_match", "value": ${value}}]`
    }
    expect(faultOf('elem_match', value)).toMatch(/^The value of "elem_match" must be a JSON array/)
  })

  it('authoringFault returns a short sentence for a long or deeply nested value', () => {
    const deep = `${'['.repeat(30_000)}${INEXACT}${']'.repeat(30_000)}`
    expect(faultOf('eq', deep)).toContain('cannot be represented exactly')
    expect(faultOf('in', 'pro,'.repeat(16_000))?.length).toBeLessThan(1000)
    expect(faultOf('in', `[${'x'.repeat(60_000)}`)?.length).toBeLessThan(1000)
  })

  it('The operators with special checks exist', () => {
    for (const name of ['in', 'not_in', 'in_ci', 'not_in_ci', 'eq', 'neq', 'eq_ci']) {
      expect(isOperator(name)).toBe(true)
    }
  })
})

describe('isExactNumber', () => {
  it('isExactNumber returns true only for finite fractions and for integers between -2^53 and 2^53', () => {
    for (const number of [0, -0, 0.1, 1e-300, 2 ** 53 - 1, 1 - 2 ** 53]) {
      expect(isExactNumber(number)).toBe(true)
    }
    for (const number of [2 ** 53, -(2 ** 53), 1e21, Infinity, -Infinity, Number.NaN]) {
      expect(isExactNumber(number)).toBe(false)
    }
  })
})

describe('authoringFault for brackets and conditions in other values', () => {
  it('Only operators that accept any text suggest how to compare with an opening bracket', () => {
    const suggestion = 'To compare with this text, write ["[1.0"].'
    const fault = (operator: string) => {
      return `The value of "${operator}" starts with "[" but is not a JSON array.`
    }
    for (const operator of ['in', 'contains', 'in_segment']) {
      expect(faultOf(operator, '[1.0')).toBe(`${fault(operator)} ${suggestion}`)
    }
    for (const operator of ['semver_in', 'in_cidr', 'is_type']) {
      expect(faultOf(operator, '[1.0')).toBe(fault(operator))
    }
  })

  it('Only elem_match reads its value as conditions', () => {
    const value = '[{"attribute": "x", "operator": "like", "value": "y"}]'
    expect(faultOf('elem_match', value)).toContain('There is no operator "like".')
    expect(faultOf('eq', value)).toBeUndefined()
  })
})
