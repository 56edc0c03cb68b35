import { describe, expect, it } from 'vitest'
import { textOf } from '../../messages/phrases/fragment.ts'
import {
  type PublishedVersion,
  skippedByRestore,
  versionDifferences,
} from './version-differences.ts'

type Flag = PublishedVersion['flags'][number]

const flag: Flag = {
  id: 'f1',
  key: 'checkout',
  type: 'boolean',
  isActive: true,
  variations: [
    { id: 'on', key: 'true', value: 'true' },
    { id: 'off', key: 'false', value: 'false' },
  ],
  defaultVariationId: 'off',
  offVariationId: null,
  targets: [],
  prerequisites: [],
  rules: [
    {
      id: 'r1',
      orderIndex: 0,
      createdAt: '',
      conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }],
      segmentId: null,
      variationId: null,
      rolloutId: 'o1',
    },
  ],
  rollouts: [percentage(25)],
}

function percentage(percent: number) {
  const ranges = [{ variationId: 'on', from: 0, to: percent * 1000 }]
  return {
    id: 'o1',
    strategy: 'percentage' as const,
    bucketBy: 'user.key',
    salt: 's',
    scheme: 'ff',
    ranges,
  }
}

function version(number: number, changes: Partial<PublishedVersion> = {}): PublishedVersion {
  return { version: number, flags: [flag], segments: [], ...changes }
}

function sentences(before: PublishedVersion, after: PublishedVersion, flagId?: string) {
  return versionDifferences({ before, after }, flagId).flatMap(({ key, sentences: found }) =>
    found.map((sentence) => `${key}: ${textOf(sentence)}`),
  )
}

describe('versionDifferences', () => {
  it('A larger share is the change of its percentage, with the key of the variation.', () => {
    const after = version(2, { flags: [{ ...flag, rollouts: [percentage(30)] }] })
    expect(sentences(version(1), after)).toEqual([
      'checkout: Rollout of rule 1: 25 % → 30 % of true, by user.key (another 5 % get true; no one loses it)',
    ])
  })

  it('A new rule in front of another rule is no change of the other rule.', () => {
    const first = { ...flag.rules[0], id: 'r0', orderIndex: 0, rolloutId: null, variationId: 'on' }
    const second = { ...flag.rules[0], orderIndex: 1 }
    const rules = [first, second] as Flag['rules']
    const found = sentences(version(1), version(2, { flags: [{ ...flag, rules }] }))
    expect(found).toEqual(['checkout: Rule 1 added at position 1: If plan is pro → true'])
  })

  it('Only the asked flag is compared, and equal versions have no differences.', () => {
    const after = version(2, { flags: [{ ...flag, isActive: false }] })
    expect(sentences(version(1), after, 'f2')).toEqual([])
    expect(sentences(version(1), version(2))).toEqual([])
    expect(sentences(version(1), after, 'f1')).toEqual(['checkout: Switched off'])
  })

  it('A flag without an earlier definition was added.', () => {
    expect(sentences(version(1, { flags: [] }), version(2))).toEqual(['checkout: Added'])
  })
})

describe('skippedByRestore', () => {
  it('A restore keeps deleted flags, new flags and changed variations, but no configuration.', () => {
    const gone = { ...flag, id: 'f2', key: 'gone' }
    const added = { ...flag, id: 'f3', key: 'added' }
    const configured = { ...flag, id: 'f4', key: 'configured' }
    const other = { ...flag, variations: [{ id: 'on', key: 'true', value: 'false' }] }
    const before = version(1, { flags: [flag, gone, configured] })
    const after = version(2, { flags: [other, added, { ...configured, isActive: false }] })
    expect(skippedByRestore({ before, after })).toEqual([
      { resource: 'flag', key: 'checkout', reason: 'changed' },
      { resource: 'flag', key: 'gone', reason: 'missing' },
      { resource: 'flag', key: 'added', reason: 'absent' },
    ])
  })
})
