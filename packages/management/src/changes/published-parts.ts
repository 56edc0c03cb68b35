import {
  type ConditionDefinition,
  compileIncrementally,
  type FlagDefinition,
  FlagError,
  type FlagSetDefinition,
  type SegmentDefinition,
} from '@ff/core'
import { conditionFault, type FlagSetIssue, findErrors } from '@ff/core/authoring'
import { engines } from '@ff/server/plane'
import type { DefinitionChange, DefinitionChanges, PublishedSegment } from '@ff/storage'
import { flagQuestionOf, segmentIdsOf } from './condition-references.ts'

/** The condition values of one environment may have so many bytes of UTF-8 text together. */
export const MAX_CONDITION_VALUE_BYTES = 16 * 1024 * 1024

const encoder = new TextEncoder()

/** A flag or a segment as it is published, and what follows from its definition alone. */
interface Part {
  readonly flags: readonly FlagDefinition[]
  readonly segments: readonly SegmentDefinition[]
  /** By which names others refer to it. */
  readonly names: readonly string[]
  /** The names that it refers to. */
  readonly references: readonly string[]
  /** What its condition values have together. */
  readonly valueBytes: number
}

/** The changed parts as they will be, by kind and id; `undefined`: gone. */
type Changed = ReadonlyMap<string, Part | undefined>

/**
 * Everything that is published in one environment, part by part, so that a change is judged by
 * compiling only what it can break: the changed parts, those that lean on them, and what all of
 * these refer to. Who is listed in segments cannot break anything, and is left out.
 */
export class PublishedParts {
  /** By kind and id. */
  readonly #parts = new Map<string, Part>()
  /** Which part has a name. */
  readonly #byName = new Map<string, string>()
  /** What the condition values of all parts have together. */
  #valueBytes = 0
  #version = 0

  static of({ version, flags, segments }: FlagSetDefinition): PublishedParts {
    const named = <T extends { readonly id: string }>(definition: T) => {
      return { id: definition.id, definition }
    }
    const everything = { version, flags: flags.map(named), segments: segments.map(named) }
    return new PublishedParts().advance(everything)
  }

  get version(): number {
    return this.#version
  }

  /** Takes over what was published since. */
  advance({ version, flags, segments }: DefinitionChanges): this {
    for (const change of flags) this.#replace(...flagPart(change))
    for (const change of segments) this.#replace(...segmentPart(change))
    this.#version = version
    return this
  }

  /**
   * Throws `INVALID_DEFINITION` when these changes would break something: a reference to nothing,
   * a cycle, a value that cannot be read; or when they would add to condition values that have more
   * than `MAX_CONDITION_VALUE_BYTES` together. What was broken before may stay so. The work may be
   * interrupted at each `yield`.
   */
  *assertSound(changes: readonly DefinitionChange[]): Generator<undefined, void> {
    const changed = new Map<string, Part | undefined>()
    for (const change of changes) {
      if (change.kind === 'flag') changed.set(...flagPart(change))
      if (change.kind === 'segment') changed.set(...segmentPart(change))
    }
    this.#assertRoom(changed)
    const fresh = yield* this.#faults(changed)
    if (fresh.length > 0) throw new FlagError('INVALID_DEFINITION', fresh.join(' '))
  }

