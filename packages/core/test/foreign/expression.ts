import type { ConditionDefinition, SegmentDefinition } from '../../src/index.ts'
import { segmentDefinition } from '../definitions.ts'

/** A nested condition of another system. */
export type Expression =
  | ConditionDefinition
  | { readonly all: readonly Expression[] }
  | { readonly any: readonly Expression[] }
  | { readonly not: Expression }

/** Returns a condition on an attribute. A value that is not text is converted to JSON text. */
export function condition(
  attribute: string,
  operator: string,
  value: unknown = '',
): ConditionDefinition {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { attribute, operator, value: text }
}

/** An expression that always matches. */
export const ALWAYS: Expression = { all: [] }
/** A condition that never matches. */
export const NEVER: ConditionDefinition = condition('kind', 'not_exists')

/**
 * Converts expressions to the conditions of a rule or a segment, which must all match. Other
 * combinations are converted to segments that conditions refer to.
 */
export class ExpressionWriter {
  readonly #segments: SegmentDefinition[] = []

  get segments(): readonly SegmentDefinition[] {
    return this.#segments
  }

  /** Returns the conditions of an expression. New segments are added to `segments`. */
  conditionsOf(expression: Expression): readonly ConditionDefinition[] {
    if ('all' in expression) return expression.all.flatMap((each) => this.conditionsOf(each))
    if ('not' in expression) return [negated(this.#conditionOf(expression.not))]
    if (!('any' in expression)) return [expression]
    const options = expression.any.map((each) => this.conditionsOf(each))
    if (options.some((conditions) => conditions.length === 0)) return []
    const [first, ...others] = options
    if (first !== undefined && others.length === 0) return first
    return [
      this.#joined(
        'OR',
        options.map((conditions) => this.#asOne(conditions)),
      ),
    ]
  }

  #conditionOf(expression: Expression): ConditionDefinition {
    return this.#asOne(this.conditionsOf(expression))
  }

  #asOne(conditions: readonly ConditionDefinition[]): ConditionDefinition {
    const [first = negated(NEVER), ...others] = conditions
    return others.length === 0 ? first : this.#joined('AND', conditions)
  }

  #joined(logicalOp: 'AND' | 'OR', rules: readonly ConditionDefinition[]): ConditionDefinition {
    if (rules.length === 0) return NEVER
    const id = `expression ${this.#segments.length}`
    this.#segments.push(segmentDefinition(id, { logicalOp, rules }))
    return condition('', 'in_segment', id)
  }
}

function negated({ negate, ...rest }: ConditionDefinition): ConditionDefinition {
  return negate === true ? rest : { ...rest, negate: true }
}
