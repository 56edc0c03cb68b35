import { describe, expect, it } from 'vitest'
import { fromOpenFeatureContext } from './ofrep.ts'

describe('The context of an OpenFeature client', () => {
  it.each([
    ['no attributes', {}, {}],
    ['a targeting key', { targetingKey: 'u' }, { kind: 'user', key: 'u' }],
    ['attributes', { targetingKey: 'u', plan: 'pro' }, { kind: 'user', key: 'u', plan: 'pro' }],
    ['no targeting key', { plan: 'pro' }, { kind: 'user', plan: 'pro' }],
    ['a key besides', { targetingKey: 'u', key: 'v' }, { kind: 'user', key: 'u' }],
    ['only a key', { key: 'v' }, { kind: 'user', key: 'v' }],
    ['a kind', { kind: 'org', key: 'o' }, { kind: 'org', key: 'o' }],
    ['a kind and a targeting key', { kind: 'org', targetingKey: 'o' }, { kind: 'org', key: 'o' }],
    ['a kind and both', { kind: 'org', targetingKey: 'u', key: 'o' }, { kind: 'org', key: 'o' }],
    ['a wrong kind', { kind: 3, targetingKey: 'u' }, { kind: 3, key: 'u' }],
    [
      'several kinds',
      { kind: 'multi', targetingKey: 'u', user: { targetingKey: 'u' }, org: { key: 'o' }, x: 1 },
      { kind: 'multi', user: { key: 'u' }, org: { key: 'o' }, x: 1 },
    ],
  ])('A context with %s is converted', (_, context, expected) => {
    expect(fromOpenFeatureContext(context)).toEqual(expected)
  })

  it('A property `__proto__` stays a property', () => {
    const context = JSON.parse('{"__proto__":{"kind":"org"},"targetingKey":"u"}')
    const converted = fromOpenFeatureContext(context)
    expect(Object.keys(converted)).toEqual(['__proto__', 'kind', 'key'])
    expect(Object.getPrototypeOf(converted)).toBe(Object.prototype)
  })
})