  /**
   * Whether an answer to an SDK key of kind `client` may differ after these changes. `false` if they
   * touch neither a flag that is visible to clients, before or after, nor anything that one refers to.
   */
  affectsClients(changes: readonly DefinitionChange[]): boolean {
    const changed = new Map(changes.map((change) => this.#changedPart(change)))
    const isVisible = (id: string) => {
      return isClientVisible(this.#parts.get(id)) || isClientVisible(changed.get(id))
    }
    return [...changed.keys()].some(isVisible) || [...this.#withDependents(changed)].some(isVisible)
  }

  /** The part that a change is about, as it will be. */
  #changedPart(change: DefinitionChange): NamedPart {
    if (change.kind === 'flag') return flagPart(change)
    if (change.kind === 'segment') return segmentPart(change)
    const id = segmentName(change.segmentId)
    return [id, this.#parts.get(id)]
  }

  #assertRoom(changed: Changed): void {
    let bytes = this.#valueBytes
    for (const [id, part] of changed) bytes += this.#growth(id, part)
    if (bytes <= MAX_CONDITION_VALUE_BYTES || bytes <= this.#valueBytes) return
    const message =
      `The condition values of an environment must have at most ${MAX_CONDITION_VALUE_BYTES} bytes ` +
      `of UTF-8 together (got ${bytes}); segments count in every environment of the project.`
    throw new FlagError('INVALID_DEFINITION', message)
  }

  /** How many more bytes the condition values have when this part takes its place. */
  #growth(id: string, part: Part | undefined): number {
    return (part?.valueBytes ?? 0) - (this.#parts.get(id)?.valueBytes ?? 0)
  }

  #replace(id: string, part: Part | undefined): void {
    this.#valueBytes += this.#growth(id, part)
    for (const name of this.#parts.get(id)?.names ?? []) {
      if (this.#byName.get(name) === id) this.#byName.delete(name)
    }
    if (part === undefined) this.#parts.delete(id)
    else this.#parts.set(id, part)
    for (const name of part?.names ?? []) this.#byName.set(name, id)
  }

  /** Whether nothing comes or goes: whoever refers to any of these still refers to it. */
  #isNamedAsBefore(changed: Changed): boolean {
    return [...changed].every(([id, after]) => isSameList(this.#parts.get(id)?.names, after?.names))
  }

  /** What is wrong after the change, and was not before. */
  *#faults(changed: Changed): Generator<undefined, readonly string[]> {
    const before: Part[] = []
    const after: Part[] = []
    for (const id of this.#concernedBy(changed)) {
      const present = this.#parts.get(id)
      const next = changed.has(id) ? changed.get(id) : present
      if (present !== undefined) before.push(present)
      if (next !== undefined) after.push(next)
    }
    const issues = yield* issuesOf(after)
    if (issues.length === 0) return issues
    const known = new Set(yield* issuesOf(before))
    return issues.filter((issue) => !known.has(issue))
  }

  /** The changed parts, all that lean on them, and all that any of these refers to. */
  #concernedBy(changed: Changed): ReadonlySet<string> {
    // Otherwise those that lean on them are as they were, or in a cycle, which is found from here.
    const touched = this.#isNamedAsBefore(changed)
      ? new Set(changed.keys())
      : this.#withDependents(changed)
    const byName = new Map<string, string>()
    for (const [id, part] of changed) for (const name of part?.names ?? []) byName.set(name, id)
    // A set may grow while it is walked: what is added is visited too.
    for (const id of touched) {
      const parts = [this.#parts.get(id), changed.get(id)]
      for (const name of parts.flatMap((part) => part?.references ?? [])) {
        const owners = [this.#byName.get(name), byName.get(name)]
        for (const owner of owners) if (owner !== undefined) touched.add(owner)
      }
    }
    return touched
  }

  #withDependents(changed: Changed): Set<string> {
    const found = new Set(changed.keys())
    const names = new Set<string>()
    const add = (id: string, part: Part | undefined) => {
      found.add(id)
      for (const name of part?.names ?? []) names.add(name)
    }
    for (const [id, part] of changed) {
      add(id, this.#parts.get(id))
      add(id, part)
    }
    for (let size = 0; size < found.size; ) {
      size = found.size
      for (const [id, part] of this.#parts) {
        if (!found.has(id) && part.references.some((name) => names.has(name))) add(id, part)
      }
    }
    return found
  }
}

function isClientVisible(part: Part | undefined): boolean {
  return part?.flags.some(({ clientVisible }) => clientVisible !== false) ?? false
}

interface Published<Definition> {
  readonly id: string
  readonly definition: Definition | null
}

type NamedPart = readonly [id: string, part: Part | undefined]

function flagPart({ id, definition }: Published<FlagDefinition>): NamedPart {
  const name = `flag ${id}`
  if (definition === null) return [name, undefined]
  const names = [name, keyName(definition.key)]
  const references = ofFlag(definition)
  const conditions = () => definition.rules.flatMap((rule) => rule.conditions)
  const valueBytes = readable(() => conditionValueBytes(conditions()), 0)
  return [name, { flags: [definition], segments: [], names, references, valueBytes }]
}

function segmentPart({ id, definition }: Published<PublishedSegment>): NamedPart {
  const name = segmentName(id)
  if (definition === null) return [name, undefined]
  const segments = [{ ...definition, included: [], excluded: [] }]
  const references = ofSegment(definition)
  const valueBytes = readable(() => conditionValueBytes(definition.rules), 0)
  return [name, { flags: [], segments, names: [name], references, valueBytes }]
}

/** An inactive flag asks nobody. */
function ofFlag({ isActive, prerequisites, rules }: FlagDefinition): readonly string[] {
  if (!isActive) return []
  const references = () => [
    ...prerequisites.map(({ flagId }) => `flag ${flagId}`),
    ...rules.flatMap(({ segmentId }) => (segmentId === null ? [] : segmentName(segmentId))),
    ...rules.flatMap(({ conditions }) => conditions.flatMap(ofCondition)),
  ]
  return readable(references, [])
}

function ofSegment({ rules }: PublishedSegment): readonly string[] {
  return readable(() => rules.flatMap(ofCondition), [])
}

/** A condition that cannot be read never holds, whatever it refers to. */
function ofCondition(condition: ConditionDefinition): readonly string[] {
  const question = flagQuestionOf(condition)
  const flags = question === undefined ? [] : [keyName(question.flagKey)]
  const references = [...segmentIdsOf(condition).map(segmentName), ...flags]
  return references.length > 0 && conditionFault(condition, engines) ? [] : references
}

/** What has not even the shape of a definition, as only damage brings about, refers to nothing. */
function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

function segmentName(id: string): string {
  return `segment ${id}`
}

function keyName(key: string): string {
  return `flag with the key ${key}`
}

function* issuesOf(parts: readonly Part[]): Generator<undefined, readonly string[]> {
  const definition = {
    version: 0,
    flags: parts.flatMap(({ flags }) => flags),
    segments: parts.flatMap(({ segments }) => segments),
  }
  const flagSet = yield* compileIncrementally(definition, { extensions: engines })
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
