import { compareCodePoints } from './code-point.ts'
import { type EvaluationContext, MAX_CONTEXT_NESTING, MAX_KIND_LENGTH } from './context.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/** A parsed attribute reference. Created by `compileReference`. */
export interface AttributeReference {
  /** The unparsed reference. An attribute of exactly this name takes precedence over a path. */
  readonly name: string
  /** The steps of a dotted path or JSON pointer. Empty if the reference is a plain name. */
  readonly path: readonly string[]
  /** The interpretations in which the reference starts with a context kind, shortest kind first. */
  readonly afterKind: readonly KindReference[]
}

interface KindReference {
  readonly kind: string
  readonly name: string | undefined
  readonly path: readonly string[]
}

const NO_PATH: readonly string[] = []
/** The maximum length of a kind in UTF-16 units, of which a character can have two. */
const MAX_KIND_UNITS = 2 * MAX_KIND_LENGTH

/** The parsed references, which many conditions and environments share. */
const compiled = new Map<string, AttributeReference>()
/** The maximum number and length of shared references. */
const MAX_SHARED = 1000
const MAX_SHARED_LENGTH = 100

/**
 * Parses an attribute reference such as `plan`, `address.country`, `user.plan` or `/a~1b/c`. Mostly
 * returns the same object for equal references.
 */
export function compileReference(reference: string): AttributeReference {
  const known = compiled.get(reference)
  if (known !== undefined) return known
  const parsed = parseReference(reference)
  if (reference.length > MAX_SHARED_LENGTH) return parsed
  if (compiled.size >= MAX_SHARED) compiled.clear()
  compiled.set(reference, parsed)
  return parsed
}

function parseReference(reference: string): AttributeReference {
  if (reference.startsWith('/')) return compilePointer(reference)
  const path = reference.split('.')
  const afterKind: KindReference[] = []
  let end = reference.indexOf('.')
  for (let steps = 1; end !== -1 && end <= MAX_KIND_UNITS; steps += 1) {
    afterKind.push({
      kind: reference.slice(0, end),
      name: reference.slice(end + 1),
      path: followable(path, steps),
    })
    end = reference.indexOf('.', end + 1)
  }
  return { name: reference, path: followable(path, 0), afterKind }
}

/**
 * Returns the steps of `path` from the index `from` on. Empty if there is only one step, or if
 * there are more steps than a context can have levels.
 */
function followable(path: readonly string[], from: number): readonly string[] {
  const steps = path.length - from
  return steps > 1 && steps <= MAX_CONTEXT_NESTING ? path.slice(from) : NO_PATH
}

function compilePointer(reference: string): AttributeReference {
  const path = reference
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const [kind = '', ...rest] = path
  const name = rest.length === 1 ? rest[0] : undefined
  return { name: reference, path, afterKind: rest.length > 0 ? [{ kind, name, path: rest }] : [] }
}

/**
 * Returns the value of the attribute that a reference names, or `undefined` if it is missing
 * (absent or null). Only own properties are read. The order of the properties in the context does
 * not matter.
 */
export function findAttribute(
  context: EvaluationContext,
  reference: string,
): JsonValue | undefined {
  return readAttribute(context, compileReference(reference))
}

/** A kind of a multi context, with its attributes. */
interface Part {
  readonly kind: string
  readonly attributes: JsonObject
}

/** The kinds of a multi context in the order of lookups: `user`, then the other kinds by name. */
export type Parts = readonly Part[]

/** Returns the kinds of a multi context, or `undefined` for any other context. */
export function partsOf(context: EvaluationContext): Parts | undefined {
  if (context.kind !== 'multi') return undefined
  const parts: Part[] = []
  let last = ''
  let isSorted = true
  for (const kind of Object.keys(context)) {
    const attributes = partOf(context, kind)
    if (attributes === undefined) continue
    isSorted &&= parts.length === 0 || compareKinds(last, kind) < 0
    parts.push({ kind, attributes })
    last = kind
  }
  // Most contexts are sorted already, and a check is faster than a sort.
  return isSorted ? parts : parts.sort(byKind)
}

function byKind(left: Part, right: Part): number {
  return compareKinds(left.kind, right.kind)
}

/**
 * Returns the same as `findAttribute`, for a parsed reference. `parts` is the result of `partsOf`,
 * which callers that read several attributes compute once.
 */
export function readAttribute(
  context: EvaluationContext,
  reference: AttributeReference,
  parts: Parts | undefined = partsOf(context),
): JsonValue | undefined {
  if (parts !== undefined) return readFromParts(context, reference, parts)
  return (
    readName(context, reference.name) ??
    readPath(context, reference.path) ??
    readAfterKind(context, reference)
  )
}

