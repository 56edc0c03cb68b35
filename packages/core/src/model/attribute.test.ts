import { describe, expect, it } from 'vitest'
import { findAttribute, findBucketingKey, findContextKey } from './attribute.ts'
import {
  type EvaluationContext,
  MAX_CONTEXT_NESTING,
  MAX_KIND_LENGTH,
  parseContext,
} from './context.ts'

const user = (attributes: object): EvaluationContext =>
  parseContext({ kind: 'user', ...attributes })

describe('findAttribute', () => {
  it('findAttribute returns undefined for every reference in the empty context, even for kind', () => {
    for (const reference of ['', 'kind', 'key', 'user.key', 'toString', '/']) {
      expect(findAttribute({}, reference)).toBeUndefined()
    }
  })

  it('An exact name takes precedence over a path, and a path over a leading kind', () => {
    const nested = { user: { plan: 'path' }, plan: 'kind' }
    expect(findAttribute(user({ ...nested, 'user.plan': 'name' }), 'user.plan')).toBe('name')
    expect(findAttribute(user(nested), 'user.plan')).toBe('path')
    expect(findAttribute(user({ plan: 'kind' }), 'user.plan')).toBe('kind')
  })

  it('A reference can have an exact name with dots after a leading kind', () => {
    expect(findAttribute(user({ 'a.b': 1 }), 'user.a.b')).toBe(1)
  })

  it('A reference can have a kind with dots in its name', () => {
    const context = parseContext({ kind: 'multi', 'a.b': { c: 1 }, a: { x: { c: 2 } } })
    expect(findAttribute(context, 'a.b.c')).toBe(1)
    expect(findAttribute(context, 'a.x.c')).toBe(2)
    const deep = parseContext({ kind: 'multi', 'a.b': { c: { d: { e: 3 } } } })
    expect(findAttribute(deep, 'a.b.c.d.e')).toBe(3)
  })

  it('The attribute kind of a multi context is the list of its kinds, user first', () => {
    const context = parseContext({ kind: 'multi', zoo: {}, user: {}, app: {} })
    expect(findAttribute(context, 'kind')).toEqual(['user', 'app', 'zoo'])
    expect(findAttribute(user({}), 'kind')).toBe('user')
  })

  it('An attribute of a multi context is that of the user, or of the first kind by code point', () => {
    const kinds = ['user', 'a', 'b', '～', '😀'].map(
      (kind, at) => [kind, { plan: at + 1 }] as const,
    )
    for (let from = 0; from < kinds.length; from += 1) {
      const rest = kinds.slice(from)
      for (const parts of [rest, rest.toReversed()]) {
        const context = parseContext({ kind: 'multi', ...Object.fromEntries(parts) })
        expect(findAttribute(context, 'plan')).toBe(from + 1)
      }
    }
    const age = parseContext({ kind: 'multi', user: { plan: 1 }, b: { age: 2 } })
    expect(findAttribute(age, 'age')).toBe(2)
  })

  it('In a multi context, an exact name in any kind takes precedence over a path in the first kind', () => {
    const context = parseContext({ kind: 'multi', user: { a: { b: 1 } }, zoo: { 'a.b': 2 } })
    expect(findAttribute(context, 'a.b')).toBe(2)
    expect(findAttribute(context, 'user.a.b')).toBe(1)
    expect(findAttribute(context, '/a/b')).toBe(1)
  })

  it('A reference can begin with a kind of the maximum length', () => {
    const kind = '😀'.repeat(MAX_KIND_LENGTH)
    expect(findAttribute(parseContext({ kind, plan: 'pro' }), `${kind}.plan`)).toBe('pro')
  })

  it('The kind of a part of a multi context is found even if the part does not contain it', () => {
    const context = parseContext({ kind: 'multi', user: {} })
    expect(findAttribute(context, 'user.kind')).toBe('user')
    expect(findAttribute(context, '/user/kind')).toBe('user')
  })

  it('A JSON pointer is unescaped, but an attribute with the unparsed name takes precedence', () => {
    const context = user({ 'a/b': { '~c': 1 }, '': 2, '/x': 3, x: 4 })
    expect(findAttribute(context, '/a~1b/~0c')).toBe(1)
    expect(findAttribute(context, '/')).toBe(2)
    expect(findAttribute(context, '/x')).toBe(3)
    expect(findAttribute(context, '/user/x')).toBe(4)
    expect(findAttribute(user({ x: { y: 5 } }), '/user/x/y')).toBe(5)
    expect(findAttribute(user({ '~1': 5 }), '/~01')).toBe(5)
  })

  it('findAttribute treats null as missing at every step', () => {
    const context = parseContext({ kind: 'multi', user: { plan: null }, app: { plan: 'x' } })
    expect(findAttribute(context, 'plan')).toBe('x')
    expect(findAttribute(user({ plan: null }), 'plan')).toBeUndefined()
  })

  it('An attribute with the name undefined is read only by that name', () => {
    const context = user({ undefined: 1 })
    expect(findAttribute(context, 'undefined')).toBe(1)
    expect(findAttribute(context, 'plan')).toBeUndefined()
    expect(findAttribute(context, '/user/a/b')).toBeUndefined()
  })

  it('findAttribute never reads inherited properties', () => {
    const context = user({ address: {}, list: [1], text: 'x' })
    const inherited = [
      'constructor',
      '__proto__',
      'address.constructor',
      'list.length',
      'text.length',
    ]
    for (const reference of [...inherited, 'list.0', '/list/0', 'user.toString']) {
      expect(findAttribute(context, reference)).toBeUndefined()
    }
    const own = user(JSON.parse('{"__proto__": {"plan": "pro"}}'))
    expect(findAttribute(own, '__proto__.plan')).toBe('pro')
  })

  it('findAttribute follows a path to the deepest level of a context', () => {
    let deepest: object = { last: 1 }
    for (let level = 2; level < MAX_CONTEXT_NESTING; level += 1) deepest = { a: deepest }
    const path = `${'a.'.repeat(MAX_CONTEXT_NESTING - 2)}last`
    expect(findAttribute(user({ b: deepest }), `b.${path}`)).toBe(1)
    expect(findAttribute(user({ b: deepest }), `user.b.${path}`)).toBe(1)
  })

  it('findAttribute accepts references that are longer than any context', () => {
    expect(findAttribute(user({}), '.'.repeat(100_000))).toBeUndefined()
    expect(findAttribute(user({}), '/'.repeat(100_000))).toBeUndefined()
  })
})

