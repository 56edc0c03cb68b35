import {
  type ConditionDefinition,
  compileIncrementally,
  type FlagDefinition,
  FlagError,
  type FlagSetDefinition,
  type SegmentDefinition,
} from '@ff/core'
import { conditionFault, type FlagSetIssue, findErrors } from '@ff/core/authoring'
import { extensions } from '@ff/server/plane'
import type { DefinitionChange, DefinitionChanges, PublishedSegment } from '@ff/storage'
import { flagReferenceOf, segmentIdsOf } from './condition-references.ts'

/** The condition values of one environment may have so many bytes of UTF-8 text together. */
export const MAX_CONDITION_VALUE_BYTES = 16 * 1024 * 1024

const encoder = new TextEncoder()

/** A published flag or segment, with the values that derive from its definition alone. */
interface Entry {
  readonly flags: readonly FlagDefinition[]
  readonly segments: readonly SegmentDefinition[]
  /** The names by which others refer to it. */
  readonly names: readonly string[]
  /** The names that it refers to. */
  readonly references: readonly string[]
  /** The size of all its condition values, in bytes of UTF-8. */
  readonly valueBytes: number
}

/** The changed entries after the change, by kind and id; `undefined` if deleted. */
type ChangedEntries = ReadonlyMap<string, Entry | undefined>

/**
 * The published definitions of one environment. A change is checked by compiling only what it can
 * make invalid: the changed definitions, their dependents, and what all of these refer to. Listed
 * keys cannot make a definition invalid, and are not kept.
 */
export class PublishedDefinitions {
  /** By kind and id. */
  readonly #entries = new Map<string, Entry>()
  /** The key of the entry that has a name. */
  readonly #byName = new Map<string, string>()
  /** The size of the condition values of all entries, in bytes of UTF-8. */
  #valueBytes = 0
  #version = 0

  static of({ version, flags, segments }: FlagSetDefinition): PublishedDefinitions {
    const named = <T extends { readonly id: string }>(definition: T) => {
      return { id: definition.id, definition }
    }
    const everything = { version, flags: flags.map(named), segments: segments.map(named) }
    return new PublishedDefinitions().advance(everything)
  }

  get version(): number {
    return this.#version
  }

  /** Applies the changes that were published since `version`. */
  advance({ version, flags, segments }: DefinitionChanges): this {
    for (const change of flags) this.#replace(...flagEntry(change))
    for (const change of segments) this.#replace(...segmentEntry(change))
    this.#version = version
    return this
  }

  /**
   * Throws `INVALID_DEFINITION` if these changes would make a definition invalid: an unresolvable
   * reference, a cycle, or an unreadable value; or if they would add to condition values that have
   * more than `MAX_CONDITION_VALUE_BYTES` together. Definitions that are invalid already are
   * accepted. The work may be interrupted at each `yield`.
   */
  *assertPublishable(changes: readonly DefinitionChange[]): Generator<undefined, void> {
    const changed = new Map<string, Entry | undefined>()
    for (const change of changes) {
      if (change.kind === 'flag') changed.set(...flagEntry(change))
      if (change.kind === 'segment') changed.set(...segmentEntry(change))
    }
    this.#assertValueBytes(changed)
    const fresh = yield* this.#faults(changed)
    if (fresh.length > 0) throw new FlagError('INVALID_DEFINITION', fresh.join(' '))
  }

