import type {
  ConditionDefinition,
  EvaluationContext,
  FlagDefinition,
  FlagSetDefinition,
  FlagValues,
  RolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
} from '../src/index.ts'
import { compileSalt } from '../src/rollouts/bucket.ts'
import { compileGradualRollout, stepsTaken } from '../src/rollouts/gradual-rollout.ts'
import { BUCKET, PARSERS } from './floor-helpers.ts'
import { NOW } from './workload.ts'

/** The generated code of one flag set. */
export interface MixedFloor {
  /** Returns the values of all flags. */
  readonly values: (context: EvaluationContext) => FlagValues
  /** Returns the number of the variation of one flag, 0 or 1. */
  readonly one: (flag: number, context: EvaluationContext) => number
}

/** The attributes by the code that reads them, and the code that parses them once. */
const PARSED: Readonly<Record<string, string>> = {
  signedUpAt: 'Date.parse(u.signedUpAt)',
  version: 'versionOf(u.version)',
  ip: 'addressOf(u.ip)',
}

/** Returns the code of an attribute, which is read only once for a context. */
function read(reference: string): string {
  const name = reference.replace(/^user\./, '')
  if (name.startsWith('company.')) return `company_${name.slice('company.'.length)}`
  return ['region', 'seats', 'tier'].includes(name) ? `company_${name}` : `user_${name}`
}

/**
 * Generates code that is comparable to code written by hand for one flag set of the mixed workload: each
 * attribute is read and parsed once, each rule is an `if`, and each list a `Set`. Flags are evaluated in
 * their order, in which no flag precedes its prerequisites.
 */
export function mixedFloorOf(definition: FlagSetDefinition): MixedFloor {
  const sets: unknown[] = []
  const constant = (value: unknown) => `constants[${sets.push(value) - 1}]`
  const segments = definition.segments.map((segment) => segmentCode(segment, constant))
  const flags = definition.flags.map((flag, number) => {
    return flagCode(flag, number, { constant, numbers: numbersOf(definition) })
  })
  const members = definition.flags.map(({ key }, number) => {
    return `${JSON.stringify(key)}: values[${number}][r${number}]`
  })
  const values = constant(
    definition.flags.map(({ type, variations }) => valuesOf(type, variations)),
  )
  const code = `
${BUCKET}${PARSERS}
const values = ${values};
function make(c) {
  const isMulti = c.kind === 'multi', u = isMulti ? c.user : c, o = isMulti ? c.company : none;
  ${reads()}
  ${segments.join('\n  ')}
  ${flags.join('\n  ')}
  return { ${members.join(', ')} };
}
return make;`
  const make = new Function('constants', code)(sets) as MixedFloor['values']
  return { values: make, one: oneOf(definition) }
}

/** Generates code for each flag alone, with the flags and segments that it needs. */
function oneOf(definition: FlagSetDefinition): MixedFloor['one'] {
  const sets: unknown[] = []
  const constant = (value: unknown) => `constants[${sets.push(value) - 1}]`
  const numbers = numbersOf(definition)
  const segments = definition.segments.map((segment) => segmentCode(segment, constant))
  const functions = definition.flags.map((flag, number) => {
    const needed = new Set<number>()
    collect(flag, definition, needed)
    const code = [...needed]
      .sort((a, b) => a - b)
      .map((other) => {
        const each = definition.flags[other]
        return each === undefined ? '' : flagCode(each, other, { constant, numbers })
      })
    const own = flagCode(flag, number, { constant, numbers })
    return `(c) => {
      const isMulti = c.kind === 'multi', u = isMulti ? c.user : c, o = isMulti ? c.company : none;
      ${reads()}
      ${neededSegments([...code, own].join(' '), segments)}
      ${[...code, own].join('\n')}
      return r${number};
    }`
  })
  const code = `${BUCKET}${PARSERS}\nconst all = [${functions.join(',\n')}];\nreturn (flag, c) => all[flag](c);`
  return new Function('constants', code)(sets) as MixedFloor['one']
}

/** Returns the code of the segments that other code names, and of those that they refer to. */
function neededSegments(code: string, segments: readonly string[]): string {
  const needed = new Set<number>()
  const add = (text: string) => {
    for (const [, number] of text.matchAll(/\bsegment_(\d+)\b/g)) {
      if (needed.has(Number(number))) continue
      needed.add(Number(number))
      add(segments[Number(number)] ?? '')
    }
  }
  add(code)
  return [...needed]
    .sort((a, b) => a - b)
    .map((number) => segments[number])
    .join(' ')
}

function collect(flag: FlagDefinition, definition: FlagSetDefinition, needed: Set<number>): void {
  for (const { flagId } of flag.prerequisites) {
    const number = definition.flags.findIndex(({ id }) => id === flagId)
    const other = definition.flags[number]
    if (other === undefined || needed.has(number)) continue
    needed.add(number)
    collect(other, definition, needed)
  }
}

function numbersOf({ flags }: FlagSetDefinition): ReadonlyMap<string, number> {
  return new Map(flags.map(({ id }, number) => [id, number]))
}

function valuesOf(type: string, variations: FlagDefinition['variations']): unknown[] {
  return variations.map(({ value }) => (type === 'string' ? value : JSON.parse(value)))
}

function reads(): string {
  const names = [
    ...['plan', 'device', 'country', 'email', 'accountId', 'age', 'spend', 'tags', 'key'],
    ...Object.keys(PARSED),
  ]
  const users = names.map((name) => `const user_${name} = ${PARSED[name] ?? `u.${name}`};`)
  const companies = ['key', 'tier', 'region', 'seats'].map((name) => {
    return `const company_${name} = o.${name};`
  })
  return [...users, ...companies].join(' ')
}

