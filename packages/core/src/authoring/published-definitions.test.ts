import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  onFlag,
  onSegment,
  ruleDefinition,
  segmentDefinition,
  withRule,
} from '../../test/definitions.ts'
import { EXTENSIONS } from '../../test/vector-files.ts'
import type { FlagDefinition, FlagSetDefinition, SegmentDefinition } from '../model/definition.ts'
import { runToEnd } from '../model/incremental.ts'
import { type DefinitionChange, PublishedDefinitions } from './published-definitions.ts'

const RULES = { extensions: EXTENSIONS, maxConditionValueBytes: 10_000 }

const inSegment = (key: string, segmentId: string) => {
  return flagDefinition(key, { rules: [ruleDefinition({ segmentId })] })
}
const needing = (key: string, ...others: string[]) => {
  const prerequisites = others.map((other) => ({ flagId: `id of ${other}`, variationIds: ['on'] }))
  return flagDefinition(key, { prerequisites })
}
const setFlag = (definition: FlagDefinition): DefinitionChange => {
  return { kind: 'flag', id: definition.id, definition }
}
const setSegment = (definition: SegmentDefinition): DefinitionChange => {
  return { kind: 'segment', id: definition.id, definition }
}
const removeFlag = (key: string): DefinitionChange => {
  return { kind: 'flag', id: `id of ${key}`, definition: null }
}
const removeSegment = (id: string): DefinitionChange => ({ kind: 'segment', id, definition: null })

/** `a` needs `b`; `c` has a condition on `b`; `d` is in the segment `s`, which is in `t`. */
const definition: FlagSetDefinition = flagSetDefinition(
  [
    needing('a', 'b'),
    flagDefinition('b'),
    withRule('c', onFlag('b')),
    inSegment('d', 's'),
    flagDefinition('alone'),
  ],
  [segmentDefinition('s', { rules: [onSegment('t')] }), segmentDefinition('t')],
)

function faultsOf(published: PublishedDefinitions, ...changes: DefinitionChange[]) {
  return runToEnd(published.checkChange(changes))
}

