import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findIssues } from '../../src/authoring/issues.ts'
import { compileFlagSet, evaluateFlag, parseContext } from '../../src/index.ts'
import { re2 } from '../../src/regex.ts'
import { schemes } from '../../src/schemes.ts'
import { readUnleash, toContext, type UnleashContext } from './unleash.ts'
import { OFF, type UnleashAnswer } from './unleash-answer.ts'
import type { UnleashState } from './unleash-state.ts'

interface Specification {
  readonly state: UnleashState
  readonly tests?: readonly Case<boolean>[]
  readonly variantTests?: readonly Case<UnleashAnswer>[]
}

interface Case<Expected> {
  readonly description: string
  readonly context: UnleashContext
  readonly toggleName: string
  readonly expectedResult: Expected
}

const FOLDER = new URL('../fixtures/unleash/', import.meta.url)
const FILES: readonly string[] = JSON.parse(readFileSync(new URL('index.json', FOLDER), 'utf8'))
const NOW = 0

/** The flags with intentionally invalid patterns and networks, by file. No others have faults. */
const UNREADABLE: Readonly<Record<string, readonly string[]>> = {
  '21': ['R90.reject_lookahead', 'R91.reject_backreference', 'invalid-regex-defaults-to-false'],
  '22': ['CIDR.invalid.only'],
}

function load(file: string): Specification {
  return JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))
}

describe.each(FILES)('Unleash specification %s', (file) => {
  const { state, tests = [], variantTests = [] } = load(file)
  const flagSet = compileFlagSet(readUnleash(state), {
    extensions: { schemes, regex: re2 },
  })

  const answerTo = ({ toggleName, context }: Case<unknown>): UnleashAnswer => {
    const { value } = evaluateFlag(flagSet, toggleName, parseContext(toContext(context)), NOW)
    return (value ?? OFF) as unknown as UnleashAnswer
  }

  it('The state is translated to definitions without other faults', () => {
    const faulty = findIssues(flagSet).map(({ flagKey }) => flagKey)
    expect(faulty).toEqual(UNREADABLE[file.slice(0, 2)] ?? [])
  })

  it.each(tests.map((each) => [each.description, each] as const))('%s', (_, each) => {
    expect(answerTo(each).feature_enabled).toBe(each.expectedResult)
  })

  it.each(variantTests.map((each) => [each.description, each] as const))(
    'The variant is as specified: %s',
    (_, each) => {
      expect(answerTo(each)).toEqual(each.expectedResult)
    },
  )
})

describe('The specification of Unleash', () => {
  it('All files and cases of the Unleash specification are run', () => {
    const files = readdirSync(FOLDER).filter((name) => /^\d\d-.*\.json$/.test(name))
    expect(files.sort()).toEqual(FILES)
    expect(FILES).toHaveLength(22)
    const cases = FILES.map(load).map(({ tests = [], variantTests = [] }) => {
      return tests.length + variantTests.length
    })
    expect(cases.reduce((sum, count) => sum + count)).toBe(279)
  })
})
