import { describe, expect, it } from 'vitest'
import { prepareIncrementally, valuesOf } from '../../src/all-flags.ts'
import { conditionFault } from '../../src/authoring/condition-fault.ts'
import { evaluateTogether } from '../../src/batch/evaluate-all.ts'
import {
  compileFlagSet,
  type EvaluationContext,
  evaluateValue,
  type FlagSet,
  parseContext,
} from '../../src/index.ts'
import { isOperator, operators } from '../../src/operators/operator.ts'
import { re2 } from '../../src/regex.ts'
import { flagDefinition, ruleDefinition } from '../definitions.ts'
import { ATTRIBUTES, LONGEST_VALUE, VALUES } from './worst-cases.ts'

const IS_FULL = process.env['FF_DRILLS'] === 'full'
/** The time limit of one evaluation. At full size, the machine must run nothing else. */
const MOST_MS = 20
const EXTENSIONS = { regex: re2 }

/**
 * Returns six flags with one condition each, half of them negated. Blanks make the values differ.
 */
function sixConditions(operator: string, value: string): FlagSet {
  const isJson = /^[[{]/.test(value)
  const flags = Array.from({ length: 6 }, (_, index) => {
    const blanks = isJson ? ' '.repeat(Math.min(index, LONGEST_VALUE - value.length)) : ''
    const condition = { attribute: 'it', operator, value: value + blanks }
    const conditions = [index % 2 === 0 ? condition : { ...condition, negate: true }]
    return flagDefinition(`flag-${index}`, { rules: [ruleDefinition({ conditions })] })
  })
  const definition = { version: 1, flags, segments: [] }
  return compileFlagSet(definition, { extensions: EXTENSIONS })
}

/** Fails if an evaluation of all flags has another result than the evaluations of single flags. */
function checkValues(flagSet: FlagSet, context: EvaluationContext): void {
  const values = valuesOf(evaluateTogether(flagSet, context, 0))
  for (const [key, value] of Object.entries(values)) {
    expect(evaluateValue(flagSet, key, context, 0)).toBe(value)
  }
}

interface Tries {
  /** The maximum number of evaluations. */
  readonly most: number
  /** A duration in milliseconds after which no more evaluations are needed. */
  readonly enoughMs: number
}

/** Returns the shortest duration of several evaluations, in milliseconds. */
function shortestMs(flagSet: FlagSet, context: EvaluationContext, { most, enoughMs }: Tries) {
  let ms = Number.POSITIVE_INFINITY
  for (let count = 0; count < most && ms > enoughMs; count += 1) {
    const startedAt = performance.now()
    evaluateTogether(flagSet, context, 0)
    ms = Math.min(ms, performance.now() - startedAt)
  }
  return ms
}

describe('The cost of six conditions with the longest values', () => {
  const contexts = ATTRIBUTES.map(([name, it]) => {
    const context = parseContext({ kind: 'user', key: 'u', it })
    expect(JSON.stringify(context).length).toBeLessThanOrEqual(256 * 1024)
    return { name, context }
  })

  it.each([...operators.keys()])(
    `Six conditions with %s take at most ${MOST_MS} ms at full size for the worst context`,
    (operator) => {
      if (!isOperator(operator)) throw new Error(`there is no operator ${operator}`)
      let worst = { ms: 0, name: '' }
      const values = VALUES[operator]
      for (const [number, value] of values.slice(0, IS_FULL ? values.length : 1).entries()) {
        expect(value.length).toBeLessThanOrEqual(LONGEST_VALUE)
        const flagSet = sixConditions(operator, value)
        for (const _chunk of prepareIncrementally(flagSet));
        for (const { name, context } of contexts) {
          if (!IS_FULL) checkValues(flagSet, context)
          else {
            const ms = shortestMs(flagSet, context, { most: 5, enoughMs: MOST_MS / 4 })
            if (ms > worst.ms) worst = { ms, name: `value ${number}, ${name}` }
          }
        }
      }
      if (!IS_FULL) return
      process.stdout.write(`${operator}: ${worst.ms.toFixed(1)} ms (${worst.name})\n`)
      expect(worst.ms).toBeLessThanOrEqual(MOST_MS)
    },
  )
})

/** The time limit of a condition with a pattern, for the longest text that it searches. */
const MOST_MS_A_PATTERN = 1

describe('The cost of the worst accepted patterns', () => {
  const texts = ATTRIBUTES.flatMap(([name, it]) => {
    return typeof it === 'string' && it.length === 1024 ? [{ name, it }] : []
  })

  it.each(VALUES.matches)(
    `The evaluation of a pattern takes less than ${MOST_MS_A_PATTERN} ms at full size: %s`,
    (value) => {
      expect(
        conditionFault({ attribute: 'it', operator: 'matches', value }, EXTENSIONS),
      ).toBeUndefined()
      const conditions = [{ attribute: 'it', operator: 'matches', value }]
      const flag = flagDefinition('flag', { rules: [ruleDefinition({ conditions })] })
      const definition = { version: 1, flags: [flag], segments: [] }
      const flagSet = compileFlagSet(definition, { extensions: EXTENSIONS })
      for (const _chunk of prepareIncrementally(flagSet));
      expect(texts.length).toBeGreaterThan(0)
      for (const { name, it } of texts) {
        const context = parseContext({ kind: 'user', key: 'u', it })
        checkValues(flagSet, context)
        if (!IS_FULL) continue
        const ms = shortestMs(flagSet, context, { most: 50, enoughMs: MOST_MS_A_PATTERN })
        process.stdout.write(`matches ${value}: ${ms.toFixed(2)} ms (${name})\n`)
        expect(ms).toBeLessThan(MOST_MS_A_PATTERN)
      }
    },
  )
})