type Constant = (value: unknown) => string

function segmentCode({ id, rules, logicalOp, included }: SegmentDefinition, constant: Constant) {
  const tests = rules.map((each) => test(each, constant)).join(logicalOp === 'OR' ? ' || ' : ' && ')
  const listed = included.length > 0 ? `${constant(new Set(included))}.has(user_key) || ` : ''
  return `const ${nameOf(id)} = ${listed}(${tests});`
}

const nameOf = (segmentId: string) => segmentId.replace('-', '_')

/** Returns the code of a condition. A missing attribute never matches. */
function test({ attribute, operator, value }: ConditionDefinition, constant: Constant): string {
  const a = read(attribute)
  const text = JSON.stringify(value)
  const set = () => constant(new Set(JSON.parse(value)))
  switch (operator) {
    case 'eq':
      return `${a} === ${text}`
    case 'neq':
      return `(${a} !== undefined && ${a} !== ${text})`
    case 'in':
      return `${set()}.has(${a})`
    case 'not_in':
      return `(${a} !== undefined && !${set()}.has(${a}))`
    case 'in_segment':
      return nameOf(JSON.parse(value)[0])
    case 'gt':
      return `${a} > ${value}`
    case 'gte':
      return `${a} >= ${value}`
    case 'lt':
      return `${a} < ${value}`
    case 'lte':
      return `${a} <= ${value}`
    case 'before':
      return `${a} < ${Date.parse(value)}`
    case 'after':
      return `${a} > ${Date.parse(value)}`
    case 'between': {
      const [low, high] = JSON.parse(value)
      return `(${a} >= ${low} && ${a} <= ${high})`
    }
    case 'semver_gte':
      return `${a} >= ${versionOf(value)}`
    case 'semver_lt':
      return `${a} < ${versionOf(value)}`
    case 'in_cidr': {
      const [network = '', bits = '32'] = value.split('/')
      const shift = 32 - Number(bits)
      return `(${a} >>> ${shift}) === ${addressOf(network) >>> shift}`
    }
    case 'ends_with':
      return `${a}.endsWith(${text})`
    case 'starts_with':
      return `${a}.startsWith(${text})`
    case 'contains':
      return `${a}.includes(${text})`
    case 'matches':
      return `${constant(new RegExp(value))}.test(${a})`
    case 'array_contains_all':
      return `${a}.includes(${JSON.stringify(JSON.parse(value)[0])})`
    default:
      throw new Error(`The floor does not know the operator ${operator}`)
  }
}

function versionOf(text: string): number {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map(Number)
  return major * 1_000_000 + minor * 1000 + patch
}

function addressOf(text: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
}

interface FlagCodeOptions {
  readonly constant: Constant
  /** The numbers of the flags by id. */
  readonly numbers: ReadonlyMap<string, number>
}

/** Returns the code that computes the number of the variation of a flag, 0 or 1. */
function flagCode(flag: FlagDefinition, number: number, { constant, numbers }: FlagCodeOptions) {
  if (!flag.isActive) return `const r${number} = 1;`
  const met = flag.prerequisites.map(({ flagId, variationIds }) => {
    const other = `r${numbers.get(flagId)}`
    return variationIds.length === 2 ? 'true' : `${other} === 0`
  })
  const targets = flag.targets.map(({ kind, keys }) => {
    const key = kind === 'company' ? 'company_key' : 'user_key'
    return `if (${constant(new Set(keys))}.has(${key})) break f${number};`
  })
  const rules = flag.rules.map((rule) => ruleCode(flag, rule, { number, constant }))
  const steps = [...targets, ...rules, `r${number} = 1;`].join(' ')
  const body = `f${number}: { ${steps} }`
  const guarded = met.length === 0 ? body : `if (${met.join(' && ')}) ${body} else r${number} = 1;`
  return `let r${number} = 0; ${guarded}`
}

interface RuleCodeOptions {
  readonly number: number
  readonly constant: Constant
}

function ruleCode(
  flag: FlagDefinition,
  { conditions, segmentId, variationId, rolloutId }: RuleDefinition,
  { number, constant }: RuleCodeOptions,
): string {
  const tests = conditions.map((each) => test(each, constant))
  if (segmentId !== null) tests.push(nameOf(segmentId))
  const rollout = flag.rollouts.find(({ id }) => id === rolloutId)
  const place = flag.variations.findIndex(({ id }) => id === variationId)
  const serve =
    rollout === undefined
      ? `{ r${number} = ${place}; break f${number}; }`
      : serveCode(rollout, number)
  return tests.length === 0 ? serve : `if (${tests.join(' && ')}) ${serve}`
}

/** Returns the code of a rollout. Its first variation has the lower buckets. */
function serveCode(rollout: RolloutDefinition, number: number): string {
  const key = read(rollout.bucketBy)
  const { text } = compileSalt(rollout.salt)
  const [limit, hasRest] = limitOf(rollout)
  const bucket = `bucket(0, 0, ${JSON.stringify(text)} + ${key})`
  const rest = hasRest ? `{ r${number} = 1; break f${number}; }` : ''
  const serve = `if (${bucket} < ${limit}) break f${number};${rest === '' ? '' : ` else ${rest}`}`
  return key.startsWith('company_') ? `if (${key} !== undefined) { ${serve} }` : `{ ${serve} }`
}

/** Returns the number of buckets of the first variation, and `true` if another one has the others. */
function limitOf(rollout: RolloutDefinition): readonly [limit: number, hasRest: boolean] {
  if (rollout.strategy !== 'gradual') return [rollout.ranges[0]?.to ?? 0, true]
  const gradual = compileGradualRollout(rollout)
  return [Math.min(gradual.target, gradual.increment * stepsTaken(gradual, NOW)), false]
}
