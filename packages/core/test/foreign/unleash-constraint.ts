import { condition, type Expression, NEVER } from './expression.ts'

/** A constraint of Unleash on one field of the context. */
export interface Constraint {
  readonly contextName: string
  readonly operator: string
  readonly value?: string
  readonly values?: readonly string[]
  readonly inverted?: boolean
  readonly caseInsensitive?: boolean
}

const TEXT_OPERATORS = new Map([
  ['STR_STARTS_WITH', 'starts_with'],
  ['STR_ENDS_WITH', 'ends_with'],
  ['STR_CONTAINS', 'contains'],
  ['REGEX', 'matches'],
])

const VALUE_OPERATORS = new Map([
  ['NUM_GT', 'gt'],
  ['NUM_GTE', 'gte'],
  ['NUM_LT', 'lt'],
  ['NUM_LTE', 'lte'],
  ['DATE_AFTER', 'after'],
  ['DATE_BEFORE', 'before'],
])

const STRICT_SEMVER = '^[0-9]+[.][0-9]+[.][0-9]+'

/** Translates a constraint. An invalid one never matches, inverted or not. */
export function readConstraint(constraint: Constraint): Expression {
  const plain = readPlain(constraint)
  return constraint.inverted === true && plain !== NEVER ? { not: plain } : plain
}

function readPlain(constraint: Constraint): Expression {
  const { contextName, operator, value = '', values = [], caseInsensitive = false } = constraint
  const textual = TEXT_OPERATORS.get(operator)
  if (textual !== undefined) {
    const wanted = operator === 'REGEX' ? value : values
    return condition(contextName, caseInsensitive ? `${textual}_ci` : textual, wanted)
  }
  const valued = VALUE_OPERATORS.get(operator)
  if (valued !== undefined) return condition(contextName, valued, value)
  switch (operator) {
    case 'IN':
      return condition(contextName, 'in', values)
    case 'NOT_IN':
      return { not: condition(contextName, 'in', values) }
    case 'IN_CIDR':
      return condition(contextName, 'in_cidr', values)
    case 'NUM_EQ':
      return condition(contextName, 'between', [Number(value), Number(value)])
    default:
      return operator.startsWith('SEMVER_') ? readSemver(constraint) : NEVER
  }
}

/** Translates a comparison of versions. In Unleash, they have three parts and no leading `v`. */
function readSemver({ contextName, operator, value = '' }: Constraint): Expression {
  if (!new RegExp(STRICT_SEMVER).test(value)) return NEVER
  const compared = condition(contextName, operator.toLowerCase(), value)
  return { all: [condition(contextName, 'matches', STRICT_SEMVER), compared] }
}
