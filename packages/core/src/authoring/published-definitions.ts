import { compileIncrementally, prepareDefinitions } from '../evaluation/flag-set.ts'
import {
  flagIdName,
  flagName,
  namesIn,
  referencesOfFlag,
  referencesOfSegment,
  segmentName,
} from '../evaluation/references.ts'
import { utf8Length } from '../hashing/utf8.ts'
import type {
  ConditionDefinition,
  FlagDefinition,
  FlagSetDefinition,
  SegmentDefinition,
} from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental } from '../model/incremental.ts'
import { ConditionCompiler } from '../operators/condition.ts'
import type { Changed, SegmentProperties } from './definition-delta.ts'
import { sentencesByIdentity } from './issues.ts'

/** A change that is to be published. If `definition` is `null`, the flag or segment is deleted. */
export type DefinitionChange =
  | ({ readonly kind: 'flag' } & Changed<FlagDefinition>)
  | ({ readonly kind: 'segment' } & Changed<SegmentProperties>)
  /** A change of the included or excluded keys of a segment. */
  | { readonly kind: 'segmentKeys'; readonly segmentId: string }

/** Changed definitions and their version. A `DefinitionDelta` is one. */
interface PublishedChanges {
  readonly version: number
  readonly flags: readonly Changed<FlagDefinition>[]
  readonly segments: readonly Changed<SegmentProperties>[]
}

/** The extensions and the limit with which changes of an environment are checked. */
export interface PublishRules {
  readonly extensions: Extensions
  /** The maximum total size of all condition values, in bytes of UTF-8. */
  readonly maxConditionValueBytes: number
}

/** A published flag or segment, with values that are derived from its definition. */
interface Entry {
  readonly flags: readonly FlagDefinition[]
  readonly segments: readonly SegmentDefinition[]
  /** The dependency names by which other entries refer to this entry. */
  readonly names: readonly string[]
  /** The dependency names that this entry refers to. */
  readonly references: readonly string[]
  /** The total size of the entry's condition values, in bytes of UTF-8. */
  readonly valueBytes: number
}

type NamedEntry = readonly [name: string, entry: Entry | undefined]

/**
 * The changed entries after the change, by name. An entry is `undefined` if the flag or segment is
 * deleted.
 */
type ChangedEntries = ReadonlyMap<string, Entry | undefined>

/**
 * The published definitions of one environment. The check of a change compiles only the definitions
 * that can affect the result of the check: the changed definitions, their dependents, and the
 * dependencies of all these definitions. The included and excluded keys of segments are not stored,
 * because they cannot make a definition invalid.
 */
export class PublishedDefinitions {
  readonly #rules: PublishRules
  /** The entries. Each key is the dependency name of the id of a flag or segment. */
  readonly #entries = new Map<string, Entry>()
  /** The key in `#entries` of the entry that has a name in `Entry.names`, by that name. */
  readonly #owners = new Map<string, string>()
  /** The keys in `#entries` of all entries that refer to a name, by that name. */
  readonly #dependents = new Map<string, Set<string>>()
  /** The size of the condition values of all entries, in bytes of UTF-8. */
  #valueBytes = 0
  #version = 0

  constructor({ version, flags, segments }: FlagSetDefinition, rules: PublishRules) {
    this.#rules = rules
    const named = <T extends { readonly id: string }>(definition: T) => {
      return { id: definition.id, definition }
    }
    this.advance({ version, flags: flags.map(named), segments: segments.map(named) })
  }

  /** The version of the last applied change. */
  get version(): number {
    return this.#version
  }

  /** Applies the changes since the current version, and sets the version to that of the changes. */
  advance({ version, flags, segments }: PublishedChanges): this {
    for (const change of flags) this.#replace(...this.#flagEntry(change))
    for (const change of segments) this.#replace(...this.#segmentEntry(change))
    this.#version = version
    return this
  }

