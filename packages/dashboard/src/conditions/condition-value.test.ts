import { describe, expect, it } from 'vitest'
import {
  changeOperator,
  fitsLines,
  linesOf,
  listFromLines,
  rangeFrom,
  rangeOf,
  valueFault,
  valueFor,
} from './condition-value.ts'
import { caseTwin, operatorOptions, valueKindOf } from './operator-kind.ts'

describe('Lists', () => {
  it('Pasted lines become a JSON array without empty lines and repetitions', () => {
    expect(listFromLines('pro\r\n team \n\npro\n')).toBe('["pro","team"]')
    expect(linesOf('["pro","team"]')).toBe('pro\nteam')
    expect(listFromLines(' \n')).toBe('')
  })

  it('A text that looks like an array is kept as one item', () => {
    expect(linesOf(listFromLines('[1]'))).toBe('[1]')
    expect(linesOf('pro')).toBe('pro')
  })

  it('A list with an empty item or a line break is not shown as lines', () => {
    expect(fitsLines('["a",""]')).toBe(false)
    expect(fitsLines('["a\\nb"]')).toBe(false)
    expect(fitsLines('["a","b"]')).toBe(true)
  })
})

describe('Ranges', () => {
  it('A range is read from its limits, and its order is checked', () => {
    expect(rangeFrom('1', '2.5')).toBe('[1,2.5]')
    expect(rangeOf('[1,2.5]')).toEqual(['1', '2.5'])
    expect(valueFault('between', rangeFrom('3', '2'))).toMatch(/less than the first/)
    expect(valueFault('between', rangeFrom('3', ''))).toMatch(/must be a number/)
  })
})

describe('valueFault', () => {
  it.each([
    ['gt', 'six', /must be a number/],
    ['gt', '9007199254740993', /beyond/],
    ['gt', '1e3', undefined],
    ['array_size', '{"op":"gt","value":1}', undefined],
    ['before', 'tomorrow', /date/],
    ['before', '2024-06-01T12:00:00Z', undefined],
    ['before', '1717243200000', undefined],
    ['semver_gt', '1.2.3-rc.1', undefined],
    ['semver_gt', '1.2.3.4', /version/],
    ['semver_in', '["1.2","x"]', /version/],
    ['matches', '[a', /not a valid pattern/],
    ['matches', '(?i)^a', undefined],
    ['matches', '(?P<name>a)', undefined],
    ['matches', 'a(?=b)', /look-around/],
    ['matches', '(a)\\1', /back-reference/],
    ['matches', '\\\\1', undefined],
    ['elem_match', '[', /JSON/],
    ['eq', '[', undefined],
  ])('The value of %s %s has the expected fault', (operator, value, fault) => {
    const found = valueFault(operator, value)
    if (fault === undefined) expect(found).toBeUndefined()
    else expect(found).toMatch(fault)
  })
})

describe('Operators', () => {
  it('A value is kept for another operator if it fits', () => {
    expect(valueFor('in', 'eq', 'pro')).toBe('["pro"]')
    expect(valueFor('eq', 'in', '["pro","team"]')).toBe('pro')
    expect(valueFor('gt', 'eq', 'pro')).toBe('')
    expect(valueFor('gte', 'gt', '5')).toBe('5')
    expect(valueFor('exists', 'eq', 'pro')).toBe('')
  })

  it('The operators for values of the same type are listed first, each pair of cases once', () => {
    const ids = operatorOptions('gt').map(({ id }) => id)
    expect(ids.slice(0, 4).map(valueKindOf)).toEqual(['number', 'number', 'number', 'number'])
    const frequent = ['eq', 'neq', 'in', 'not_in', 'contains', 'starts_with', 'ends_with']
    expect(
      operatorOptions('eq')
        .map(({ id }) => id)
        .slice(0, 7),
    ).toEqual(frequent)
    expect(ids).not.toContain('eq_ci')
    expect(new Set(ids).size).toBe(ids.length)
    expect(caseTwin('contains')).toBe('contains_ci')
    expect(caseTwin('contains_ci')).toBe('contains')
    expect(caseTwin('gt')).toBeUndefined()
  })
})

describe('changeOperator', () => {
  const LIST = '["de","at","ch"]'

  it('The values of a list come back after another operator was chosen and left again', () => {
    for (const other of ['eq', 'gt', 'before', 'exists', 'matches', 'between']) {
      const list = { operator: 'in', value: LIST }
      const away = changeOperator(other, list, new Map())
      const back = changeOperator('in', { operator: other, value: away.value }, away.replaced)
      expect([other, back.value]).toEqual([other, LIST])
    }
  })

  it('They come back over several operators, but not after the value was edited', () => {
    const first = changeOperator('eq', { operator: 'in', value: LIST }, new Map())
    const second = changeOperator('gt', { operator: 'eq', value: first.value }, first.replaced)
    const third = changeOperator('eq', { operator: 'gt', value: second.value }, second.replaced)
    const back = changeOperator('in', { operator: 'eq', value: third.value }, third.replaced)
    expect([first.value, second.value, third.value, back.value]).toEqual(['de', '', 'de', LIST])
    const edited = changeOperator('in', { operator: 'eq', value: 'fr' }, third.replaced)
    expect(edited.value).toBe('["fr"]')
  })
})
