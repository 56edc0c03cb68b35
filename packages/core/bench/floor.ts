import type {
  ConditionDefinition,
  FlagDefinition,
  FlagSetDefinition,
  FlagValues,
  RuleDefinition,
  SegmentDefinition,
} from '../src/index.ts'
import { compileSalt } from '../src/rollouts/bucket.ts'
import { BUCKET } from './floor-helpers.ts'
import type { UserContext } from './workload.ts'

/** Returns the values of all flags of one workload. */
export type Floor = (context: UserContext) => FlagValues

/**
 * Generates code that is comparable to code written by hand for one workload: an `if` for each
 * rule, a `Set` for each list, a loop over the key for each rollout, with a precomputed hash state
 * of the salt, and one object literal for the result. Uses `new Function`, which the engine never
 * does.
 */
export function floorOf(definition: FlagSetDefinition): Floor {
  const sets: ReadonlySet<string>[] = []
  const setOf = (texts: readonly string[]) => `sets[${sets.push(new Set(texts)) - 1}]`
  const test = ({ attribute, operator, value }: ConditionDefinition) => {
    if (operator === 'eq') return `c.${attribute} === ${JSON.stringify(value)}`
    return `${setOf(JSON.parse(value))}.has(c.${attribute})`
  }
  const segmentTest = ({ rules, logicalOp, included }: SegmentDefinition) => {
    if (included.length > 0) return `${setOf(included)}.has(c.key)`
    return `(${rules.map(test).join(logicalOp === 'OR' ? ' || ' : ' && ')})`
  }
  const segmentNames = new Map(definition.segments.map(({ id }, index) => [id, `s${index}`]))
  const segments = definition.segments.map(
    (each, index) => `const s${index} = ${segmentTest(each)};`,
  )
  const serve = (flag: FlagDefinition, { variationId, rolloutId }: RuleDefinition) => {
    const textOf = (id: string) => flag.variations.find((each) => each.id === id)?.value
    if (rolloutId === null) return `return ${textOf(variationId ?? '')};`
    const rollout = flag.rollouts.find(({ id }) => id === rolloutId)
    if (rollout === undefined || rollout.strategy === 'gradual') throw new Error('no fixed rollout')
    const { state } = compileSalt(rollout.salt)
    const ranges = rollout.ranges.map(
      ({ variationId: id, to }) => `if (b < ${to}) return ${textOf(id)};`,
    )
    return `const b = bucket(${state.blocks}, ${state.length}, c.key); ${ranges.join(' ')}`
  }
  const flags = definition.flags.map((flag, index) => {
    const rules = flag.rules.map((rule) => {
      const tests = rule.conditions.map(test)
      if (rule.segmentId !== null) tests.push(segmentNames.get(rule.segmentId) ?? 'false')
      return tests.length === 0
        ? `{ ${serve(flag, rule)} }`
        : `if (${tests.join(' && ')}) { ${serve(flag, rule)} }`
    })
    const parameters = ['c', ...segmentNames.values()].join(', ')
    const fallback = flag.variations.find(({ id }) => id === flag.defaultVariationId)?.value
    return {
      code: `function f${index}(${parameters}) {\n${rules.join('\n')}\nreturn ${fallback};\n}`,
      member: `${JSON.stringify(flag.key)}: f${index}(${parameters})`,
    }
  })
  const code = `
${BUCKET}
${flags.map((each) => each.code).join('\n')}
return (c) => {
  ${segments.join('\n  ')}
  return {\n${flags.map((each) => each.member).join(',\n')}\n};
}`
  return new Function('sets', code)(sets) as Floor
}