describe('checkChange', () => {
  const check = (...changes: DefinitionChange[]) => {
    return faultsOf(new PublishedDefinitions(definition, RULES), ...changes)
  }

  it('checkChange accepts changes that introduce no fault', () => {
    expect(check()).toEqual([])
    expect(check(setFlag(flagDefinition('new')))).toEqual([])
    expect(check(setFlag(flagDefinition('b', { isActive: false })))).toEqual([])
    expect(check(setFlag(needing('alone', 'a', 'b')))).toEqual([])
    expect(check(setSegment(segmentDefinition('t', { force: true })))).toEqual([])
    expect(check(removeFlag('alone'), removeFlag('unknown'))).toEqual([])
    expect(check({ kind: 'segmentKeys', segmentId: 't' })).toEqual([])
  })

  it('checkChange refuses a reference to a flag or segment that does not exist', () => {
    expect(check(setFlag(needing('alone', 'b', 'x')))).toEqual([
      'The flag alone needs the flag with the id id of x, which does not exist.',
    ])
    expect(check(setFlag(inSegment('alone', 'x')))).toEqual([
      'The flag alone needs the segment x, which does not exist.',
    ])
    expect(check(setSegment(segmentDefinition('t', { rules: [onSegment('x')] })))).toEqual([
      'The segment t needs the segment x, which does not exist.',
    ])
  })

  it('checkChange accepts a reference to a flag or segment that the same change adds', () => {
    expect(check(setFlag(needing('alone', 'x')), setFlag(flagDefinition('x')))).toEqual([])
    const segments = [setSegment(segmentDefinition('x')), setFlag(inSegment('alone', 'x'))]
    expect(check(...segments)).toEqual([])
  })

  it('checkChange refuses the deletion of a flag or segment that another one needs', () => {
    expect(check(removeFlag('b'))).toEqual([
      'The flag a needs the flag with the id id of b, which does not exist.',
    ])
    expect(check(removeSegment('t'))).toEqual([
      'The flag d needs the segment s, which cannot be evaluated.',
      'The segment s needs the segment t, which does not exist.',
    ])
    expect(check(setFlag(flagDefinition('alone', { isActive: false })), removeFlag('b'))).toEqual([
      'The flag a needs the flag with the id id of b, which does not exist.',
    ])
    expect(check(removeFlag('b'), removeFlag('a'))).toEqual([])
    expect(check(removeFlag('d'), removeSegment('s'), removeSegment('t'))).toEqual([])
  })

  it('checkChange refuses a cycle, also through a new key or through several changes', () => {
    expect(check(setFlag(needing('b', 'a')))).toEqual(['Prerequisite cycle: a → b → a.'])
    const two = [setFlag(needing('alone', 'x')), setFlag(needing('x', 'alone'))]
    expect(check(...two)).toEqual(['Prerequisite cycle: alone → x → alone.'])
    // Dependents of a changed flag are not listed, unless its key changes.
    expect(check(setFlag(withRule('b', onFlag('c'))))).toEqual([
      'Dependency cycle: flag b → flag c → flag b.',
    ])
    const waiting = flagSetDefinition([withRule('p', onFlag('q'))])
    const published = new PublishedDefinitions(waiting, RULES)
    expect(faultsOf(published, setFlag(flagDefinition('q')))).toEqual([])
    expect(faultsOf(published, setFlag(needing('q', 'p')))).toEqual([
      'Dependency cycle: flag p → flag q → flag p.',
    ])
  })

  it('checkChange refuses invalid values and conditions, and names the flag or segment', () => {
    const variations = [{ id: 'on', key: 'on', value: 'yes' }]
    expect(
      check(setFlag(flagDefinition('alone', { variations, defaultVariationId: 'on' }))),
    ).toEqual([
      'Flag "alone": The variation "on" is invalid. A boolean value must be `true` or `false`.',
      'Flag "alone": The default refers to the variation "on", which is missing or invalid.',
    ])
    const rules = [{ attribute: 'age', operator: 'gt', value: 'four' }]
    expect(check(setSegment(segmentDefinition('t', { rules })))).toEqual([
      'Segment t: The value of "gt" must be a decimal number.',
    ])
  })

  it('checkChange accepts conditions that need an extension only if the extension is available', () => {
    const pattern = withRule('alone', { attribute: 'a', operator: 'matches', value: '^a' })
    expect(check(setFlag(pattern))).toEqual([])
    const published = new PublishedDefinitions(definition, { ...RULES, extensions: {} })
    expect(faultsOf(published, setFlag(pattern))).toEqual([
      'Flag "alone": The rule "rule" has a condition that never holds. ' +
        '"matches" requires the regex engine, which is not available.',
      'The flag alone needs the regex engine, which does not exist.',
    ])
  })

  it('checkChange ignores faults that exist already, and returns the others', () => {
    const broken = { ...definition, flags: [...definition.flags, needing('broken', 'x')] }
    const published = new PublishedDefinitions(broken, RULES)
    expect(faultsOf(published, setFlag(needing('broken', 'x', 'b')))).toEqual([])
    expect(faultsOf(published, setFlag(flagDefinition('x')))).toEqual([])
    expect(faultsOf(published, setFlag(needing('broken', 'x', 'y')))).toEqual([
      'The flag broken needs the flag with the id id of y, which does not exist.',
    ])
  })

  it('A damaged definition prevents neither the change of another definition nor its own repair', () => {
    const damaged = { ...flagDefinition('damaged'), rules: null } as unknown as FlagDefinition
    const published = new PublishedDefinitions(
      flagSetDefinition([flagDefinition('a'), damaged]),
      RULES,
    )
    expect(faultsOf(published, setFlag(flagDefinition('a', { isActive: false })))).toEqual([])
    expect(faultsOf(published, setFlag(flagDefinition('damaged')))).toEqual([])
    expect(faultsOf(published, setFlag(needing('a', 'damaged')))).not.toEqual([])
    const anew = faultsOf(published, setFlag({ ...damaged, id: 'other', key: 'other' }))
    expect(anew).toEqual([expect.stringMatching(/^"other" is ignored, because its definition/)])
  })
})

