/**
 * What the workloads ask, without ids: a rule holds when all of `all` hold and, where there is
 * one, any of `any`. It serves a value, or undefined for the 50/50 rollout.
 *
 * @typedef {{ readonly attribute: string, readonly values: readonly string[] }} Test
 * @typedef {{ readonly all: readonly Test[], readonly any?: readonly Test[], readonly serves: boolean | undefined }} Rule
 * @typedef {{ readonly key: string, readonly rules: readonly Rule[], readonly fallback: boolean }} Flag
 */

/**
 * @param {import('../../src/index.ts').FlagSetDefinition} definition
 * @returns {readonly Flag[]}
 */
export function flagsOf(definition) {
  const segments = new Map(definition.segments.map((segment) => [segment.id, segment]))
  return definition.flags.map((flag) => {
    const isOn = (id) => flag.variations.find((each) => each.id === id)?.value === 'true'
    const rules = flag.rules.map(({ conditions, segmentId, variationId }) => {
      const segment = segmentId === null ? undefined : segments.get(segmentId)
      const asked = segment === undefined ? [] : segment.rules.map(testOf)
      const all = conditions.map(testOf)
      const serves = variationId === null ? undefined : isOn(variationId)
      return segment?.logicalOp === 'OR'
        ? { all, any: asked, serves }
        : { all: [...all, ...asked], serves }
    })
    return { key: flag.key, rules, fallback: isOn(flag.defaultVariationId) }
  })
}

/**
 * For engines that know only `all`: a rule that asks for any of two becomes two rules.
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
 * @param {readonly string[]} keys
 * @param {readonly unknown[]} values
 */
export function recordOf(keys, values) {
  return Object.fromEntries(keys.map((key, index) => [key, values[index]]))
}