describe('findBucketingKey', () => {
  it.each([
    ['text', ' User-1 ', ' User-1 '],
    ['a safe integer', 12345, '12345'],
    ['minus zero', -0, '0'],
    ['the largest safe integer', 2 ** 53 - 1, '9007199254740991'],
    ['a fraction', 1.5, undefined],
    ['an unsafe integer', 2 ** 53, undefined],
    ['empty text', '', undefined],
    ['a boolean', true, undefined],
    ['a list', ['a'], undefined],
    ['null', null, undefined],
  ])('findBucketingKey for %s, %j, returns %j', (_, id, key) => {
    expect(findBucketingKey(user({ id }), 'id')).toBe(key)
  })

  it('The reference user.key, and no other, falls back to the key of a single context', () => {
    const device = parseContext({ kind: 'device', key: 'd-1' })
    expect(findBucketingKey(device, 'user.key')).toBe('d-1')
    expect(findBucketingKey(device, 'organization.key')).toBeUndefined()
    const multi = parseContext({ kind: 'multi', device: { key: 'd-1' } })
    expect(findBucketingKey(multi, 'user.key')).toBeUndefined()
  })

  it('An attribute named user.key, or the key of a nested user, takes precedence over the key of the context', () => {
    const within = parseContext({ kind: 'device', key: 'd-1', user: { key: 'u-1' } })
    expect(findBucketingKey(within, 'user.key')).toBe('u-1')
    const named = parseContext({ kind: 'device', key: 'd-1', 'user.key': 'u-3' })
    expect(findBucketingKey(named, 'user.key')).toBe('u-3')
    const inPart = parseContext({ kind: 'multi', device: { 'user.key': 'u-4' } })
    expect(findBucketingKey(inPart, 'user.key')).toBe('u-4')
    const both = parseContext({ ...within, 'user.key': 'u-2' })
    expect(findBucketingKey(both, 'user.key')).toBe('u-2')
    const neither = parseContext({ kind: 'device', key: 'd-1', user: 'u-1', 'user.key': null })
    expect(findBucketingKey(neither, 'user.key')).toBe('d-1')
  })
})

describe('findContextKey', () => {
  it('findContextKey returns the key of the context of a kind, also in a multi context', () => {
    expect(findContextKey(user({ key: 'u' }), 'user')).toBe('u')
    expect(findContextKey(user({ key: 'u' }), 'organization')).toBeUndefined()
    const multi = parseContext({ kind: 'multi', user: { key: 7 }, organization: {} })
    expect(findContextKey(multi, 'user')).toBe('7')
    expect(findContextKey(multi, 'organization')).toBeUndefined()
    expect(findContextKey(multi, 'kind')).toBeUndefined()
    expect(findContextKey({}, 'user')).toBeUndefined()
  })
})
