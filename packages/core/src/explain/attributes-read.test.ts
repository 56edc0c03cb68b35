import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../../test/deep-freeze.ts'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { ConditionDefinition, RolloutDefinition } from '../model/definition.ts'
import {
  attributesRead,
  attributesReadBy,
  knownAttributes,
  minimalContext,
} from './attributes-read.ts'

function condition(attribute: string, operator = 'eq', value = 'x'): ConditionDefinition {
  return { attribute, operator, value }
}

/** Returns a flag set of one flag with one rule that has these conditions. */
function reading(...attributes: readonly string[]): FlagSet {
  const conditions = attributes.map((attribute) => condition(attribute))
  const flag = flagDefinition('flag', { rules: [ruleDefinition({ id: 'rule', conditions })] })
  return compileFlagSet(flagSetDefinition([flag]))
}

/** Converts to plain JSON, because a minimal context has no prototypes. */
function plain(context: EvaluationContext): unknown {
  return JSON.parse(JSON.stringify(context))
}

describe('attributesRead', () => {
  it('attributesRead returns the attributes of rules, segments and rollouts once each, sorted by code point', () => {
    const rollout: RolloutDefinition = {
      id: 'rollout',
      strategy: 'percentage',
      bucketBy: 'organization.key',
      salt: 'salt',
      scheme: 'ff',
      ranges: [{ variationId: 'on', from: 0, to: 50_000 }],
    }
    const rules = [
      ruleDefinition({ id: 'first', conditions: [condition('plan'), condition('age', 'gt', '3')] }),
      ruleDefinition({ id: 'second', conditions: [condition('plan')], rolloutId: 'rollout' }),
    ]
    const listing = segmentDefinition('listing', {
      rules: [condition('address.country')],
      keyAttribute: 'user.email',
      included: ['a@example.com'],
    })
    const flags = [flagDefinition('flag', { rules, rollouts: [rollout] })]
    const flagSet = compileFlagSet(flagSetDefinition(flags, [listing]))
    expect(attributesRead(flagSet)).toEqual([
      'address.country',
      'age',
      'organization.key',
      'plan',
      'user.email',
    ])
  })

  it('attributesRead returns the attributes of in_bucket and of lists, but not those of elements', () => {
    const share = '{"salt":"s","ranges":[[0,50000]]}'
    const items = '[{"attribute":"price","operator":"gt","value":"3"}]'
    const conditions = [
      condition('organization.key', 'in_bucket', share),
      condition('cart.items', 'elem_match', items),
    ]
    const flags = [flagDefinition('flag', { rules: [ruleDefinition({ conditions })] })]
    const flagSet = compileFlagSet(flagSetDefinition(flags))
    expect(attributesRead(flagSet)).toEqual(['cart.items', 'organization.key'])
    const context = { kind: 'user', cart: { items: [{ price: 5, name: 'x' }], note: 'y' } }
    expect(plain(minimalContext(flagSet, context))).toEqual({
      kind: 'user',
      cart: { items: [{ price: 5, name: 'x' }] },
    })
  })

  it('attributesRead omits the flags and segments of conditions, and the key attribute of a segment without keys', () => {
    const conditions = [
      condition('other', 'flag_is', '["on"]'),
      condition('', 'in_segment', '["empty"]'),
      condition('unreadable', 'no_such_operator'),
    ]
    const flags = [flagDefinition('flag', { rules: [ruleDefinition({ id: 'rule', conditions })] })]
    const empty = segmentDefinition('empty', { keyAttribute: 'user.email' })
    expect(attributesRead(compileFlagSet(flagSetDefinition(flags, [empty])))).toEqual([])
  })

  it('attributesRead returns the key attribute of a segment that only excludes keys', () => {
    const listing = segmentDefinition('s', { keyAttribute: 'email', excluded: ['x'] })
    const flagSet = compileFlagSet(flagSetDefinition([], [listing]))
    expect(attributesRead(flagSet)).toEqual(['email'])
  })

  it('The attributes of a flag set are collected only once', () => {
    const flagSet = reading('plan')
    expect(attributesRead(flagSet)).toEqual(['plan'])
    expect(attributesRead(flagSet)).toEqual(['plan'])
    expect(attributesRead(reading('age'))).toEqual(['age'])
  })
})