describe('advance', () => {
  it('advance applies changes, so that later checks depend on them', () => {
    const published = new PublishedDefinitions(definition, RULES)
    expect(published.version).toBe(1)
    const flags = [{ id: 'id of a', definition: flagDefinition('a') }]
    const removed = { id: 'id of b', definition: null }
    expect(published.advance({ version: 4, flags, segments: [] }).version).toBe(4)
    expect(faultsOf(published, removeFlag('b'))).toEqual([])
    published.advance({ version: 5, flags: [removed], segments: [] })
    expect(faultsOf(published, setFlag(needing('a', 'b')))).toHaveLength(1)
    const segments = [{ id: 's', definition: segmentDefinition('s') }]
    published.advance({ version: 6, flags: [], segments })
    expect(faultsOf(published, removeSegment('t'))).toEqual([])
    expect(faultsOf(published, removeSegment('s'))).toHaveLength(1)
  })

  it('A flag with a new key is no longer known by its old key', () => {
    const cycle = flagSetDefinition([withRule('a', onFlag('old')), flagDefinition('old')])
    const published = new PublishedDefinitions(cycle, RULES)
    const renamed = { ...needing('new', 'a'), id: 'id of old' }
    expect(faultsOf(published, setFlag({ ...renamed, key: 'old' }))).toHaveLength(1)
    expect(faultsOf(published, setFlag(renamed))).toEqual([])
    published.advance({
      version: 2,
      flags: [{ id: renamed.id, definition: renamed }],
      segments: [],
    })
    expect(faultsOf(published, setFlag(withRule('a', onFlag('old'))))).toEqual([])
    expect(faultsOf(published, setFlag(withRule('a', onFlag('new'))))).toHaveLength(1)
  })

  it('A key that a new flag takes over keeps its owner when the old flag is deleted later', () => {
    const published = new PublishedDefinitions(flagSetDefinition([flagDefinition('key')]), RULES)
    const next = { ...flagDefinition('key'), id: 'next' }
    published.advance({ version: 2, flags: [{ id: 'next', definition: next }], segments: [] })
    published.advance({ version: 3, flags: [{ id: 'id of key', definition: null }], segments: [] })
    const cycle = { ...withRule('key', onFlag('other')), id: 'next' }
    published.advance({ version: 4, flags: [{ id: 'next', definition: cycle }], segments: [] })
    expect(faultsOf(published, setFlag(withRule('other', onFlag('key'))))).toHaveLength(1)
  })
})

