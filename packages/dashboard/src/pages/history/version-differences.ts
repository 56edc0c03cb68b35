import type { DataOf } from '../../api/api-request.ts'
import { isSame } from '../../draft/configuration.ts'
import { configurationDifferences } from '../../draft/differences.ts'
import { type Names, segmentSentence } from '../../draft/sentence.ts'
import { messages } from '../../messages/messages.ts'
import type { Sentence } from '../../messages/phrases/fragment.ts'
import { configurationsOf, type PublishedFlag } from './published-configuration.ts'

const { changes: words } = messages.history

/** A published flag set. */
export type PublishedVersion = DataOf<'getVersion'>
type PublishedSegment = PublishedVersion['segments'][number]

/** What differs in one flag or segment between two versions. */
export interface ResourceChange {
  readonly resource: 'flag' | 'segment'
  readonly id: string
  readonly key: string
  readonly sentences: readonly Sentence[]
}

/** A version before and a version after changes. */
export interface VersionPair {
  readonly before: PublishedVersion
  readonly after: PublishedVersion
}

/**
 * Returns the differences of two versions in words; with `flagId`, the id or the key of a flag, only
 * those of this flag.
 */
export function versionDifferences(pair: VersionPair, flagId?: string): readonly ResourceChange[] {
  const { before, after } = pair
  const flags = pairsById(before.flags, after.flags)
    .filter(({ id, was, is }) => {
      return flagId === undefined || id === flagId || (is ?? was)?.key === flagId
    })
    .map(({ id, was, is }) => ({
      resource: 'flag' as const,
      id,
      key: (is ?? was)?.key ?? id,
      sentences: flagSentences(was, is, pair),
    }))
  if (flagId !== undefined) return flags
  const segments = pairsById(before.segments, after.segments).map(({ id, was, is }) => ({
    resource: 'segment' as const,
    id,
    key: (is ?? was)?.key ?? id,
    sentences: segmentSentences(was, is, namesOf(pair, undefined)),
  }))
  return [...flags, ...segments]
}

interface Changed<T> {
  readonly id: string
  readonly was: T | undefined
  readonly is: T | undefined
}

/** Returns the items that differ. */
function pairsById<T extends { readonly id: string }>(
  before: readonly T[],
  after: readonly T[],
): readonly Changed<T>[] {
  const [old, present] = [
    new Map(before.map((one) => [one.id, one])),
    new Map(after.map((one) => [one.id, one])),
  ]
  return [...new Set([...old.keys(), ...present.keys()])]
    .map((id) => ({ id, was: old.get(id), is: present.get(id) }))
    .filter(({ was, is }) => !isSame(was, is))
}

function flagSentences(
  was: PublishedFlag | undefined,
  is: PublishedFlag | undefined,
  pair: VersionPair,
): readonly Sentence[] {
  if (was === undefined) return [words.added]
  if (is === undefined) return [words.removed]
  const { before, after } = configurationsOf(was, is)
  const names = namesOf(pair, is.id)
  const options = { names, isProduction: false, now: Date.now() }
  const own = configurationDifferences(before, after, options).map(({ sentence }) => sentence)
  const found = [...variationSentences(was, is), ...visibilitySentences(was, is), ...own]
  return found.length === 0 ? [words.other] : found
}

function variationSentences(was: PublishedFlag, is: PublishedFlag): readonly Sentence[] {
  return pairsById(was.variations, is.variations).map(({ was: old, is: present }) => {
    if (present === undefined) return words.variationRemoved(old?.key ?? '')
    if (old === undefined) return words.variationAdded(present.key, shortened(present.value))
    return words.variationChanged(present.key, shortened(old.value), shortened(present.value))
  })
}

const MOST_CHARACTERS = 120

function shortened(value: string): string {
  return value.length <= MOST_CHARACTERS ? value : `${value.slice(0, MOST_CHARACTERS)}…`
}

function visibilitySentences(was: PublishedFlag, is: PublishedFlag): readonly Sentence[] {
  const [before, after] = [was.clientVisible ?? true, is.clientVisible ?? true]
  if (before === after) return []
  return [after ? words.visible : words.hidden]
}

function segmentSentences(
  was: PublishedSegment | undefined,
  is: PublishedSegment | undefined,
  names: Names,
): readonly Sentence[] {
  if (was === undefined) return [words.added]
  if (is === undefined) return [words.removed]
  const conditions = ({ rules, logicalOp }: PublishedSegment) =>
    segmentSentence({ rules, logicalOp }, names)
  const isChanged = !isSame([was.rules, was.logicalOp], [is.rules, is.logicalOp])
  const lists = (['included', 'excluded'] as const).flatMap((list) => {
    const [added, removed] = [countMissing(is[list], was[list]), countMissing(was[list], is[list])]
    return added + removed === 0 ? [] : [words.listed(list, added, removed)]
  })
  const found = [
    ...(isChanged ? [words.conditions(conditions(was), conditions(is))] : []),
    ...lists,
  ]
  return found.length === 0 ? [words.other] : found
}

/** Returns the number of keys that another list lacks. */
function countMissing(keys: readonly string[], other: readonly string[]): number {
  const known = new Set(other)
  return keys.filter((key) => !known.has(key)).length
}

/** Returns the names that the definitions of both versions contain: their keys. */
function namesOf({ before, after }: VersionPair, flagId: string | undefined): Names {
  const flags = [...after.flags, ...before.flags]
  const segments = [...after.segments, ...before.segments]
  return {
    flag: (id) => flags.find((flag) => flag.id === id)?.key ?? id,
    segment: (id) => segments.find((segment) => segment.id === id)?.key ?? id,
    variation: (id, of = flagId) => {
      const variations = flags.flatMap((flag) => (flag.id === of ? flag.variations : []))
      return variations.find((variation) => variation.id === id)?.key ?? id
    },
  }
}

/** Why a part of the project is not restored with a version. */
export type SkippedReason = 'missing' | 'absent' | 'changed'

/** A flag or segment that a restore does not change, or only partly. */
export interface SkippedResource {
  readonly resource: 'flag' | 'segment'
  readonly key: string
  readonly reason: SkippedReason
}

/** Returns what a restore of `before` keeps from the current version, `after`. */
export function skippedByRestore({ before, after }: VersionPair): readonly SkippedResource[] {
  const reasonOf = ({ was, is }: Changed<unknown>, isKept: boolean): SkippedReason | undefined => {
    if (is === undefined) return 'missing'
    if (was === undefined) return 'absent'
    return isKept ? 'changed' : undefined
  }
  const flags = pairsById(before.flags, after.flags).flatMap((pair) => {
    const reason = reasonOf(pair, !isSame(projectPart(pair.was), projectPart(pair.is)))
    const key = (pair.is ?? pair.was)?.key ?? pair.id
    return reason === undefined ? [] : [{ resource: 'flag' as const, key, reason }]
  })
  const segments = pairsById(before.segments, after.segments).flatMap((pair) => {
    const reason = reasonOf(pair, true)
    const key = (pair.is ?? pair.was)?.key ?? pair.id
    return reason === undefined ? [] : [{ resource: 'segment' as const, key, reason }]
  })
  return [...flags, ...segments]
}

/** Returns the part of a flag that all environments share. */
function projectPart(flag: PublishedFlag | undefined) {
  return flag && { variations: flag.variations, clientVisible: flag.clientVisible ?? true }
}
