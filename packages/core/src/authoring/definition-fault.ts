import type {
  BucketRange,
  ConditionDefinition,
  FlagDefinition,
  FlagSetDefinition,
  GradualRolloutDefinition,
  PrerequisiteDefinition,
  RangeRolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
  TargetDefinition,
  VariationDefinition,
} from '../model/definition.ts'
import type { Issue } from '../model/errors.ts'
import { parseTimestamp } from '../model/timestamp.ts'

/** The number of flags or segments that are checked between two interruptions. */
const CHECKS_PER_PART = 4

/**
 * Returns the first fault in the shape of a definition, or `undefined` if the shape is valid.
 * Accepts the same definitions as `flagSetDefinitionSchema` of `@ff/core/schema`, including unknown
 * fields, but does not copy them. Flags and segments in `checked` are skipped. References are not
 * checked; `findErrors` checks references. The work can be interrupted at each `yield`.
 */
export function* definitionFaultIncrementally(
  definition: unknown,
  checked: ReadonlySet<unknown> = new Set(),
): Generator<undefined, Issue | undefined> {
  const fault = versions(definition)
  if (fault !== undefined) return fault
  for (const [name, guard] of LISTS) {
    const list: unknown = (definition as Partial<FlagSetDefinition>)[name]
    if (!Array.isArray(list)) return below(name, NOT_AN_ARRAY)
    for (const [index, part] of list.entries()) {
      if (checked.has(part)) continue
      const fault = guard(part)
      if (fault !== undefined) return below(name, below(index, fault))
      if (index % CHECKS_PER_PART === 0) yield
    }
  }
  return undefined
}

/**
 * Returns the first fault of a value, with the path of the fault in the value. `undefined` if the
 * value is valid.
 */
type Guard = (value: unknown) => Issue | undefined

/** A field that can be absent, but cannot have the value `undefined`. */
interface Optional {
  readonly optional: Guard
}

/** A guard for each field of a type. The compiler reports a missing guard for a new field. */
type Fields<T> = {
  readonly [Name in keyof T]-?: undefined extends T[Name] ? Optional : Guard
}

function below(name: string | number, { path, message }: Issue): Issue {
  return { path: path === '' ? `${name}` : `${name}.${path}`, message }
}

function guard(expected: string, accepts: (value: unknown) => boolean): Guard {
  const fault: Issue = { path: '', message: `must be ${expected}` }
  return (value) => (accepts(value) ? undefined : fault)
}

function oneOf(...values: readonly string[]): Guard {
  const allowed = new Set<unknown>(values)
  return guard(`one of ${values.join(', ')}`, (value) => allowed.has(value))
}

function finite(expected: string, accepts: (value: number) => boolean): Guard {
  return guard(expected, (value) => Number.isFinite(value) && accepts(Number(value)))
}

function integer(min: number, max: number): Guard {
  const isInRange = (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
  return guard(`an integer from ${min} to ${max}`, isInRange)
}

const NOT_AN_ARRAY: Issue = { path: '', message: 'must be an array' }

function arrayOf(item: Guard): Guard {
  return (value) => {
    if (!Array.isArray(value)) return NOT_AN_ARRAY
    for (let index = 0; index < value.length; index += 1) {
      const fault = item(value[index])
      if (fault !== undefined) return below(index, fault)
    }
    return undefined
  }
}

const NOT_AN_OBJECT: Issue = { path: '', message: 'must be an object' }

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function object<T>(fields: Fields<T>): Guard {
  const checks = Object.entries<Guard | Optional>(fields).map(([name, field]) =>
    typeof field === 'function'
      ? { name, check: field, isOptional: false }
      : { name, check: field.optional, isOptional: true },
  )
  return (value) => {
    if (!isObject(value)) return NOT_AN_OBJECT
    for (const { name, check, isOptional } of checks) {
      if (isOptional && !(name in value)) continue
      const fault = check(value[name])
      if (fault !== undefined) return below(name, fault)
    }
    return undefined
  }
}

const text = guard('a string', (value) => typeof value === 'string')
const textOrNull = guard('a string or null', (value) => typeof value === 'string' || value === null)
const texts = arrayOf(text)
const bool = guard('a boolean', (value) => typeof value === 'boolean')
const number = guard('a finite number', Number.isFinite)
const percentage = finite('a number from 0 to 100', (value) => value >= 0 && value <= 100)
const positive = finite('a finite number above 0', (value) => value > 0)
const timestamp = guard(
  'an RFC 3339 timestamp with a time zone',
  (value) => typeof value === 'string' && parseTimestamp(value) !== undefined,
)
const bucket = integer(0, 100_000)
const version = integer(0, Number.MAX_SAFE_INTEGER)

const conditions = arrayOf(
  object<ConditionDefinition>({
    attribute: text,
    operator: text,
    value: text,
    negate: { optional: bool },
  }),
)

const bucketRange = object<BucketRange>({ variationId: text, from: bucket, to: bucket })
const REVERSED: Issue = { path: '', message: '`from` must not be greater than `to`' }
const bucketRangeInOrder: Guard = (value) => {
  const fault = bucketRange(value)
  if (fault !== undefined) return fault
  const { from, to } = value as BucketRange
  return from > to ? REVERSED : undefined
}

const rolloutBasis = { id: text, bucketBy: text, salt: text, scheme: text }
const strategy = oneOf('percentage', 'variant', 'gradual')
const rangeRollout = object<RangeRolloutDefinition>({
  ...rolloutBasis,
  strategy,
  ranges: arrayOf(bucketRangeInOrder),
  totalWeight: { optional: integer(1, 100_000) },
})
const gradualRollout = object<GradualRolloutDefinition>({
  ...rolloutBasis,
  strategy,
  variationId: text,
  targetPercentage: percentage,
  increment: percentage,
  intervalHours: positive,
  startAt: timestamp,
})
const rolloutStrategy = object<Pick<RangeRolloutDefinition, 'strategy'>>({ strategy })
const rollout: Guard = (value) => {
  const fault = rolloutStrategy(value)
  if (fault !== undefined) return fault
  const isGradual = (value as { readonly strategy: string }).strategy === 'gradual'
  return isGradual ? gradualRollout(value) : rangeRollout(value)
}

const rule = object<RuleDefinition>({
  id: text,
  orderIndex: number,
  createdAt: text,
  conditions,
  segmentId: textOrNull,
  variationId: textOrNull,
  rolloutId: textOrNull,
})

const flagDefinition = object<FlagDefinition>({
  id: text,
  key: text,
  type: oneOf('boolean', 'string', 'number', 'json'),
  isActive: bool,
  clientVisible: { optional: bool },
  variations: arrayOf(object<VariationDefinition>({ id: text, key: text, value: text })),
  defaultVariationId: text,
  offVariationId: textOrNull,
  targets: arrayOf(object<TargetDefinition>({ variationId: text, kind: text, keys: texts })),
  prerequisites: arrayOf(object<PrerequisiteDefinition>({ flagId: text, variationIds: texts })),
  rules: arrayOf(rule),
  rollouts: arrayOf(rollout),
})

const segmentDefinition = object<SegmentDefinition>({
  id: text,
  key: text,
  rules: conditions,
  logicalOp: oneOf('AND', 'OR', 'NOT'),
  force: bool,
  keyAttribute: text,
  included: texts,
  excluded: texts,
})

const versions = object<Pick<FlagSetDefinition, 'version' | 'clientVersion'>>({
  version,
  clientVersion: { optional: version },
})

const LISTS = [
  ['flags', flagDefinition],
  ['segments', segmentDefinition],
] as const
