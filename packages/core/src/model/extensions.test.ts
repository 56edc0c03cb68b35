import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { findIssues } from '../authoring/issues.ts'
import { evaluateFlag } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { re2 } from '../regex.ts'
import type { FlagDefinition } from './definition.ts'

const pattern = { attribute: 'email', operator: 'matches', value: '@acme\\.org$' }
const byPattern = (key: string, changes: Partial<FlagDefinition> = {}) =>
  flagDefinition(key, { rules: [ruleDefinition({ conditions: [pattern] })], ...changes })

const definition = flagSetDefinition(
  [
    byPattern('direct'),
    flagDefinition('by-segment', { rules: [ruleDefinition({ segmentId: 'acme' })] }),
    byPattern('inactive', { isActive: false }),
    flagDefinition('untouched', { rules: [ruleDefinition()] }),
  ],
  [segmentDefinition('acme', { rules: [pattern] })],
)

const ada = { kind: 'user', key: 'ada', email: 'ada@acme.org' } as const

describe('A flag set with patterns', () => {
  it('A flag with a pattern has the reason ERROR if the regex engine is missing, and findIssues reports it', () => {
    const flagSet = compileFlagSet(definition)
    for (const key of ['direct', 'by-segment']) {
      expect(evaluateFlag(flagSet, key, ada, 0)).toMatchObject({
        value: false,
        reason: 'ERROR',
        errorCode: 'MALFORMED_FLAG',
      })
    }
    expect(evaluateFlag(flagSet, 'inactive', ada, 0).reason).toBe('DISABLED')
    expect(evaluateFlag(flagSet, 'untouched', ada, 0).value).toBe(true)
    const messages = findIssues(flagSet).map(({ flagKey, message }) => `${flagKey}: ${message}`)
    expect(messages).toContain(
      'direct: The rule "rule" has a condition that never holds. ' +
        '"matches" requires the regex engine, which is not available.',
    )
  })

  it('A flag with a pattern is evaluated if the regex engine is passed', () => {
    const flagSet = compileFlagSet(definition, { extensions: { regex: re2 } })
    expect(findIssues(flagSet)).toEqual([])
    for (const key of ['direct', 'by-segment']) {
      expect(evaluateFlag(flagSet, key, ada, 0).value).toBe(true)
      expect(evaluateFlag(flagSet, key, { ...ada, email: 'x' }, 0).value).toBe(false)
    }
  })

  it('compileFlagSet reuses nothing of a previous set if the regex engine was added or removed', () => {
    const before = compileFlagSet(definition)
    const after = compileFlagSet(definition, { previous: before, extensions: { regex: re2 } })
    expect(evaluateFlag(after, 'direct', ada, 0).value).toBe(true)
    expect(compileFlagSet(definition, { previous: after }).malformed.has('direct')).toBe(true)
  })
})
