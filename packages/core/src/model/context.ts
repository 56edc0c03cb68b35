import { FlagError, type Issue } from './errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/** The subject of an evaluation, such as a user. `{}` matches no target, rule or segment. */
export type EvaluationContext = EmptyContext | SingleContext | MultiContext

/** A context without a kind or attributes. */
export type EmptyContext = Readonly<Record<string, never>>

/** A context of one kind, with its attributes. */
export interface SingleContext {
  readonly kind: string
  /** The key that targets and rollouts use. `null` means missing, as for every attribute. */
  readonly key?: string | number | null
  readonly [attribute: string]: JsonValue | undefined
}

/** A context of several kinds. Each kind is a property that contains its attributes. */
export interface MultiContext {
  readonly kind: 'multi'
  readonly [kind: string]: JsonValue | undefined
}

/** The maximum length of the name of a kind, in characters. */
export const MAX_KIND_LENGTH = 64
/** The maximum depth of nested objects and arrays, the context itself included. */
export const MAX_CONTEXT_NESTING = 32
/** The maximum number of properties and array elements of a context, at all depths. */
export const MAX_CONTEXT_ATTRIBUTES = 2_000
/** The maximum length of a text in a context, in UTF-16 units. */
export const MAX_CONTEXT_TEXT_LENGTH = 8_192
/** The maximum number of kinds of a multi context. */
export const MAX_CONTEXT_KINDS = 32

/**
 * The maximum number of issues in an error. The limit bounds the size of the error for a hostile
 * context.
 */
const MAX_ISSUES = 20

/**
 * Checks that a value is a context, and returns the same object unchanged. Throws `INVALID_CONTEXT`
 * with `details.issues`. The paths of the issues begin with `context`.
 */
export function parseContext(input: unknown): EvaluationContext {
  const check = new ContextCheck()
  check.context(input)
  const [first] = check.issues
  if (first === undefined) return input as EvaluationContext
  throw new FlagError('INVALID_CONTEXT', `${first.path} ${first.message}`, {
    details: { issues: check.issues },
  })
}

class ContextCheck {
  readonly issues: Issue[] = []
  #attributes = 0

  context(input: unknown): void {
    if (!isJsonObject(input)) {
      this.#refuse('context', 'must be an object')
      return
    }
    if (Object.keys(input).length === 0) return
    if (own(input, 'kind') === 'multi') {
      this.#multi(input)
    } else {
      this.#kind('context.kind', own(input, 'kind'))
      this.#key('context.key', own(input, 'key'))
    }
    this.#object('context', input, 1)
  }

  #multi(context: JsonObject): void {
    const kinds = Object.keys(context).filter((kind) => kind !== 'kind')
    if (kinds.length === 0) this.#refuse('context', 'must have at least one kind')
    if (kinds.length > MAX_CONTEXT_KINDS) {
      this.#refuse('context', `must not have more than ${MAX_CONTEXT_KINDS} kinds`)
      return
    }
    for (const kind of kinds) {
      const part = context[kind]
      const path = `context.${kind}`
      this.#kind(path, kind)
      if (!isJsonObject(part)) {
        this.#refuse(path, 'must be an object with the attributes of this kind')
        continue
      }
      const ownKind = own(part, 'kind') ?? kind
      if (ownKind !== kind) this.#refuse(`${path}.kind`, `must be \`${kind}\`, or absent`)
      this.#key(`${path}.key`, own(part, 'key'))
    }
  }

  #kind(path: string, kind: unknown): void {
    if (typeof kind !== 'string') this.#refuse(path, 'must be a string, such as "user"')
    else if (kind === '') this.#refuse(path, 'must not be empty')
    else if (kind === 'multi') this.#refuse(path, 'must not be a multi context')
    else if (kind.length > MAX_KIND_LENGTH && Array.from(kind).length > MAX_KIND_LENGTH) {
      this.#refuse(path, `must have at most ${MAX_KIND_LENGTH} characters`)
    }
  }

  #key(path: string, key: unknown): void {
    if (key === undefined || key === null) return
    if (typeof key === 'string' || Number.isSafeInteger(key)) return
    this.#refuse(path, 'must be a string or an integer of at most 2^53 - 1, such as "user-1"')
  }

  #object(path: string, object: JsonObject, depth: number): void {
    for (const name of Object.keys(object)) {
      if (!this.#count()) return
      const value: unknown = object[name]
      if (value !== undefined) this.#value(path, name, value, depth)
    }
  }

  #list(path: string, list: readonly unknown[], depth: number): void {
    for (let index = 0; index < list.length; index += 1) {
      // The count also stops the traversal of a list that contains itself.
      if (!this.#count()) return
      this.#value(path, index, list[index], depth)
    }
  }

  #value(parent: string, name: string | number, value: unknown, depth: number): void {
    if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return
    const isText = typeof value === 'string'
    if (isText && value.length <= MAX_CONTEXT_TEXT_LENGTH) return
    const path = `${parent}.${name}`
    if (isText) {
      const most = MAX_CONTEXT_TEXT_LENGTH
      this.#refuse(path, `must have at most ${most} UTF-16 units (got ${value.length})`)
      return
    }
    const isList = Array.isArray(value)
    if (!isList && !isJsonObject(value)) this.#refuse(path, 'must be a JSON value')
    else if (depth === MAX_CONTEXT_NESTING) {
      this.#refuse(path, `must not nest more than ${MAX_CONTEXT_NESTING} levels deep`)
    } else if (isList) this.#list(path, value, depth + 1)
    else this.#object(path, value, depth + 1)
  }

  /** Counts one attribute. Returns `false` if the limit is exceeded. */
  #count(): boolean {
    this.#attributes += 1
    if (this.#attributes === MAX_CONTEXT_ATTRIBUTES + 1) {
      this.#refuse('context', `must not have more than ${MAX_CONTEXT_ATTRIBUTES} attributes`)
    }
    return this.#attributes <= MAX_CONTEXT_ATTRIBUTES
  }

  #refuse(path: string, message: string): void {
    if (this.issues.length < MAX_ISSUES) this.issues.push({ path, message })
  }
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Returns `true` if the context has no kind. Such a context matches no target, rule or segment. */
export function isEmptyContext(context: EvaluationContext): boolean {
  return context.kind === undefined
}
