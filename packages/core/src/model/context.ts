import { FlagError, type Issue } from './errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/** Who or what is asking. `{}` matches no target, rule or segment. */
export type EvaluationContext = EmptyContext | SingleContext | MultiContext

export type EmptyContext = Readonly<Record<string, never>>

export interface SingleContext {
  readonly kind: string
  /** null, like every attribute that is null, means missing. */
  readonly key?: string | number | null
  readonly [attribute: string]: JsonValue | undefined
}

/** Several kinds at once, each under its own name. */
export interface MultiContext {
  readonly kind: 'multi'
  readonly [kind: string]: JsonValue | undefined
}

/** The longest name of a kind, in characters. */
export const MAX_KIND_LENGTH = 64
/** How deep objects and arrays may nest, the context itself included. */
export const MAX_CONTEXT_NESTING = 32
/** How many properties and elements of lists, at all depths, a context may have. */
export const MAX_CONTEXT_ATTRIBUTES = 2_000
/** The longest text, in UTF-16 units, that an attribute or an element may be. */
export const MAX_CONTEXT_TEXT_LENGTH = 8_192
/** How many kinds a multi context may have. */
export const MAX_CONTEXT_KINDS = 32

/** More would help nobody, and would let a hostile context make a large answer. */
const MAX_ISSUES = 20

/**
 * Accepts what a caller calls a context and returns the very same object, neither copied nor
 * changed. Throws `INVALID_CONTEXT` with `details.issues`, whose paths begin with `context`.
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
    if (kinds.length === 0) this.#refuse('context', 'must have a kind beside `kind` itself')
    if (kinds.length > MAX_CONTEXT_KINDS) {
      this.#refuse('context', `must not have more than ${MAX_CONTEXT_KINDS} kinds`)
      return
    }
    for (const kind of kinds) {
      const part = context[kind]
      const path = `context.${kind}`
      this.#kind(path, kind)
      if (!isJsonObject(part)) {
        this.#refuse(path, 'must be an object: the context of this kind')
        continue
      }
      const ownKind = own(part, 'kind') ?? kind
      if (ownKind !== kind) this.#refuse(`${path}.kind`, `must be \`${kind}\`, or absent`)
      this.#key(`${path}.key`, own(part, 'key'))
    }
  }

  #kind(path: string, kind: unknown): void {
    if (typeof kind !== 'string') this.#refuse(path, 'must be text')
    else if (kind === '') this.#refuse(path, 'must not be empty')
    else if (kind === 'multi') this.#refuse(path, 'must not be a multi context')
    else if (kind.length > MAX_KIND_LENGTH && Array.from(kind).length > MAX_KIND_LENGTH) {
      this.#refuse(path, `must have at most ${MAX_KIND_LENGTH} characters`)
    }
  }

  #key(path: string, key: unknown): void {
    if (key === undefined || key === null) return
    if (typeof key === 'string' || Number.isSafeInteger(key)) return
    this.#refuse(path, 'must be text or a safe integer')
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
      // Counting also ends a walk through lists that contain themselves.
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

  /** Counts one attribute; false when there are too many to go on. */
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

/** Whether nothing is known about who is asking; such a context matches no target, rule or segment. */
export function isEmptyContext(context: EvaluationContext): boolean {
  return context.kind === undefined
}