describe('minimalContext', () => {
  it('minimalContext keeps only the kind, the key and the attributes that are read', () => {
    const context = { kind: 'user', key: 'u-1', plan: 'pro', email: 'u@example.com' }
    expect(plain(minimalContext(reading('plan', 'age'), context))).toEqual({
      kind: 'user',
      key: 'u-1',
      plan: 'pro',
    })
  })

  it('minimalContext keeps only the parts of an object that are read, or the whole object if a condition reads all of it', () => {
    const address = { country: 'at', street: 'Ring 1', at: { lat: 1, lon: 2 } }
    const context = { kind: 'user', key: 'u-1', address }
    const keptOf = (...attributes: string[]) => {
      return plain(minimalContext(reading(...attributes), context))
    }
    const keptAddress = (kept: unknown) => ({ kind: 'user', key: 'u-1', address: kept })
    expect(keptOf('address.country')).toEqual(keptAddress({ country: 'at' }))
    expect(keptOf('/address/at/lat', 'user.address.country')).toEqual(
      keptAddress({ at: { lat: 1 }, country: 'at' }),
    )
    expect(keptOf('address.at', 'address.at.lat')).toEqual(keptAddress({ at: address.at }))
    expect(keptOf('address.country', 'address')).toEqual(keptAddress(address))
    expect(keptOf('address', '/address/country')).toEqual(keptAddress(address))
  })

  it('minimalContext keeps every kind of a multi context with its key', () => {
    const context = {
      kind: 'multi',
      user: { key: 'u-1', plan: 'pro', email: 'u@example.com' },
      organization: { kind: 'organization', key: 'acme', size: 3 },
    } as const
    expect(plain(minimalContext(reading('user.plan'), context))).toEqual({
      kind: 'multi',
      user: { key: 'u-1', plan: 'pro' },
      organization: { kind: 'organization', key: 'acme' },
    })
  })

  it('minimalContext reads only own properties, and is safe for names such as __proto__', () => {
    const context = JSON.parse('{"kind":"user","key":"u","__proto__":{"x":1,"y":2},"z":3}')
    const kept = minimalContext(reading('/__proto__/x', 'toString', 'constructor'), context)
    expect(JSON.stringify(kept)).toBe('{"kind":"user","key":"u","__proto__":{"x":1}}')
  })

  it('minimalContext does not modify the context', () => {
    const context = { kind: 'user', key: 'u-1', address: { country: 'at', street: 'Ring 1' } }
    const before = structuredClone(context)
    minimalContext(reading('address.country', 'user.address'), context)
    expect(context).toEqual(before)
    const whole = plain(minimalContext(reading('address', 'address.country'), deepFreeze(context)))
    expect(whole).toEqual(before)
  })

  it('A reference with a leading kind keeps only the attribute of that kind', () => {
    const context = { kind: 'user', key: 'u', plan: 'pro', organization: { plan: 'free' } }
    expect(plain(minimalContext(reading('device.plan', 'user.key'), context))).toEqual({
      kind: 'user',
      key: 'u',
    })
  })

  it('minimalContext omits attributes that are null, because they are missing', () => {
    const context = { kind: 'user', key: null, plan: null, address: { country: null } }
    expect(plain(minimalContext(reading('plan', 'address.country'), context))).toEqual({
      kind: 'user',
    })
  })

  it('minimalContext returns the empty context unchanged', () => {
    expect(minimalContext(reading('plan'), {})).toEqual({})
  })

  it('minimalContext returns a context without a kind, or no context, unchanged', () => {
    for (const context of [{ key: 'u', email: 'u@example.com' }, null, undefined]) {
      expect(minimalContext(reading('plan'), context as unknown as EvaluationContext)).toBe(context)
    }
  })
})

