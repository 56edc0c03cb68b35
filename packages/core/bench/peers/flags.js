/**
 * The flags of a workload, without ids. A rule matches if all of `all` match and, if it exists, at
 * least one of `any`. It serves a value, or `undefined` for the 50/50 rollout.
 *
 * @typedef {{ readonly attribute: string, readonly values: readonly string[] }} Test
 * @typedef {{ readonly all: readonly Test[], readonly any?: readonly Test[], readonly serves: boolean | undefined }} Rule
 * @typedef {{ readonly key: string, readonly rules: readonly Rule[], readonly fallback: boolean }} Flag
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
    return { key: flag.key, rules, fallback: isOn(flag.defaultVariationId) }
  })
}

/**
 * Returns the rules of a flag for engines without `any`. A rule with `any` becomes several rules.
 *
 * @param {Flag} flag
 * @returns {readonly Rule[]}
 */
export function flatRulesOf(flag) {
  return flag.rules.flatMap(({ all, any, serves }) => {
    return any === undefined
      ? [{ all, serves }]
      : any.map((test) => ({ all: [...all, test], serves }))
  })
}

function testOf({ attribute, operator, value }) {
  return { attribute, values: operator === 'eq' ? [value] : JSON.parse(value) }
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
