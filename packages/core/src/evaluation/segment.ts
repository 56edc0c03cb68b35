import {
  type AttributeReference,
  compileReference,
  readAttribute,
  toKeyText,
} from '../model/attribute.ts'
import { isEmptyContext } from '../model/context.ts'
import type { SegmentDefinition } from '../model/definition.ts'
import { type Incremental, MadeOnDemand, Pace, runToEnd } from '../model/incremental.ts'
import {
  type CompiledCondition,
  type ConditionCompiler,
  type ConditionScope,
  matchesAll,
  matchesAny,
  matchesNone,
} from '../operators/condition.ts'
import { hasSegmentShape } from './declared-shape.ts'
import { type References, referencesOfSegment } from './references.ts'

/** The parts of a segment that are compiled when they are first needed. */
interface SegmentParts {
  readonly conditions: readonly CompiledCondition[]
  readonly keyAttribute: AttributeReference
  readonly included: ReadonlySet<string>
  readonly excluded: ReadonlySet<string>
}

/** A segment that is compiled when it is first evaluated. */
export class CompiledSegment extends MadeOnDemand<SegmentParts> implements SegmentParts {
  readonly definition: SegmentDefinition
  readonly references: References

  /** Throws only if the definition does not have the declared type. */
  constructor(definition: SegmentDefinition, compiler: ConditionCompiler) {
    super((pace) => compileParts(definition, compiler, pace))
    this.definition = definition
    if (!hasSegmentShape(definition)) runToEnd(this.prepare(new Pace()))
    this.references = referencesOfSegment(definition, compiler)
  }

  get conditions() {
    return this.parts.conditions
  }

  get keyAttribute() {
    return this.parts.keyAttribute
  }

  get included() {
    return this.parts.included
  }

  get excluded() {
    return this.parts.excluded
  }
}

function* compileParts(
  { rules, keyAttribute, included, excluded }: SegmentDefinition,
  compiler: ConditionCompiler,
  pace: Pace,
): Incremental<SegmentParts> {
  return {
    conditions: yield* compiler.compileAll(rules, pace),
    keyAttribute: compileReference(keyAttribute),
    included: new Set(included),
    excluded: new Set(excluded),
  }
}

/** Returns `true` if the segment matches the context of the scope. */
export function matchesSegment(segment: CompiledSegment, scope: ConditionScope): boolean {
  if (isEmptyContext(scope.context)) return false
  const list = listWithKeyOf(segment, scope)
  if (list !== undefined) return list === 'included'
  return segment.definition.force || matchesConditions(segment, scope)
}

/**
 * Returns the name of the list that contains the key of the context, or `undefined` if neither list
 * contains the key. Returns `excluded` if both lists contain the key.
 */
export function listWithKeyOf(
  { included, excluded, keyAttribute }: CompiledSegment,
  { context, parts }: Pick<ConditionScope, 'context' | 'parts'>,
): 'included' | 'excluded' | undefined {
  if (included.size === 0 && excluded.size === 0) return undefined
  const key = toKeyText(readAttribute(context, keyAttribute, parts))
  if (key === undefined) return undefined
  if (excluded.has(key)) return 'excluded'
  return included.has(key) ? 'included' : undefined
}

function matchesConditions(segment: CompiledSegment, scope: ConditionScope): boolean {
  const { conditions } = segment
  if (conditions.length === 0) return false
  switch (segment.definition.logicalOp) {
    case 'AND':
      return matchesAll(conditions, scope)
    case 'OR':
      return matchesAny(conditions, scope)
    case 'NOT':
      return matchesNone(conditions, scope)
    default:
      return false
  }
}