  /**
   * Returns a sentence for each fault that these changes would introduce: an unresolvable
   * reference, a cycle, an invalid value, or a total size of condition values that grows and
   * exceeds `maxConditionValueBytes`. Faults that exist already are ignored. The list is empty if
   * there are no new faults.
   */
  *checkChange(changes: readonly DefinitionChange[]): Incremental<readonly string[]> {
    const definitions = changes.filter(({ kind }) => kind !== 'segmentKeys')
    const changed = new Map(definitions.map((change) => this.#changedEntry(change)))
    const tooLarge = this.#valueBytesFault(changed)
    if (tooLarge !== undefined) return [tooLarge]
    const before: Entry[] = []
    const after: Entry[] = []
    for (const name of this.#affectedBy(changed)) {
      const current = this.#entries.get(name)
      const next = changed.has(name) ? changed.get(name) : current
      if (current !== undefined) before.push(current)
      if (next !== undefined) after.push(next)
    }
    const faults = yield* this.#faultsOf(after)
    if (faults.size === 0) return []
    const known = yield* this.#faultsOf(before)
    const introduced = [...faults].filter(([identity]) => !known.has(identity))
    return [...new Set(introduced.map(([, sentence]) => sentence))]
  }

  /**
   * Returns `true` if the changes can change a response to an SDK key of kind `client`. This is the
   * case if they affect a flag that is visible to clients before or after the changes, or a
   * dependency of such a flag.
   */
  affectsClients(changes: readonly DefinitionChange[]): boolean {
    const changed = new Map(changes.map((change) => this.#changedEntry(change)))
    return [...this.#withDependents(changed)].some((name) => {
      return isClientVisible(this.#entries.get(name)) || isClientVisible(changed.get(name))
    })
  }

  /** Returns the name of the changed entry, and the entry after the change. */
  #changedEntry(change: DefinitionChange): NamedEntry {
    if (change.kind === 'flag') return this.#flagEntry(change)
    if (change.kind === 'segment') return this.#segmentEntry(change)
    const name = segmentName(change.segmentId)
    return [name, this.#entries.get(name)]
  }

  #flagEntry({ id, definition }: Changed<FlagDefinition>): NamedEntry {
    const name = flagIdName(id)
    if (definition === null) return [name, undefined]
    const names = [name, flagName(definition.key)]
    const derived = readIfSound(() => {
      const conditions = definition.rules.flatMap((rule) => rule.conditions)
      const references = namesIn(
        referencesOfFlag(definition, new ConditionCompiler(this.#rules.extensions)),
      )
      return { references, valueBytes: valueBytesOf(conditions) }
    })
    return [name, { flags: [definition], segments: [], names, ...derived }]
  }

  #segmentEntry({ id, definition }: Changed<SegmentProperties>): NamedEntry {
    const name = segmentName(id)
    if (definition === null) return [name, undefined]
    const segments = [{ ...definition, included: [], excluded: [] }]
    const { rules } = definition
    const derived = readIfSound(() => ({
      references: namesIn(
        referencesOfSegment({ id, rules }, new ConditionCompiler(this.#rules.extensions)),
      ),
      valueBytes: valueBytesOf(rules),
    }))
    return [name, { flags: [], segments, names: [name], ...derived }]
  }

  #valueBytesFault(changed: ChangedEntries): string | undefined {
    const { maxConditionValueBytes } = this.#rules
    let bytes = this.#valueBytes
    for (const [name, entry] of changed) bytes += this.#growth(name, entry)
    if (bytes <= maxConditionValueBytes || bytes <= this.#valueBytes) return undefined
    return (
      `The condition values of an environment must have at most ${maxConditionValueBytes} bytes ` +
      `of UTF-8 together (got ${bytes}). Segments count in every environment of the project.`
    )
  }

  /** Returns the change of `#valueBytes` if `entry` replaces the entry with this name. */
  #growth(name: string, entry: Entry | undefined): number {
    return (entry?.valueBytes ?? 0) - (this.#entries.get(name)?.valueBytes ?? 0)
  }

  #replace(name: string, entry: Entry | undefined): void {
    this.#valueBytes += this.#growth(name, entry)
    const before = this.#entries.get(name)
    for (const own of before?.names ?? []) {
      if (this.#owners.get(own) === name) this.#owners.delete(own)
    }
    for (const other of before?.references ?? []) this.#dependents.get(other)?.delete(name)
    if (entry === undefined) this.#entries.delete(name)
    else this.#entries.set(name, entry)
    for (const own of entry?.names ?? []) this.#owners.set(own, name)
    for (const other of entry?.references ?? []) {
      getOrMake(this.#dependents, other, () => new Set()).add(name)
    }
  }

  /**
   * Returns `true` if no names change, so that every reference to a changed entry still resolves.
   */
  #keepsNames(changed: ChangedEntries): boolean {
    return [...changed].every(([name, after]) => {
      return this.#entries.get(name)?.names.join() === after?.names.join()
    })
  }

  /**
   * Returns the names of the changed entries, of their dependents, and of the dependencies of all
   * these entries. Dependents are omitted if no names change.
   */
  #affectedBy(changed: ChangedEntries): ReadonlySet<string> {
    // If no names change, a dependent can become invalid only in a cycle with a changed entry. In
    // this case, the dependent is also a dependency of the changed entry.
    const affected = this.#keepsNames(changed)
      ? new Set(changed.keys())
      : this.#withDependents(changed)
    const owners = new Map<string, string>()
    for (const [name, entry] of changed) for (const own of entry?.names ?? []) owners.set(own, name)
    // The iteration of a set includes elements that are added meanwhile.
    for (const name of affected) {
      for (const other of this.#beforeAndAfter(name, changed, 'references')) {
        for (const owner of [this.#owners.get(other), owners.get(other)])
          if (owner !== undefined) affected.add(owner)
      }
    }
    return affected
  }

  #withDependents(changed: ChangedEntries): Set<string> {
    const found = new Set(changed.keys())
    for (const name of found) {
      for (const own of this.#beforeAndAfter(name, changed, 'names')) {
        for (const dependent of this.#dependents.get(own) ?? []) found.add(dependent)
      }
    }
    return found
  }

  #beforeAndAfter(name: string, changed: ChangedEntries, list: 'names' | 'references') {
    const entries = [this.#entries.get(name), changed.get(name)]
    return entries.flatMap((entry) => entry?.[list] ?? [])
  }

  /** Returns the faults of definitions as sentences, by a text that identifies the fault. */
  *#faultsOf(entries: readonly Entry[]): Incremental<ReadonlyMap<string, string>> {
    const definition = {
      version: 0,
      flags: entries.flatMap(({ flags }) => flags),
      segments: entries.flatMap(({ segments }) => segments),
    }
    const { extensions } = this.#rules
    const flagSet = yield* compileIncrementally(definition, { extensions })
    yield* prepareDefinitions(flagSet)
    yield
    return sentencesByIdentity(flagSet)
  }
}

const NOTHING: Pick<Entry, 'references' | 'valueBytes'> = { references: [], valueBytes: 0 }

/**
 * Returns the result of `read`, or `NOTHING` if `read` throws, because the definition does not have
 * the declared type.
 */
function readIfSound(read: () => typeof NOTHING): typeof NOTHING {
  try {
    return read()
  } catch {
    return NOTHING
  }
}

function valueBytesOf(conditions: readonly ConditionDefinition[]): number {
  return conditions.reduce((sum, { value }) => sum + utf8Length(value), 0)
}

function isClientVisible(entry: Entry | undefined): boolean {
  return entry?.flags.some(({ clientVisible }) => clientVisible !== false) ?? false
}
