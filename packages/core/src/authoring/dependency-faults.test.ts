import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { FlagDefinition, SegmentDefinition } from '../model/definition.ts'
import { runToEnd } from '../model/incremental.ts'
import { findErrors } from './issues.ts'
import { PublishedDefinitions } from './published-definitions.ts'

const needs = (key: string, ...others: readonly string[]): FlagDefinition => {
  const prerequisites = others.map((other) => ({ flagId: idOf(other), variationIds: ['on'] }))
  return flagDefinition(key, { id: idOf(key), prerequisites })
}
const idOf = (key: string) => `id of ${key}`
const inSegment = (id: string) => ({ attribute: '', operator: 'in_segment', value: id })
const isOn = (key: string) => ({ attribute: key, operator: 'flag_is', value: 'on' })

/**
 * Checks a change of the first flag of a cycle. Returns the faults, and how often the check has
 * looked up a value in a map.
 */
function checkCycle(key: (at: number) => string, length: number) {
  const flags = Array.from({ length }, (_, at) => needs(key(at), key((at + 1) % length)))
  const first = needs(key(0))
  const published = new PublishedDefinitions(
    { version: 1, flags: [first, ...flags.slice(1)], segments: [] },
    { extensions: {}, maxConditionValueBytes: 1 },
  )
  const change = { kind: 'flag', id: first.id, definition: needs(key(0), key(1)) } as const
  const { get } = Map.prototype
  let lookUps = 0
  Map.prototype.get = function (...parameters) {
    lookUps += 1
    return get.apply(this, parameters)
  }
  try {
    const faults = runToEnd(published.checkChange([change]))
    return { faults, lookUps }
  } finally {
    Map.prototype.get = get
  }
}

const messagesOf = (flags: FlagDefinition[], segments: SegmentDefinition[] = []) =>
  findErrors(compileFlagSet(flagSetDefinition(flags, segments))).map(({ message }) => message)

describe('The errors of flags and segments that depend on themselves', () => {
  it('A cycle of prerequisites is named by its keys, once for each flag.', () => {
    const cycle = 'Prerequisite cycle: a → b → c → a.'
    expect(messagesOf([needs('b', 'c'), needs('c', 'a'), needs('a', 'b')])).toEqual([
      cycle,
      cycle,
      cycle,
    ])
    expect(messagesOf([needs('a', 'a')])).toEqual(['Prerequisite cycle: a → a.'])
  })

  it('A cycle of segments is named by the keys of the segments.', () => {
    const segments = [
      segmentDefinition('1', { key: 'beta', rules: [inSegment('2')] }),
      segmentDefinition('2', { key: 'alpha', rules: [inSegment('1')] }),
    ]
    const cycle = 'Segment cycle: alpha → beta → alpha.'
    expect(messagesOf([], segments)).toEqual([cycle, cycle])
  })

  it('A cycle of segments without keys is found.', () => {
    const { key: _, ...segment } = segmentDefinition('1', { rules: [inSegment('1')] })
    expect(messagesOf([], [segment as SegmentDefinition])).toContain('Segment cycle:  → .')
  })

  it('A cycle of flags and segments names their kinds.', () => {
    const flag = flagDefinition('a', { rules: [ruleDefinition({ segmentId: '1' })] })
    const segment = segmentDefinition('1', { key: 'beta', rules: [isOn('a')] })
    const cycle = 'Dependency cycle: flag a → segment beta → flag a.'
    expect(messagesOf([flag], [segment])).toEqual([cycle, cycle])
  })

  it('A flag that depends on a cycle or on a broken flag names the flag that it needs.', () => {
    expect(messagesOf([needs('a', 'a'), needs('b', 'a'), needs('c', 'gone')])).toEqual([
      'Prerequisite cycle: a → a.',
      'The flag b needs the flag a, which cannot be evaluated.',
      'The flag c needs the flag with the id id of gone, which does not exist.',
    ])
  })

  it('A flag at the end of a chain that is too long names the limit.', () => {
    const chain = Array.from({ length: 67 }, (_, at) => {
      return at === 0 ? flagDefinition('f0', { id: idOf('f0') }) : needs(`f${at}`, `f${at - 1}`)
    })
    expect(messagesOf(chain)).toEqual([
      'The flag f65 needs a flag or segment that is more than 64 hops away.',
      'The flag f66 needs the flag f65, which cannot be evaluated.',
    ])
  })

  it('The message of a cycle of 5,000 flags is short and is created in steps in proportion to its length.', () => {
    const key = (at: number) => `${String(at).padStart(5, '0')}-${'x'.repeat(100)}`
    const { faults, lookUps } = checkCycle(key, 5_000)
    expect(lookUps).toBeLessThan(11 * checkCycle(key, 500).lookUps)
    const [fault = '', ...others] = faults
    expect(fault).toMatch(
      /^Prerequisite cycle: 00000-x+ → 00001-x+ → .* → … \(4992 more\) → 00000-x+\.$/,
    )
    expect(fault.length).toBeLessThan(1_200)
    expect(others).toEqual([])
  })

  it('A change that shortens an existing cycle of prerequisites is accepted.', () => {
    const flags = [needs('a', 'b', 'c'), needs('b', 'c'), needs('c', 'a')]
    const rules = { extensions: {}, maxConditionValueBytes: 1 }
    const published = new PublishedDefinitions({ version: 1, flags, segments: [] }, rules)
    const change = { kind: 'flag', id: idOf('a'), definition: needs('a', 'c') } as const
    expect(runToEnd(published.checkChange([change]))).toEqual([])
  })
})

describe('The message of a cycle', () => {
  const cycleOf = (length: number) => {
    const keys = Array.from({ length }, (_, at) => `${'abcdefghijk'[at]}`)
    const flags = keys.map((key, at) => needs(key, keys[(at + 1) % length] ?? ''))
    return messagesOf(flags)[0]
  }

  it('The message of a cycle names up to 9 flags, and the first 8 of a longer cycle', () => {
    expect(cycleOf(9)).toContain('Prerequisite cycle: a → b → c → d → e → f → g → h → i → a.')
    expect(cycleOf(10)).toContain('cycle: a → b → c → d → e → f → g → h → … (2 more) → a.')
  })

  it('A flag that only leads to a cycle is not part of the cycle', () => {
    const messages = messagesOf([needs('a', 'b'), needs('b', 'c'), needs('c', 'b')])
    expect(messages.join()).not.toContain('cycle: a')
    expect(messages[0]).toContain('The flag a needs the flag b, which cannot be evaluated.')
    expect(messages[1]).toContain('Prerequisite cycle: b → c → b.')
  })

  it('A cycle consists of prerequisites only if each flag has the next one as a prerequisite', () => {
    const others = [needs('x'), needs('y')]
    const mixed = (key: string, other: string) => {
      const rules = [ruleDefinition({ conditions: [isOn(other)] })]
      return { ...needs(key, 'x'), rules }
    }
    expect(messagesOf([mixed('a', 'b'), mixed('b', 'a'), ...others])[0]).toContain(
      'Dependency cycle: flag a → flag b → flag a.',
    )
    expect(messagesOf([mixed('a', 'b'), needs('b', 'a'), ...others])[0]).toContain(
      'Dependency cycle: flag a → flag b → flag a.',
    )
    expect(messagesOf([needs('a', 'x', 'b', 'y'), needs('b', 'a'), ...others])[0]).toContain(
      'Prerequisite cycle: a → b → a.',
    )
  })
})
