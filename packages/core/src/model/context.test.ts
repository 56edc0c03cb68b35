import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../../test/deep-freeze.ts'
import {
  MAX_CONTEXT_ATTRIBUTES,
  MAX_CONTEXT_KINDS,
  MAX_CONTEXT_NESTING,
  MAX_CONTEXT_TEXT_LENGTH,
  parseContext,
} from './context.ts'
import { isFlagError } from './errors.ts'

/** Returns the paths of the issues. Empty for a valid context. */
function refused(input: unknown): unknown {
  try {
    parseContext(input)
    return []
  } catch (error) {
    if (!isFlagError(error) || error.code !== 'INVALID_CONTEXT') throw error
    const issues = error.details?.issues as { path: string; message: string }[]
    expect(error.message).toBe(`${issues[0]?.path} ${issues[0]?.message}`)
    return issues.map(({ path }) => path)
  }
}

/** Returns a context of nested objects. The context itself is the first level. */
function nested(levels: number): unknown {
  let value: unknown = { kind: 'user' }
  for (let level = 1; level < levels; level += 1) value = { kind: 'user', a: value }
  return value
}

describe('parseContext', () => {
  it.each([
    ['the empty context', {}],
    ['a kind alone', { kind: 'user' }],
    ['a kind of 64 characters of two units each', { kind: '😀'.repeat(64) }],
    ['a text key', { kind: 'user', key: 'u-1' }],
    ['an empty key', { kind: 'user', key: '' }],
    ['an integer as key', { kind: 'user', key: -7 }],
    ['a null key', { kind: 'user', key: null }],
    ['any attributes', { kind: 'user', a: null, b: [1, 'x', { c: [[]] }], d: undefined }],
    ['one part', { kind: 'multi', user: {} }],
    ['parts of any kind', { kind: 'multi', user: { kind: 'user', key: 1 }, device: { x: 1 } }],
    ['a part of an odd kind', JSON.parse('{"kind": "multi", "__proto__": {"key": "x"}}')],
    ['an object without a prototype', Object.assign(Object.create(null), { kind: 'user' })],
    ['the deepest nesting', nested(MAX_CONTEXT_NESTING)],
    ['long lists', { kind: 'user', list: new Array(1_998).fill('x') }],
  ])('parseContext accepts %s and returns the same object', (_, input) => {
    expect(parseContext(deepFreeze(input))).toBe(input)
  })

  it.each([
    ['null', null, ['context']],
    ['text', 'user', ['context']],
    ['a list', [], ['context']],
    ['an instance of a class', new Map(), ['context']],
    ['a missing kind', { key: 'u' }, ['context.kind']],
    ['an empty kind', { kind: '' }, ['context.kind']],
    ['a kind that is not text', { kind: 1 }, ['context.kind']],
    ['an inherited kind', JSON.parse('{"__proto__": {"kind": "user"}}'), ['context.kind']],
    ['a kind of 65 characters', { kind: 'x'.repeat(65) }, ['context.kind']],
    ['a fraction as key', { kind: 'user', key: 1.5 }, ['context.key']],
    ['an unsafe integer as key', { kind: 'user', key: 2 ** 53 }, ['context.key']],
    ['a boolean as key', { kind: 'user', key: true }, ['context.key']],
    ['a multi context without parts', { kind: 'multi' }, ['context']],
    ['a part that is text', { kind: 'multi', user: 'u' }, ['context.user']],
    ['a part that is null', { kind: 'multi', user: null }, ['context.user']],
    ['a key beside parts', { kind: 'multi', key: 'u', user: {} }, ['context.key']],
    ['a part of another kind', { kind: 'multi', user: { kind: 'bot' } }, ['context.user.kind']],
    ['a bad key in a part', { kind: 'multi', user: { key: [] } }, ['context.user.key']],
    ['a multi context in a multi context', { kind: 'multi', multi: {} }, ['context.multi']],
    ['a part without a name', { kind: 'multi', '': {} }, ['context.']],
    [
      'several faults at once',
      { kind: '', key: {}, n: NaN },
      ['context.kind', 'context.key', 'context.n'],
    ],
    ['one level too deep', nested(MAX_CONTEXT_NESTING + 1), [`context${'.a'.repeat(32)}`]],
    ['a function', { kind: 'user', f: () => 1 }, ['context.f']],
    ['a symbol', { kind: 'user', s: Symbol('s') }, ['context.s']],
    ['a bigint', { kind: 'user', a: { b: 1n } }, ['context.a.b']],
    ['an infinite number', { kind: 'user', list: [1, Infinity] }, ['context.list.1']],
    ['a date', { kind: 'user', at: new Date(0) }, ['context.at']],
    ['a hole in a list', { kind: 'user', list: [undefined] }, ['context.list.0']],
  ])('parseContext refuses %s and names the path', (_, input, paths) => {
    expect(refused(input)).toEqual(paths)
  })

  it.each([
    [null, 'context must be an object'],
    [{ kind: 1 }, 'context.kind must be a string, such as "user"'],
    [
      { kind: 'user', key: 1.5 },
      'context.key must be a string or an integer of at most 2^53 - 1, such as "user-1"',
    ],
    [{ kind: '' }, 'context.kind must not be empty'],
    [{ kind: 'x'.repeat(65) }, 'context.kind must have at most 64 characters'],
    [{ kind: 'multi' }, 'context must have at least one kind'],
    [{ kind: 'multi', user: 1 }, 'context.user must be an object with the attributes of this kind'],
    [{ kind: 'multi', user: { kind: 'x' } }, 'context.user.kind must be `user`, or absent'],
    [{ kind: 'multi', multi: {} }, 'context.multi must not be a multi context'],
    [{ kind: 'user', at: new Date(0) }, 'context.at must be a JSON value'],
    [{ kind: 'user', list: new Array(2000).fill({}) }, 'context must not have more than 2000'],
  ])('parseContext refuses %o with a message that contains %j', (input, message) => {
    expect(() => parseContext(input)).toThrow(message)
  })

  it('Levels of lists count like levels of objects', () => {
    const listed = (levels: number) => {
      let value: unknown = []
      for (let level = 2; level < levels; level += 1) value = [value]
      return { kind: 'user', a: value }
    }
    expect(refused(listed(MAX_CONTEXT_NESTING))).toEqual([])
    expect(() => parseContext(listed(MAX_CONTEXT_NESTING + 1))).toThrow('more than 32 levels deep')
  })

  it('Attributes and elements of lists count at all depths', () => {
    const wide = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, index]))
    const most = MAX_CONTEXT_ATTRIBUTES
    expect(refused({ kind: 'user', ...wide(most - 1) })).toEqual([])
    expect(refused({ kind: 'user', ...wide(most) })).toEqual(['context'])
    expect(refused({ kind: 'user', a: wide(most - 2) })).toEqual([])
    expect(refused({ kind: 'user', a: wide(most - 1) })).toEqual(['context'])
    for (const element of [1, 'a', null, [], {}]) {
      expect(refused({ kind: 'user', a: new Array(most - 2).fill(element) })).toEqual([])
      expect(refused({ kind: 'user', a: new Array(most - 1).fill(element) })).toEqual(['context'])
    }
  })

  it('parseContext refuses text of more than 8,192 UTF-16 units at any depth', () => {
    const most = MAX_CONTEXT_TEXT_LENGTH
    expect(most).toBe(8192)
    const longest = '\u{1f600}'.repeat(most / 2)
    expect(refused({ kind: 'user', key: longest, a: longest, b: [{ c: longest }] })).toEqual([])
    const tooLong = `${longest}a`
    expect(refused({ kind: 'user', key: tooLong })).toEqual(['context.key'])
    expect(refused({ kind: 'user', a: tooLong, b: [{ c: tooLong }] })).toEqual([
      'context.a',
      'context.b.0.c',
    ])
    expect(refused({ kind: 'multi', user: { a: [tooLong] } })).toEqual(['context.user.a.0'])
    expect(() => parseContext({ kind: 'user', a: tooLong })).toThrow(
      'context.a must have at most 8192 UTF-16 units (got 8193)',
    )
  })

  it('parseContext accepts up to 32 kinds in a multi context', () => {
    const kinds = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`kind-${index}`, {}]))
    expect(refused({ kind: 'multi', ...kinds(MAX_CONTEXT_KINDS) })).toEqual([])
    expect(refused({ kind: 'multi', ...kinds(MAX_CONTEXT_KINDS + 1) })).toEqual(['context'])
    expect(() => parseContext({ kind: 'multi', ...kinds(33) })).toThrow('more than 32 kinds')
  })

  it('parseContext terminates for objects and lists that contain themselves', () => {
    const object: Record<string, unknown> = { kind: 'user' }
    object.a = object
    object.b = object
    const list: unknown[] = []
    list.push(list, list, list)
    expect(refused(object)).not.toEqual([])
    expect(refused({ kind: 'user', list })).not.toEqual([])
  })

  it('parseContext reports at most 20 issues', () => {
    expect(refused({ kind: 'user', list: new Array(100).fill(NaN) })).toHaveLength(20)
  })
})
