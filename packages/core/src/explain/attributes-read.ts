import { dependenciesOf } from '../evaluation/dependency-graph.ts'
import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { flagName, segmentName } from '../evaluation/references.ts'
import type { CompiledSegment } from '../evaluation/segment.ts'
import { type AttributeReference, compileReference, readPath } from '../model/attribute.ts'
import { compareCodePoints } from '../model/code-point.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import { getOrMake } from '../model/get-or-make.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.ts'

/**
 * Returns the references of all attributes that the rules, segments and rollouts of a flag set
 * read, sorted by code point.
 */
export function attributesRead(flagSet: FlagSet): readonly string[] {
  return referencesOf(flagSet).map(({ name }) => name)
}

/**
 * Returns the references of the attributes that the results of these flags can depend on, including
 * those that other flags and segments read for them. Unknown keys are ignored.
 */
export function attributesReadBy(
  flagSet: FlagSet,
  flagKeys: Iterable<string>,
): ReadonlySet<string> {
  const names = dependenciesOf(flagSet.dependencies.nodes, Array.from(flagKeys, flagName))
  const flags = flagSet.ordered.filter(({ key }) => names.has(flagName(key)))
  const segments = [...flagSet.segments].filter(([id]) => names.has(segmentName(id)))
  return new Set(
    gather(
      flags,
      segments.map(([, segment]) => segment),
    ).map(({ name }) => name),
  )
}

/**
 * Returns a reduced context for which every flag has the same result as for `context`. The reduced
 * context contains the kinds, the keys, the attributes that the flag set reads, and the attributes
 * of the references in `alsoKept`. `context` is not modified. Nested values are not copied.
 */
export function minimalContext(
  flagSet: FlagSet,
  context: EvaluationContext,
  alsoKept: readonly string[] = [],
): EvaluationContext {
  if (isEmptyContext(context ?? {})) return context
  const references = [
    ...keyNamesOf(context).map(compileReference),
    ...referencesOf(flagSet),
    ...compiledReferences(alsoKept),
  ]
  if (context.kind !== 'multi') {
    return minimalPart(context as JsonObject, context.kind, references) as EvaluationContext
  }
  const kept: Kept = Object.create(null)
  kept['kind'] = 'multi'
  for (const kind of Object.keys(context)) {
    const part = context[kind]
    if (isJsonObject(part)) kept[kind] = minimalPart(part, kind, references)
  }
  return kept as EvaluationContext
}

/**
 * Returns the references of the keys of a context. An attribute can have the name of such a
 * reference, so that it would take precedence over the key.
 */
function keyNamesOf(context: EvaluationContext): readonly string[] {
  return [...new Set(['user', ...kindsIn(context)])].map((kind) => `${kind}.key`)
}

function kindsIn(context: EvaluationContext): readonly string[] {
  if (context.kind !== 'multi') return typeof context.kind === 'string' ? [context.kind] : []
  return Object.keys(context).filter((kind) => kind !== 'kind' && isJsonObject(context[kind]))
}

/**
 * Returns a function that returns `true` if an attribute has the same value in a reduced context as
 * in the original context. `kept` contains the references that decided about the reduction: those
 * of `attributesRead` and `alsoKept`.
 */
export function knownAttributes(
  reduced: EvaluationContext,
  kept: ReadonlySet<string>,
): (reference: string) => boolean {
  const keys = new Set([...KEPT_ALWAYS, ...keyNamesOf(reduced)])
  const { kind, user } = reduced
  const first = kind === 'multi' ? user : reduced
  const attributes = isJsonObject(first) ? first : {}
  return (reference) => {
    if (kept.has(reference) || keys.has(reference)) return true
    // The name takes precedence over a path. Only objects can be incomplete.
    const value = Object.hasOwn(attributes, reference) ? (attributes[reference] ?? null) : null
    return value !== null && !isJsonObject(value)
  }
}

/**
 * A reduced context. The object has no prototype, so that an attribute with the name `__proto__` is
 * kept like any other.
 */
type Kept = Record<string, JsonValue>

const KEPT_ALWAYS = ['kind', 'key'] as const

function minimalPart(
  part: JsonObject,
  kind: string | undefined,
  references: readonly AttributeReference[],
): Kept {
  const kept: Kept = Object.create(null)
  for (const name of KEPT_ALWAYS) keep(kept, part, [name])
  for (const { name, path, afterKind } of references) {
    if (keep(kept, part, [name]) || keep(kept, part, path)) continue
    for (const rest of afterKind) {
      if (rest.kind !== kind) continue
      if (rest.name !== undefined && keep(kept, part, [rest.name])) break
      if (keep(kept, part, rest.path)) break
    }
  }
  return kept
}

/**
 * Copies the value at a path to `kept`, unless an object that contains the value was copied before.
 * Returns `false` if there is no value.
 */
function keep(kept: Kept, from: JsonObject, path: readonly string[]): boolean {
  if (readPath(from, path) === undefined) return false
  let source: JsonValue = from
  let target = kept
  for (const [index, step] of path.entries()) {
    source = (source as JsonObject)[step] ?? null
    const before = target[step]
    if (before === source) break
    if (index === path.length - 1) target[step] = source
    else {
      const next: Kept = isJsonObject(before) ? before : Object.create(null)
      target[step] = next
      target = next
    }
  }
  return true
}

/**
 * A cache of the references of each flag set, which is possible because flag sets are immutable.
 */
const gathered = new WeakMap<FlagSet, readonly AttributeReference[]>()

function referencesOf(flagSet: FlagSet): readonly AttributeReference[] {
  const { flagsByKey, segments } = flagSet
  return getOrMake(gathered, flagSet, () => gather(flagsByKey.values(), segments.values()))
}

/** A cache of compiled references by their list. */
const compiled = new WeakMap<readonly string[], readonly AttributeReference[]>()

function compiledReferences(names: readonly string[]): readonly AttributeReference[] {
  return getOrMake(compiled, names, () => names.map(compileReference))
}

function gather(
  flags: Iterable<CompiledFlag>,
  segments: Iterable<CompiledSegment>,
): readonly AttributeReference[] {
  const byName = new Map<string, AttributeReference>()
  const add = (reference: AttributeReference | undefined) => {
    if (reference !== undefined) byName.set(reference.name, reference)
  }
  for (const { rules } of flags) {
    for (const { conditions, serve } of rules) {
      for (const { reference } of conditions) add(reference)
      if (serve.kind === 'rollout') add(serve.rollout.bucketBy)
    }
  }
  for (const { conditions, keyAttribute, included, excluded } of segments) {
    for (const { reference } of conditions) add(reference)
    if (included.size > 0 || excluded.size > 0) add(keyAttribute)
  }
  return [...byName.values()].sort((left, right) => compareCodePoints(left.name, right.name))
}
