import {
  type AttributeReference,
  compileReference,
  readAttribute,
  toKeyText,
} from '../model/attribute.ts'
import { isEmptyContext } from '../model/context.ts'
import type { ConditionDefinition, SegmentDefinition } from '../model/definition.ts'
import { elementsOf } from '../model/json.ts'
import {
  type CompiledCondition,
  type ConditionScope,
  matchesAll,
  matchesAny,
  matchesNone,
} from '../operators/condition.ts'
import { type References, referencesOfSegment } from './references.ts'

/** A segment that is prepared for evaluation. Created by `compileSegment`. */
export interface CompiledSegment {
  readonly definition: SegmentDefinition
  readonly conditions: readonly CompiledCondition[]
  readonly keyAttribute: AttributeReference
  readonly included: ReadonlySet<string>
  readonly excluded: ReadonlySet<string>
  readonly references: References
}

/** Compiles a segment. Throws only if the definition does not have the declared type. */
export function compileSegment(
  definition: SegmentDefinition,
  compileCondition: (definition: ConditionDefinition) => CompiledCondition,
): CompiledSegment {
  const conditions = elementsOf(definition.rules).map(compileCondition)
  return {
    definition,
    conditions,
    keyAttribute: compileReference(definition.keyAttribute),
    included: new Set(definition.included),
    excluded: new Set(definition.excluded),
    references: referencesOfSegment(definition.id, conditions),
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