describe('The limit of condition values', () => {
  const holding = (...values: string[]) => {
    return values.map((value) => ({ attribute: 'plan', operator: 'eq', value }))
  }
  const segment = (id: string, ...values: string[]) => {
    return segmentDefinition(id, { rules: holding(...values) })
  }
  const publishedWith = (segments: readonly SegmentDefinition[], maxConditionValueBytes = 10) => {
    const rules = { extensions: {}, maxConditionValueBytes }
    return new PublishedDefinitions(flagSetDefinition([], segments), rules)
  }
  const message = (bytes: number) => [
    `The condition values of an environment must have at most 10 bytes of UTF-8 together (got ${bytes}). ` +
      'Segments count in every environment of the project.',
  ]

  it('Condition values above the limit must not grow, but can shrink', () => {
    const published = publishedWith([segment('s', '€€€€')])
    expect(faultsOf(published, setSegment(segment('s', '€€€a')))).toEqual([])
    expect(faultsOf(published, setSegment(segment('s', '€€', '€€')))).toEqual([])
    expect(faultsOf(published, setSegment(segment('s', '€€€ab')))).toEqual([])
    expect(faultsOf(published, setSegment(segment('s', '€€', '€€a')))).toEqual(message(13))
  })

  it('The values of all flags and segments count together, and those of deleted ones do not count', () => {
    const published = publishedWith([segment('s', '1234'), segment('t', '5')])
    const flag = withRule('a', ...holding('123', '45'))
    expect(faultsOf(published, setFlag(flag))).toEqual([])
    expect(faultsOf(published, setFlag(withRule('a', ...holding('123456'))))).toEqual(message(11))
    published.advance({ version: 2, flags: [{ id: flag.id, definition: flag }], segments: [] })
    expect(faultsOf(published, setSegment(segment('t', '56')))).toEqual(message(11))
    expect(faultsOf(published, setSegment(segment('t', '56')), removeFlag('a'))).toEqual([])
    published.advance({ version: 3, flags: [{ id: flag.id, definition: null }], segments: [] })
    expect(faultsOf(published, setSegment(segment('t', '56')))).toEqual([])
    expect(faultsOf(published, removeSegment('s'))).toEqual([])
  })
})

describe('affectsClients', () => {
  const hidden = (flag: FlagDefinition) => ({ ...flag, clientVisible: false })
  const published = () => {
    const flags = [
      inSegment('visible', 's'),
      hidden(inSegment('hidden', 'u')),
      hidden(flagDefinition('needed')),
      { ...needing('client', 'needed'), clientVisible: true },
    ]
    const segments = [
      segmentDefinition('s', { rules: [onSegment('t')] }),
      ...['t', 'u'].map((id) => segmentDefinition(id)),
    ]
    return new PublishedDefinitions(flagSetDefinition(flags, segments), RULES)
  }
  const affects = (...changes: DefinitionChange[]) => published().affectsClients(changes)

  it('A change affects clients if the flag is visible before or after the change', () => {
    expect(affects(setFlag(inSegment('visible', 'u')))).toBe(true)
    expect(affects(setFlag(hidden(inSegment('visible', 's'))))).toBe(true)
    expect(affects(setFlag(inSegment('hidden', 'u')))).toBe(true)
    expect(affects(removeFlag('visible'))).toBe(true)
    expect(affects(setFlag(flagDefinition('new')))).toBe(true)
    expect(affects(setFlag(hidden(flagDefinition('hidden'))))).toBe(false)
    expect(affects(setFlag(hidden(flagDefinition('new'))))).toBe(false)
    expect(affects(removeFlag('hidden'))).toBe(false)
    expect(affects()).toBe(false)
  })

  it('A change affects clients if a visible flag depends on the changed flag or segment', () => {
    for (const id of ['s', 't']) {
      expect(affects({ kind: 'segmentKeys', segmentId: id })).toBe(true)
      expect(affects(setSegment(segmentDefinition(id, { force: true })))).toBe(true)
      expect(affects(removeSegment(id))).toBe(true)
    }
    expect(affects({ kind: 'segmentKeys', segmentId: 'u' })).toBe(false)
    expect(affects({ kind: 'segmentKeys', segmentId: 'unknown' })).toBe(false)
    expect(affects(setFlag(hidden(flagDefinition('needed', { isActive: false }))))).toBe(true)
  })

  it('affectsClients depends on the references after the last applied change', () => {
    const definitions = published()
    const change = { kind: 'segmentKeys', segmentId: 's' } as const
    const advance = (flag: FlagDefinition) => {
      definitions.advance({ version: 2, flags: [{ id: flag.id, definition: flag }], segments: [] })
    }
    advance(flagDefinition('visible'))
    expect(definitions.affectsClients([change])).toBe(false)
    advance(inSegment('visible', 's'))
    expect(definitions.affectsClients([change])).toBe(true)
    advance(hidden(inSegment('visible', 's')))
    expect(definitions.affectsClients([change])).toBe(false)
  })
})
