import { sortByCodePoints } from '../model/code-point.ts'
import { type Incremental, Pace } from '../model/incremental.ts'
import { isSameDefinition } from '../model/json.ts'

interface Compiled<Definition> {
  readonly definition: Definition
}

/** A compiled definition, and that of the previous version with the same name. */
export interface Replacement<Value> {
  readonly before: Value
  readonly after: Value
}

/** Compiled definitions by name. */
export interface DefinitionIndex<Value> {
  /** Sorted by the code points of the names. */
  readonly byName: ReadonlyMap<string, Value>
  /**
   * The differences from the previous version. `undefined` if there is no previous version, or if
   * it has other names.
   */
  readonly replaced: readonly Replacement<Value>[] | undefined
}

interface IndexOptions<Definition, Value> {
  readonly nameOf: (definition: Definition) => unknown
  /** Throws if the definition does not have the declared type. */
  readonly create: (definition: Definition) => Value
  /** The definitions of the previous version, and their compiled forms. */
  readonly previous: PreviousIndex<Definition, Value> | undefined
}

interface PreviousIndex<Definition, Value> {
  readonly definitions: readonly Definition[]
  readonly byName: ReadonlyMap<string, Value>
}

/** The work of the first look at a definition. */
const INDEX_WORK = 64

/**
 * Compiles definitions. Unchanged definitions of the previous version are reused. A definition
 * without a name, with the name of an earlier one or without the declared type is omitted.
 */
export function* indexDefinitions<Definition, Value extends Compiled<Definition>>(
  definitions: readonly Definition[],
  options: IndexOptions<Definition, Value>,
): Incremental<DefinitionIndex<Value>> {
  const { nameOf, create, previous } = options
  const all = Array.isArray(definitions) ? (definitions as readonly Definition[]) : []
  const replaced = yield* replacedIn(all, options)
  if (previous !== undefined && replaced !== undefined) {
    const byName = new Map(previous.byName)
    for (const each of replaced) byName.set(nameOf(each.after.definition) as string, each.after)
    return { byName, replaced }
  }
  const found = new Map<string, Value>()
  const pace = new Pace()
  for (const definition of all) {
    const name = nameOf(definition)
    if (typeof name !== 'string' || found.has(name)) continue
    const before = previous?.byName.get(name)
    try {
      found.set(name, isCompiledFrom(before, definition) ? before : create(definition))
    } catch {
      // The definition is omitted. `findIssues` reports it.
    }
    if (before?.definition !== definition && pace.add(INDEX_WORK)) yield
  }
  return { byName: inOrder(found), replaced: undefined }
}

/**
 * Returns the differences from the previous version. Returns `undefined` if the names differ, or if
 * one of the versions has definitions that are omitted.
 */
function* replacedIn<Definition, Value extends Compiled<Definition>>(
  definitions: readonly Definition[],
  { nameOf, create, previous }: IndexOptions<Definition, Value>,
): Incremental<readonly Replacement<Value>[] | undefined> {
  if (previous === undefined || previous.byName.size !== definitions.length) return undefined
  // A malformed version has no array.
  if (previous.definitions?.length !== definitions.length) return undefined
  const replaced: Replacement<Value>[] = []
  const pace = new Pace()
  for (const [at, definition] of definitions.entries()) {
    const old = previous.definitions[at] as Definition
    if (definition === old) continue
    const name = nameOf(definition)
    const before = name === nameOf(old) ? previous.byName.get(name as string) : undefined
    if (before === undefined) return undefined
    try {
      if (!isCompiledFrom(before, definition)) replaced.push({ before, after: create(definition) })
    } catch {
      return undefined
    }
    if (pace.add(INDEX_WORK)) yield
  }
  return replaced
}

function isCompiledFrom<Definition, Value extends Compiled<Definition>>(
  compiled: Value | undefined,
  definition: Definition,
): compiled is Value {
  return compiled !== undefined && isSameDefinition(compiled.definition, definition)
}

function inOrder<Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  const names = sortByCodePoints([...map.keys()])
  const ordered = new Map<string, Value>()
  for (const name of names) ordered.set(name, map.get(name) as Value)
  return ordered
}
