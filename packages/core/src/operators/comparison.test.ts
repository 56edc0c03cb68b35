import { describe, expect, it } from 'vitest'
import { table } from '../../test/operator-table.ts'
import { conditionFault } from '../authoring/condition-fault.ts'
import { MAX_PARSED_LENGTH } from './comparison.ts'

describe('Number operators', () => {
  table([
    [5, 'gt', '4', true],
    [5, 'gt', '5', false],
    [5, 'gte', '5', true],
    [5, 'gte', '6', false],
    [5, 'lt', '6', true],
    [5, 'lt', '5', false],
    [5, 'lte', '5', true],
    [5, 'lte', '4', false],
    ['10', 'gt', '9', true],
    [' 10\n', 'gt', '9', true],
    ['10', 'gt', ' 9 ', true],
    ['+5', 'gte', '5', true],
    ['-5', 'lt', '0', true],
    ['.5', 'gt', '0', true],
    ['5.', 'lte', '5', true],
    ['1e3', 'gte', '1000', true],
    ['1E-3', 'lt', '1', true],
    ['.55', 'gt', '.54', true],
    ['1e10', 'gt', '1e9', true],
    ['0x10', 'gt', '1', false],
    ['1_000', 'gt', '1', false],
    ['1,000', 'gt', '0', false],
    ['٥', 'gt', '1', false],
    ['Infinity', 'gt', '1', false],
    ['1e999', 'gt', '1', false],
    ['', 'lt', '1', false],
    ['-', 'lt', '1', false],
    ['.', 'lt', '1', false],
    ['5 apples', 'gt', '1', false],
    [true, 'gt', '0', false],
    [{}, 'gt', '0', false],
    [5, 'gt', 'four', false],
    [5, 'gt', '', false],
    [5, 'gt', '[4]', false],
    [undefined, 'gt', '4', false],
    [[1, 5], 'gt', '4', true],
    [[1, 2], 'gt', '4', false],
    [[], 'gt', '4', false],
    [1, 'between', '[1, 3]', true],
    [3, 'between', '[1, 3]', true],
    [3.01, 'between', '[1, 3]', false],
    [0.99, 'between', '[1, 3]', false],
    ['2', 'between', '["1", "3"]', true],
    [2, 'between', '[2, 2]', true],
    [2, 'between', '[3, 1]', false],
    [2, 'between', '[1]', false],
    [2, 'between', '[1, 3, 5]', false],
    [2, 'between', '[1, null]', false],
    [2, 'between', '[]', false],
    [2, 'between', '1,3', false],
    ['two', 'between', '[1, 3]', false],
    [[0, 2], 'between', '[1, 3]', true],
    [[0, 4], 'between', '[1, 3]', false],
  ])
})

describe('before and after', () => {
  const noon = '2024-06-01T12:00:00Z'
  const noonMs = Date.parse(noon)
  table([
    ['2024-06-01T11:59:59.999Z', 'before', noon, true],
    ['2024-06-01T12:00:00.001Z', 'after', noon, true],
    [noon, 'before', noon, false],
    [noon, 'after', noon, false],
    ['2024-06-01T14:00:00+02:00', 'before', noon, false],
    ['2024-06-01T14:00:00+02:00', 'after', noon, false],
    ['2024-06-01T14:00:00+03:00', 'before', noon, true],
    [noonMs - 1, 'before', noon, true],
    [noonMs, 'after', noon, false],
    [noonMs + 1, 'after', noon, true],
    [noonMs + 1, 'after', String(noonMs), true],
    ['2024-06-01T12:00:00.001Z', 'after', String(noonMs), true],
    [-1, 'before', '1970-01-01T00:00:00Z', true],
    [String(noonMs + 1), 'after', noon, false],
    ['2024-06-02', 'after', noon, false],
    ['2024-06-02T00:00:00', 'after', noon, false],
    ['tomorrow', 'after', noon, false],
    [true, 'after', noon, false],
    [undefined, 'before', noon, false],
    [noonMs, 'after', '2024-05-01', false],
    [noonMs, 'before', '[1]', false],
    [['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'], 'after', noon, true],
    [['2020-01-01T00:00:00Z'], 'after', noon, false],
  ])
})

describe('Semantic version operators', () => {
  table([
    ['v1.2', 'semver_eq', '1.2.0+x', true],
    ['1.2.0-rc.1', 'semver_eq', '1.2.0', false],
    ['1.10.0', 'semver_gt', '1.9.0', true],
    ['1.9.0', 'semver_gt', '1.9.0', false],
    ['1.9.0', 'semver_gte', '1.9', true],
    ['1.9.0-rc.1', 'semver_lt', '1.9.0', true],
    ['1.9.0', 'semver_lt', '1.9.0', false],
    ['1.9.0', 'semver_lte', '1.9.0', true],
    ['1.9.1', 'semver_lte', '1.9.0', false],
    ['2', 'semver_in', '["1.0.0", "2.0.0"]', true],
    ['2.0.0', 'semver_in', '2', true],
    ['2.0.0', 'semver_in', '[2]', true],
    ['3', 'semver_in', '["1.0.0", "2.0.0"]', false],
    ['3', 'semver_in', '[]', false],
    ['3', 'not_semver_in', '["1.0.0", "2.0.0"]', true],
    ['v2', 'not_semver_in', '["1.0.0", "2.0.0"]', false],
    ['3', 'not_semver_in', '[]', true],
    ['three', 'not_semver_in', '["1.0.0"]', false],
    ['3', 'not_semver_in', '["1.0.0", "two"]', false],
    ['2.7.1', 'semver_major_eq', '2', true],
    ['2.0.0-beta', 'semver_major_eq', '2.9.9', true],
    ['3.0.0', 'semver_major_eq', '2', false],
    ['2.7.1', 'semver_minor_eq', '2.7', true],
    ['2.8.1', 'semver_minor_eq', '2.7', false],
    ['3.7.1', 'semver_minor_eq', '2.7', false],
    ['01.2.3', 'semver_gt', '0', false],
    ['1.2.3.4', 'semver_gt', '0', false],
    [2, 'semver_gt', '1', false],
    [undefined, 'not_semver_in', '["1.0.0"]', false],
    ['2', 'semver_gt', 'one', false],
    ['2', 'semver_gt', '["1"]', false],
    [['1.0.0', '3.0.0'], 'semver_gt', '2.0.0', true],
    [['1.0.0', 'old'], 'not_semver_in', '["2"]', true],
    [['old'], 'not_semver_in', '["2"]', false],
  ])
})

