/**
 * The flags of a workload, without ids. Keys of `targets` receive `on`. A rule matches if all of `all` match
 * and, if it exists, at least one of `any`. It serves a value, or `undefined` for the 50/50 rollout, which
 * depends on the attribute `bucketBy`.
 *
 * @typedef {{ readonly attribute: string, readonly operator: string, readonly value: string | number | readonly string[] }} Test
 * @typedef {{ readonly all: readonly Test[], readonly any?: readonly Test[], readonly serves: boolean | undefined }} Rule
 * @typedef {{ readonly key: string, readonly isActive: boolean, readonly targets: readonly string[], readonly rules: readonly Rule[], readonly bucketBy: string, readonly fallback: boolean }} Flag
 */

/**
 * Converts a definition to simple flags.
 *
 * @param {import('../../src/index.ts').FlagSetDefinition} definition
 * @returns {readonly Flag[]}
 */
export function flagsOf(definition) {
  const segments = new Map(definition.segments.map((segment) => [segment.id, segment]))
  return definition.flags.map((flag) => {
    const isOn = (id) => flag.variations.find((each) => each.id === id)?.value === 'true'
    const rules = flag.rules.map(({ conditions, segmentId, variationId }) => {
      const segment = segmentId === null ? undefined : segments.get(segmentId)
      const inSegment = segment === undefined ? [] : segment.rules.map(testOf)
      const all = conditions.map(testOf)
      const serves = variationId === null ? undefined : isOn(variationId)
      return segment?.logicalOp === 'OR'
        ? { all, any: inSegment, serves }
        : { all: [...all, ...inSegment], serves }
    })
    const { key, isActive } = flag
    const targets = flag.targets.flatMap(({ keys }) => keys)
    const bucketBy = flag.rollouts[0]?.bucketBy.replace('user.', '') ?? 'key'
    return { key, isActive, targets, rules, bucketBy, fallback: isOn(flag.defaultVariationId) }
  })
}

/**
 * Returns the rules of a flag for engines without targets. A rule for the targets comes first.
 *
 * @param {Flag} flag
 * @returns {readonly Rule[]}
 */
export function rulesOf({ targets, rules }) {
  if (targets.length === 0) return rules
  return [{ all: [{ attribute: 'key', operator: 'in', value: targets }], serves: true }, ...rules]
}

/**
 * Returns rules for engines without `any`. A rule with `any` becomes several rules.
 *
 * @param {readonly Rule[]} rules
 * @returns {readonly Rule[]}
 */
export function flatRulesOf(rules) {
  return rules.flatMap(({ all, any, serves }) => {
    return any === undefined
      ? [{ all, serves }]
      : any.map((test) => ({ all: [...all, test], serves }))
  })
}

const LISTS = new Set(['in', 'not_in'])
const NUMBERS = new Set(['gt', 'gte', 'lt', 'lte'])

function testOf({ attribute, operator, value }) {
  if (LISTS.has(operator)) return { attribute, operator, value: JSON.parse(value) }
  return { attribute, operator, value: NUMBERS.has(operator) ? Number(value) : value }
}

/**
 * Returns an object of keys and values.
 *
 * @param {readonly string[]} keys
 * @param {readonly unknown[]} values
 */
export function recordOf(keys, values) {
  return Object.fromEntries(keys.map((key, index) => [key, values[index]]))
}