  /**
   * Returns whether a reply to an SDK key of kind `client` may differ after these changes: whether
   * they affect a flag that is visible to clients, before or after, or something it refers to.
   */
  affectsClients(changes: readonly DefinitionChange[]): boolean {
    const changed = new Map(changes.map((change) => this.#changedEntry(change)))
    const isVisible = (id: string) => {
      return isClientVisible(this.#entries.get(id)) || isClientVisible(changed.get(id))
    }
    return [...changed.keys()].some(isVisible) || [...this.#withDependents(changed)].some(isVisible)
  }

  /** Returns the entry of a change, after the change. */
  #changedEntry(change: DefinitionChange): NamedEntry {
    if (change.kind === 'flag') return flagEntry(change)
    if (change.kind === 'segment') return segmentEntry(change)
    const id = segmentName(change.segmentId)
    return [id, this.#entries.get(id)]
  }

  #assertValueBytes(changed: ChangedEntries): void {
    let bytes = this.#valueBytes
    for (const [id, entry] of changed) bytes += this.#growth(id, entry)
    if (bytes <= MAX_CONDITION_VALUE_BYTES || bytes <= this.#valueBytes) return
    const message =
      `The condition values of an environment must have at most ${MAX_CONDITION_VALUE_BYTES} bytes ` +
      `of UTF-8 together (got ${bytes}); segments count in every environment of the project.`
    throw new FlagError('INVALID_DEFINITION', message)
  }

  /** Returns the number of bytes that an entry adds to the condition values. */
  #growth(id: string, entry: Entry | undefined): number {
    return (entry?.valueBytes ?? 0) - (this.#entries.get(id)?.valueBytes ?? 0)
  }

  #replace(id: string, entry: Entry | undefined): void {
    this.#valueBytes += this.#growth(id, entry)
    for (const name of this.#entries.get(id)?.names ?? []) {
      if (this.#byName.get(name) === id) this.#byName.delete(name)
    }
    if (entry === undefined) this.#entries.delete(id)
    else this.#entries.set(id, entry)
    for (const name of entry?.names ?? []) this.#byName.set(name, id)
  }

  /** Whether all names stay, so that every reference to a changed entry still resolves. */
  #keepsNames(changed: ChangedEntries): boolean {
    return [...changed].every(([id, after]) =>
      isSameList(this.#entries.get(id)?.names, after?.names),
    )
  }

  /** Returns the issues that the change introduces. */
  *#faults(changed: ChangedEntries): Generator<undefined, readonly string[]> {
    const before: Entry[] = []
    const after: Entry[] = []
    for (const id of this.#affectedBy(changed)) {
      const current = this.#entries.get(id)
      const next = changed.has(id) ? changed.get(id) : current
      if (current !== undefined) before.push(current)
      if (next !== undefined) after.push(next)
    }
    const issues = yield* issuesOf(after)
    if (issues.length === 0) return issues
    const known = new Set(yield* issuesOf(before))
    return issues.filter((issue) => !known.has(issue))
  }

  /** The changed entries, their dependents, and everything that any of these refers to. */
  #affectedBy(changed: ChangedEntries): ReadonlySet<string> {
    // If names stay, dependents are unchanged, or in a cycle that the changed entries are part of.
    const affected = this.#keepsNames(changed)
      ? new Set(changed.keys())
      : this.#withDependents(changed)
    const byName = new Map<string, string>()
    for (const [id, entry] of changed) for (const name of entry?.names ?? []) byName.set(name, id)
    // A set that grows during iteration also visits its new members.
    for (const id of affected) {
      const entries = [this.#entries.get(id), changed.get(id)]
      for (const name of entries.flatMap((entry) => entry?.references ?? [])) {
        const owners = [this.#byName.get(name), byName.get(name)]
        for (const owner of owners) if (owner !== undefined) affected.add(owner)
      }
    }
    return affected
  }

  #withDependents(changed: ChangedEntries): Set<string> {
    const found = new Set(changed.keys())
    const names = new Set<string>()
    const add = (id: string, entry: Entry | undefined) => {
      found.add(id)
      for (const name of entry?.names ?? []) names.add(name)
    }
    for (const [id, entry] of changed) {
      add(id, this.#entries.get(id))
      add(id, entry)
    }
    for (let size = 0; size < found.size; ) {
      size = found.size
      for (const [id, entry] of this.#entries) {
        if (!found.has(id) && entry.references.some((name) => names.has(name))) add(id, entry)
      }
    }
    return found
  }
}

function isClientVisible(entry: Entry | undefined): boolean {
  return entry?.flags.some(({ clientVisible }) => clientVisible !== false) ?? false
}

interface Published<Definition> {
  readonly id: string
  readonly definition: Definition | null
}

type NamedEntry = readonly [id: string, entry: Entry | undefined]

function flagEntry({ id, definition }: Published<FlagDefinition>): NamedEntry {
  const name = `flag ${id}`
  if (definition === null) return [name, undefined]
  const names = [name, keyName(definition.key)]
  const references = referencesOfFlag(definition)
  const conditions = () => definition.rules.flatMap((rule) => rule.conditions)
  const valueBytes = readOr(0, () => conditionValueBytes(conditions()))
  return [name, { flags: [definition], segments: [], names, references, valueBytes }]
}

function segmentEntry({ id, definition }: Published<PublishedSegment>): NamedEntry {
  const name = segmentName(id)
  if (definition === null) return [name, undefined]
  const segments = [{ ...definition, included: [], excluded: [] }]
  const references = referencesOfSegment(definition)
  const valueBytes = readOr(0, () => conditionValueBytes(definition.rules))
  return [name, { flags: [], segments, names: [name], references, valueBytes }]
}

/** An inactive flag refers to nothing. */
function referencesOfFlag({ isActive, prerequisites, rules }: FlagDefinition): readonly string[] {
  if (!isActive) return []
  const references = () => [
    ...prerequisites.map(({ flagId }) => `flag ${flagId}`),
    ...rules.flatMap(({ segmentId }) => (segmentId === null ? [] : segmentName(segmentId))),
    ...rules.flatMap(({ conditions }) => conditions.flatMap(referencesOfCondition)),
  ]
  return readOr([], references)
}

function referencesOfSegment({ rules }: PublishedSegment): readonly string[] {
  return readOr([], () => rules.flatMap(referencesOfCondition))
}

/** An unreadable condition never matches, so its references do not count. */
function referencesOfCondition(condition: ConditionDefinition): readonly string[] {
  const reference = flagReferenceOf(condition)
  const flags = reference === undefined ? [] : [keyName(reference.flagKey)]
  const references = [...segmentIdsOf(condition).map(segmentName), ...flags]
  return references.length > 0 && conditionFault(condition, extensions) ? [] : references
}

/** Returns the fallback for a damaged definition, which has not the shape of its type. */
function readOr<T>(fallback: T, read: () => T): T {
  try {
    return read()
  } catch {
    return fallback
  }
}

function segmentName(id: string): string {
  return `segment ${id}`
}

function keyName(key: string): string {
  return `flag with the key ${key}`
}

function* issuesOf(entries: readonly Entry[]): Generator<undefined, readonly string[]> {
  const definition = {
    version: 0,
    flags: entries.flatMap(({ flags }) => flags),
    segments: entries.flatMap(({ segments }) => segments),
  }
  const flagSet = yield* compileIncrementally(definition, { extensions })
  yield
  return findErrors(flagSet).map(sentenceOf)
}

function sentenceOf({ flagKey, segmentId, message }: FlagSetIssue): string {
  if (flagKey !== undefined) return `Flag "${flagKey}": ${message}`
  return segmentId === undefined ? message : `Segment ${segmentId}: ${message}`
}

function isSameList(left: readonly string[] = [], right: readonly string[] = []): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index])
}

/** The length of all values of these conditions together, in bytes of UTF-8. */
function conditionValueBytes(conditions: readonly ConditionDefinition[]): number {
  return conditions.reduce((sum, { value }) => sum + encoder.encode(value).byteLength, 0)
}