describe('Operators on the order of texts', () => {
  table([
    ['b', 'str_gt', 'a', true],
    ['a', 'str_gt', 'a', false],
    ['a', 'str_gte', 'a', true],
    ['B', 'str_lt', 'a', true],
    ['a', 'str_lte', 'B', false],
    ['10', 'str_lt', '9', true],
    ['', 'str_lt', 'a', true],
    // By UTF-16 units, the emoji would precede the other character.
    ['\u{1f600}', 'str_gt', '\uffee', true],
    [10, 'str_lt', '9', false],
    [undefined, 'str_lt', '9', false],
  ])
})

describe('modulo', () => {
  table([
    [13, 'modulo', '10|3', true],
    ['13', 'modulo', ' 10 | 3 ', true],
    [-13, 'modulo', '10|-3', true],
    [-13, 'modulo', '10|3', false],
    [13, 'modulo', '-10|3', true],
    [-10, 'modulo', '10|0', true],
    [5.5, 'modulo', '2|1.5', true],
    [13, 'modulo', '0|0', false],
    [13, 'modulo', '10', false],
    [13, 'modulo', '10|3|1', false],
    [13, 'modulo', '10|x', false],
    ['x', 'modulo', '10|3', false],
  ])
})

describe('is_type', () => {
  table([
    ['', 'is_type', 'string', true],
    [0, 'is_type', 'number', true],
    ['0', 'is_type', 'number', false],
    [false, 'is_type', 'boolean', true],
    [[], 'is_type', 'array', true],
    [{}, 'is_type', 'object', true],
    [[], 'is_type', 'object', false],
    ['v1', 'is_type', 'semver', true],
    [1, 'is_type', 'semver', false],
    [1, 'is_type', '["string", "number"]', true],
    [['a'], 'is_type', 'string', false],
    [1, 'is_type', '["string", "nonsense"]', false],
    [{}, 'is_type', 'toString', false],
    [undefined, 'is_type', 'string', false],
  ])
})

describe('in_cidr', () => {
  table([
    ['10.1.2.3', 'in_cidr', '10.0.0.0/8', true],
    ['10.1.2.3', 'in_cidr', '["192.168.0.0/16", "10.1.2.3"]', true],
    ['10.1.2.3', 'in_cidr', '["10.0.0.0/99", "x"]', false],
    ['10.1.2.3', 'in_cidr', '["x", "10.0.0.0/8"]', true],
    ['10.1.2.3', 'not_in_cidr', '["10.0.0.0/99", "x"]', false],
    ['10.1.2.3', 'not_in_cidr', '["192.168.0.0/16", "x"]', false],
    ['10.1.2.3', 'not_in_cidr', '[]', false],
    ['10.1.2.3', 'in_cidr', '[]', false],
    ['10.1.2.3/32', 'in_cidr', '10.0.0.0/8', false],
    ['host', 'not_in_cidr', '10.0.0.0/8', false],
    [167_772_161, 'in_cidr', '10.0.0.0/8', false],
    [['x', '10.1.2.3'], 'in_cidr', '10.0.0.0/8', true],
  ])
})

describe('Text that is too long to be parsed', () => {
  const zeros = (length: number) => '0'.repeat(length)
  const digits = (length: number) => '1'.repeat(length)
  const timestamp = (length: number) => `2024-06-01T12:00:00.${zeros(length - 21)}Z`
  const [most, more] = [MAX_PARSED_LENGTH, MAX_PARSED_LENGTH + 1]
  table([
    [zeros(most), 'gte', '0', true],
    [zeros(more), 'gte', '0', false],
    [zeros(more), 'modulo', '2|0', false],
    [timestamp(most), 'after', '0', true],
    [timestamp(more), 'after', '0', false],
    [digits(most), 'semver_gt', '1', true],
    [digits(more), 'semver_gt', '1', false],
    [digits(more), 'not_semver_in', '1', false],
    [digits(more), 'is_type', 'semver', false],
    [digits(more), 'is_type', 'string', true],
    [digits(more), 'str_gte', '1', true],
    [digits(more), 'contains', '1', true],
  ])
})

describe('Values that their operator refuses', () => {
  it.each([
    ['between', '["a", 2]'],
    ['between', '[1, "b"]'],
    ['between', '[1]'],
    ['between', '[1, 2, 3]'],
    ['modulo', 'x|1'],
    ['modulo', '2|x'],
    ['modulo', '2'],
    ['modulo', '2|1|0'],
    ['is_type', '["string", "nonsense"]'],
  ])('The operator %s refuses the value %j', (operator, value) => {
    expect(conditionFault({ attribute: 'a', operator, value })).toContain(`"${operator}" must be`)
  })
})
