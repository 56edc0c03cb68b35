import { compareCodePoints } from './code-point.ts'
import { type EvaluationContext, MAX_CONTEXT_NESTING, MAX_KIND_LENGTH } from './context.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/** A parsed attribute reference; parse once with `compileReference`, read often. */
export interface AttributeReference {
  /** The reference as it was written, which is also the attribute name that is tried first. */
  readonly name: string
  /** The steps of a dotted path or JSON pointer; empty when the name is all there is. */
  readonly path: readonly string[]
  /** The readings in which the reference begins with the name of a kind, shortest kind first. */
  readonly afterKind: readonly KindReference[]
}

interface KindReference {
  readonly kind: string
  readonly name: string | undefined
  readonly path: readonly string[]
}

const NO_PATH: readonly string[] = []
/** A character of a kind may be two UTF-16 units. */
const MAX_KIND_UNITS = 2 * MAX_KIND_LENGTH

/** Parses an attribute reference such as `plan`, `address.country`, `user.plan` or `/a~1b/c`. */
export function compileReference(reference: string): AttributeReference {
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

/** The path from a step on, unless it is a mere name or deeper than any context. */
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
 * The attribute that a reference names, or undefined when it is missing (absent or null).
 * Only own properties are read, and the order of keys in the context never changes the answer.
 */
export function findAttribute(
  context: EvaluationContext,
  reference: string,
): JsonValue | undefined {
  return readAttribute(context, compileReference(reference))
}

/** `findAttribute` for a reference that has been parsed already. */
export function readAttribute(
  context: EvaluationContext,
  reference: AttributeReference,
): JsonValue | undefined {
  if (context.kind === 'multi') return readFromKinds(context, reference)
  return (
    readName(context, reference.name) ??
    readPath(context, reference.path) ??
    readAfterKind(context, reference)
  )
}

/**
 * What a reference names within an element of an array: an attribute of that exact name or a path
 * of one that is an object, or with the empty reference the element itself.
 */
export function readElement(
  element: JsonValue,
  reference: AttributeReference,
): JsonValue | undefined {
  if (reference.name === '') return element ?? undefined
  if (!isJsonObject(element)) return undefined
  return readName(element, reference.name) ?? readPath(element, reference.path)
}

/** Readable as a context of one kind or as one part of a multi context. */
type Attributes = { readonly [name: string]: JsonValue | undefined }

/** As `Object.hasOwn`, which engines do not optimize. */
const isOwn = Object.prototype.hasOwnProperty

function readName(attributes: Attributes, name: string): JsonValue | undefined {
  return isOwn.call(attributes, name) ? (attributes[name] ?? undefined) : undefined
}

/** What lies at a path of own properties; `undefined` if it is missing, or the path is empty. */
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

/** The context itself or the part of a multi context; `undefined` if it has another kind. */
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

function readFromKinds(context: Attributes, reference: AttributeReference): JsonValue | undefined {
  if (reference.name === 'kind') return kindsOf(context)
  const value =
    readFirstKind(context, reference, (part, { name }) => readName(part, name)) ??
    (reference.path.length === 0
      ? undefined
      : readFirstKind(context, reference, (part, { path }) => readPath(part, path)))
  return value ?? readAfterKind(context, reference)
}

/** The value of the first kind that has one: `user`, then the others by name. */
function readFirstKind(
  context: Attributes,
  reference: AttributeReference,
  read: (part: JsonObject, reference: AttributeReference) => JsonValue | undefined,
): JsonValue | undefined {
  let first: JsonValue | undefined
  let firstKind = ''
  for (const kind of Object.keys(context)) {
    const part = partOf(context, kind)
    const value = part === undefined ? undefined : read(part, reference)
    if (value === undefined) continue
    if (first !== undefined && compareKinds(firstKind, kind) < 0) continue
    first = value
    firstKind = kind
  }
  return first
}

function partOf(context: Attributes, kind: string): JsonObject | undefined {
  if (kind === 'kind') return undefined
  const part = readName(context, kind)
  return isJsonObject(part) ? part : undefined
}

function kindsOf(context: Attributes): string[] {
  return Object.keys(context)
    .filter((kind) => partOf(context, kind) !== undefined)
    .sort(compareKinds)
}

function compareKinds(left: string, right: string): number {
  if (left === right) return 0
  if (left === 'user') return -1
  if (right === 'user') return 1
  return compareCodePoints(left, right)
}

const DEFAULT_BUCKETING = 'user.key'

/**
 * The text that decides a context's bucket: the attribute that `bucketBy` names, and for `user.key`
 * also the key of a single context of another kind. Undefined: the context cannot be placed.
 */
export function findBucketingKey(context: EvaluationContext, bucketBy: string): string | undefined {
  return readBucketingKey(context, compileReference(bucketBy))
}

/** `findBucketingKey` for a reference that has been parsed already. */
export function readBucketingKey(
  context: EvaluationContext,
  bucketBy: AttributeReference,
): string | undefined {
  if (bucketBy.name !== DEFAULT_BUCKETING || context.kind === 'multi') {
    return toKeyText(readAttribute(context, bucketBy))
  }
  // Few contexts have these. What is missing is found out soonest by a name that is written out.
  const hasOther = context['user.key'] !== undefined || context['user'] !== undefined
  const other = hasOther
    ? (readName(context, DEFAULT_BUCKETING) ?? readPath(context, bucketBy.path))
    : undefined
  return toKeyText(other ?? readName(context, 'key'))
}

/** The key of the context of this kind, or of that part of a multi context. */
export function findContextKey(context: EvaluationContext, kind: string): string | undefined {
  const part = ofKind(context, kind)
  return part && toKeyText(readName(part, 'key'))
}

/** A key as text: text as it is, safe integers in decimal; anything else, and empty text, is no key. */
export function toKeyText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return Number.isSafeInteger(value) ? String(value) : undefined
}