describe('minimalContext for attributes that are named like a key', () => {
  const named = { key: 'k', 'user.key': 1, 'device.key': 2, 'other.key': 3, plan: 'pro' }

  it('minimalContext keeps the attributes that take precedence over a key of the context', () => {
    const device = { kind: 'device', ...named }
    expect(plain(minimalContext(reading('age'), device))).toEqual({
      ...{ kind: 'device', key: 'k', 'user.key': 1, 'device.key': 2 },
    })
    const multi = { kind: 'multi', device: named, 'other.key': 'not a kind' } as const
    expect(plain(minimalContext(reading('age'), multi))).toEqual({
      kind: 'multi',
      device: { key: 'k', 'user.key': 1, 'device.key': 2 },
    })
  })

  it('minimalContext keeps the attributes of other references that are passed', () => {
    const context = { kind: 'user', ...named }
    expect(plain(minimalContext(reading('age'), context, ['other.key', 'user.plan']))).toEqual({
      ...{ kind: 'user', key: 'k', 'user.key': 1, 'other.key': 3, plan: 'pro' },
    })
  })

  it('minimalContext keeps the name after a kind rather than a path after it', () => {
    const context = { kind: 'user', 'a.b': 1, a: { b: 2, c: 3 } }
    expect(plain(minimalContext(reading('user.a.b'), context))).toEqual({ kind: 'user', 'a.b': 1 })
    expect(plain(minimalContext(reading('/user/a/c'), context))).toEqual({
      kind: 'user',
      a: { c: 3 },
    })
  })
})

describe('attributesReadBy', () => {
  const onFlag = { attribute: 'needed', operator: 'flag_is', value: 'on' }
  const rules = (attribute: string, changes = {}) => {
    return { rules: [ruleDefinition({ conditions: [condition(attribute)], ...changes })] }
  }
  const flagSet = compileFlagSet(
    flagSetDefinition(
      [
        flagDefinition('a', {
          rules: [ruleDefinition({ conditions: [onFlag, condition('of-a')] })],
        }),
        flagDefinition('b', rules('of-b', { segmentId: 's' })),
        flagDefinition('needed', rules('of-needed')),
      ],
      [
        segmentDefinition('s', { rules: [condition('of-s')] }),
        segmentDefinition('unused', { rules: [condition('of-unused')] }),
      ],
    ),
  )

  it('attributesReadBy returns the attributes of flags and of the flags and segments they refer to', () => {
    expect(attributesReadBy(flagSet, ['a'])).toEqual(new Set(['of-a', 'of-needed']))
    expect(attributesReadBy(flagSet, ['b'])).toEqual(new Set(['of-b', 'of-s']))
    expect(attributesReadBy(flagSet, ['needed', 'b'])).toEqual(
      new Set(['of-b', 'of-needed', 'of-s']),
    )
  })

  it('attributesReadBy ignores unknown flags', () => {
    expect(attributesReadBy(flagSet, ['unknown', 's'])).toEqual(new Set())
    expect(attributesReadBy(flagSet, [])).toEqual(new Set())
  })
})

describe('knownAttributes', () => {
  const attributes = { plan: 'pro', nothing: null, address: { country: 'at' }, 'a.b': 1, list: [1] }

  it('knownAttributes knows kept references, kinds, keys and attributes that are not objects', () => {
    const isKnown = knownAttributes({ kind: 'device', ...attributes }, new Set(['kept']))
    const known = ['kept', 'kind', 'key', 'user.key', 'device.key', 'plan', 'a.b', 'list']
    const unknown = ['nothing', 'address', 'address.country', 'age', 'other.key', 'toString']
    expect([...known, ...unknown].filter(isKnown)).toEqual(known)
  })

  it('knownAttributes knows the attributes of the kind user of a multi context, and all keys', () => {
    const isKnown = knownAttributes(
      { kind: 'multi', user: attributes, device: { size: 1 } },
      new Set(),
    )
    const known = ['kind', 'key', 'user.key', 'device.key', 'plan', 'a.b']
    const unknown = ['size', 'device', 'user', 'address', 'other.key', 'kind.key']
    expect([...known, ...unknown].filter(isKnown)).toEqual(known)
    const withoutUser = knownAttributes({ kind: 'multi', device: attributes }, new Set())
    expect(['plan', 'device.key', 'user.key'].filter(withoutUser)).toEqual([
      'device.key',
      'user.key',
    ])
  })
})