/**
 * Returns the value that a reference names in an element of an array. The empty reference names the
 * element itself. Any other reference names a property, or a path of properties, of an element that
 * is an object. `undefined` if the value is missing (absent or null).
 */
export function readElement(
  element: JsonValue,
  reference: AttributeReference,
): JsonValue | undefined {
  if (reference.name === '') return element ?? undefined
  if (!isJsonObject(element)) return undefined
  return readName(element, reference.name) ?? readPath(element, reference.path)
}

/** A context of one kind, or one kind of a multi context. */
type Attributes = { readonly [name: string]: JsonValue | undefined }

// Equivalent to `Object.hasOwn`, which V8 optimizes less.
const isOwn = Object.prototype.hasOwnProperty

function readName(attributes: Attributes, name: string): JsonValue | undefined {
  return isOwn.call(attributes, name) ? (attributes[name] ?? undefined) : undefined
}

/**
 * Returns the value at a path of own properties, or `undefined` if the value is missing or the path
 * is empty.
 */
export function readPath(attributes: Attributes, path: readonly string[]): JsonValue | undefined {
  const [first] = path
  if (first === undefined) return undefined
  let value = readName(attributes, first)
  for (let step = 1; step < path.length; step += 1) {
    if (!isJsonObject(value)) return undefined
    value = readName(value, path[step] ?? '')
  }
  return value
}

function readAfterKind(context: Attributes, reference: AttributeReference): JsonValue | undefined {
  const { afterKind } = reference
  for (let at = 0; at < afterKind.length; at += 1) {
    const rest = afterKind[at]
    const part = rest && ofKind(context, rest.kind)
    const value = part && readRest(part, rest)
    if (value !== undefined) return value
  }
  return undefined
}

/**
 * Returns the context of a kind, which can be a part of a multi context. `undefined` if there is
 * none.
 */
function ofKind(context: Attributes, kind: string): Attributes | undefined {
  if (context.kind === 'multi') return partOf(context, kind)
  return context.kind === kind ? context : undefined
}

function readRest(part: Attributes, rest: KindReference): JsonValue | undefined {
  if (rest.name === 'kind') return rest.kind
  return (
    (rest.name === undefined ? undefined : readName(part, rest.name)) ?? readPath(part, rest.path)
  )
}

function readFromParts(
  context: Attributes,
  reference: AttributeReference,
  parts: Parts,
): JsonValue | undefined {
  const { name, path } = reference
  if (name === 'kind') return parts.map(({ kind }) => kind)
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at]
    const value = part && readName(part.attributes, name)
    if (value !== undefined) return value
  }
  for (let at = 0; at < parts.length && path.length > 0; at += 1) {
    const part = parts[at]
    const value = part && readPath(part.attributes, path)
    if (value !== undefined) return value
  }
  return readAfterKind(context, reference)
}

function partOf(context: Attributes, kind: string): JsonObject | undefined {
  if (kind === 'kind') return undefined
  const part = readName(context, kind)
  return isJsonObject(part) ? part : undefined
}

function compareKinds(left: string, right: string): number {
  if (left === right) return 0
  if (left === 'user') return -1
  if (right === 'user') return 1
  return compareCodePoints(left, right)
}

const DEFAULT_BUCKETING = 'user.key'

/**
 * Returns the bucketing key of a context: the attribute that `bucketBy` names. For `user.key`, a
 * single context of another kind is bucketed by its own key. Returns `undefined` unless the
 * attribute is a safe integer or a text that is not empty.
 */
export function findBucketingKey(context: EvaluationContext, bucketBy: string): string | undefined {
  return readBucketingKey(context, compileReference(bucketBy))
}

/** Returns the same as `findBucketingKey`, for a parsed reference. */
export function readBucketingKey(
  context: EvaluationContext,
  bucketBy: AttributeReference,
  parts?: Parts,
): string | undefined {
  if (bucketBy.name !== DEFAULT_BUCKETING || context.kind === 'multi') {
    return toKeyText(readAttribute(context, bucketBy, parts))
  }
  // Few contexts have these attributes. Reading a constant property name is the fastest check.
  const hasOther = context['user.key'] !== undefined || context['user'] !== undefined
  const other = hasOther
    ? (readName(context, DEFAULT_BUCKETING) ?? readPath(context, bucketBy.path))
    : undefined
  return toKeyText(other ?? readName(context, 'key'))
}

/** Returns the key of the context of a kind, or `undefined` if there is no such context or key. */
export function findContextKey(context: EvaluationContext, kind: string): string | undefined {
  const part = ofKind(context, kind)
  return part && toKeyText(readName(part, 'key'))
}

/**
 * Converts a key to text. Returns a text unchanged, and a safe integer in decimal digits. Returns
 * `undefined` for the empty text and any other value.
 */
export function toKeyText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return Number.isSafeInteger(value) ? String(value) : undefined
}
