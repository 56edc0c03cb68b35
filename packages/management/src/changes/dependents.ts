import { FlagError } from '@ff/core'
import { flagReferenceOf, segmentIdsOf } from '@ff/core/authoring'
import {
  type Condition,
  type Flag,
  type FlagState,
  type InUse,
  inUseCodec,
  type Rollout,
  type ScheduledChange,
  type Segment,
  type Variation,
} from '@ff/protocol/management'
import { encodeWire } from '../requests/validation.ts'
import { type PendingReferences, referencesOf } from './pending-references.ts'
import type { Reader } from './record-writer.ts'

/** A resource that refers to another resource and so prevents its deletion. */
export type Dependent = InUse['usedBy'][number]

/** The maximum number of dependents that a message names. The details contain all of them. */
const MOST_NAMED = 10

/** Throws `CONFLICT` with the names of the dependents unless `usedBy` is empty. */
export function assertUnused(thing: string, usedBy: readonly Dependent[]): void {
  if (usedBy.length === 0) return
  const shown = usedBy.slice(0, MOST_NAMED)
  const names = shown.map(({ resource, name }) => `${resource.replaceAll('_', ' ')} "${name}"`)
  if (usedBy.length > MOST_NAMED) names.push(`${usedBy.length - MOST_NAMED} more`)
  const details = encodeWire(inUseCodec, { usedBy: [...usedBy] })
  throw new FlagError('CONFLICT', `The ${thing} is in use by ${names.join(', ')}.`, { details })
}

/** Returns all resources that refer to the flag, except the flag's own. */
export async function findDependentsOfFlag(reader: Reader, flag: Flag): Promise<Dependent[]> {
  const states = await findStates(reader, flag, (state) => prerequisitesOn(state, flag).length > 0)
  const referencing = await findReferencing(reader, flag, () => true)
  const pending = await findPending(reader, flag, (references, { flagId }) => {
    if (flagId === flag.id) return false
    return prerequisitesOn(references, flag).length > 0 || isOnFlag(references, flag, () => true)
  })
  return [...states, ...referencing, ...pending]
}

/** Returns all resources that refer to the variation, including those of its own flag. */
export async function findDependentsOfVariation(
  reader: Reader,
  flag: Flag,
  { id, key }: Variation,
): Promise<Dependent[]> {
  const ofFlag = { where: { flagId: flag.id } }
  const rules = (await reader.list('targetingRule', ofFlag)).data
  const rollouts = (await reader.list('rollout', ofFlag)).data
  const inEnvironment = await dependentsByEnvironment(reader, flag.projectId)
  const isNamed = (reference: string) => reference === id || reference === key
  return [
    ...(await findStates(reader, flag, (state) => isServedByState(state, flag, id))),
    ...rules.filter(({ variationId }) => variationId === id).map(inEnvironment('targeting_rule')),
    ...rollouts.filter((rollout) => isInRollout(rollout, id)).map(inEnvironment('rollout')),
    ...(await findReferencing(reader, flag, (keys) => keys.includes(key))),
    ...(await findPending(reader, flag, (references, { flagId }) => {
      if (flagId === flag.id) return [...references.variations].some(isNamed)
      const prerequisites = prerequisitesOn(references, flag)
      return (
        prerequisites.some(({ variationIds }) => variationIds.some(isNamed)) ||
        isOnFlag(references, flag, (keys) => keys.includes(key))
      )
    })),
  ]
}

/** Returns the rules that serve the rollout, and the scheduled changes that name it. */
export async function findDependentsOfRollout(
  reader: Reader,
  rollout: Rollout,
): Promise<Dependent[]> {
  const { id, projectId, flagId, environmentId } = rollout
  const here = { where: { flagId, environmentId } }
  const rules = (await reader.list('targetingRule', here)).data
  const inEnvironment = await dependentsByEnvironment(reader, projectId)
  return [
    ...rules.filter(({ rolloutId }) => rolloutId === id).map(inEnvironment('targeting_rule')),
    ...(await findPending(reader, rollout, (references) => references.rollout === id)),
  ]
}

/** Returns the rules and other segments that refer to the segment, directly or in a condition. */
export async function findDependentsOfSegment(
  reader: Reader,
  segment: Segment,
): Promise<Dependent[]> {
  const { id, key, projectId } = segment
  const refersTo = (condition: Condition) => segmentIdsOf(condition).includes(id)
  const rules = (await reader.list('targetingRule', { where: { projectId } })).data
  const segments = (await reader.list('segment', { where: { projectId } })).data
  const inEnvironment = await dependentsByEnvironment(reader, projectId)
  return [
    ...rules
      .filter(({ segmentId, conditions }) => segmentId === id || conditions.some(refersTo))
      .map(inEnvironment('targeting_rule')),
    ...segments
      .filter((other) => other.id !== id && other.rules.some(refersTo))
      .map(asDependent('segment')),
    ...(await findPending(reader, segment, (references) => {
      const isUsed = references.segment === id || references.segment === key
      return isUsed || references.conditions.some(refersTo)
    })),
  ]
}

/** Returns the pending scheduled changes of the project whose references satisfy `isDependent`. */
async function findPending(
  reader: Reader,
  { projectId }: { readonly projectId: string },
  isDependent: (references: PendingReferences, change: ScheduledChange) => boolean,
): Promise<Dependent[]> {
  const pending = await reader.list('scheduledChange', { where: { projectId, status: 'pending' } })
  const inEnvironment = await dependentsByEnvironment(reader, projectId)
  return pending.data
    .filter((change) => isDependent(referencesOf(change), change))
    .map((change) => ({ ...change, name: `${change.operation} at ${change.applyAt}` }))
    .map(inEnvironment('scheduled_change'))
}

/** Returns `true` if a condition is on the flag, with variations that satisfy `matches`. */
function isOnFlag(
  { conditions }: Pick<PendingReferences, 'conditions'>,
  { key }: Flag,
  matches: (variationKeys: readonly string[]) => boolean,
): boolean {
  return conditions.some((condition) => {
    const reference = flagReferenceOf(condition)
    return reference?.flagKey === key && matches(reference.variationKeys)
  })
}

/** Returns the flag states of the project for which `isDependent` returns `true`. */
async function findStates(
  reader: Reader,
  { projectId }: Flag,
  isDependent: (state: FlagState) => boolean,
): Promise<Dependent[]> {
  const dependents: Dependent[] = []
  const states = await reader.list('flagState', { where: { projectId } })
  const inEnvironment = await dependentsByEnvironment(reader, projectId)
  for (const state of states.data.filter(isDependent)) {
    const flag = await reader.find('flag', state.flagId)
    dependents.push(inEnvironment('flag_state')({ ...state, name: flag?.key ?? state.flagId }))
  }
  return dependents
}

/**
 * Returns the rules of other flags, and the segments, that have a condition on the flag. The
 * variation keys of the condition must satisfy `matchesVariations`.
 */
async function findReferencing(
  reader: Reader,
  flag: Flag,
  matchesVariations: (variationKeys: readonly string[]) => boolean,
): Promise<Dependent[]> {
  const { id, projectId } = flag
  const isReferencing = (conditions: readonly Condition[]) =>
    isOnFlag({ conditions }, flag, matchesVariations)
  const rules = (await reader.list('targetingRule', { where: { projectId } })).data
  const segments = (await reader.list('segment', { where: { projectId } })).data
  const inEnvironment = await dependentsByEnvironment(reader, projectId)
  return [
    ...rules
      .filter(({ flagId, conditions }) => flagId !== id && isReferencing(conditions))
      .map(inEnvironment('targeting_rule')),
    ...segments.filter(({ rules }) => isReferencing(rules)).map(asDependent('segment')),
  ]
}

interface InEnvironment {
  readonly id: string
  readonly name: string
  readonly environmentId: string
}

function isServedByState(state: FlagState, flag: Flag, variationId: string): boolean {
  if (state.flagId !== flag.id) {
    return prerequisitesOn(state, flag).some((each) => each.variationIds.includes(variationId))
  }
  const { defaultVariationId, offVariationId, targets } = state
  return (
    defaultVariationId === variationId ||
    offVariationId === variationId ||
    targets.some((target) => target.variationId === variationId)
  )
}

/** Returns the prerequisites on a flag, which scheduled changes can name by its key. */
function prerequisitesOn(
  { prerequisites }: Pick<PendingReferences, 'prerequisites'>,
  { id, key }: Flag,
) {
  return prerequisites.filter(({ flagId }) => flagId === id || flagId === key)
}

function isInRollout({ variationId, variants }: Rollout, id: string): boolean {
  return variationId === id || (variants ?? []).some((variant) => variant.variationId === id)
}

/**
 * Returns a function that names a resource of one environment, such as `Rule A (live)`. Rules of
 * different environments often have the same name.
 */
async function dependentsByEnvironment(reader: Reader, projectId: string) {
  const environments = (await reader.list('environment', { where: { projectId } })).data
  const keys = new Map(environments.map(({ id, key }) => [id, key]))
  return (resource: string) =>
    ({ id, name, environmentId }: InEnvironment) => {
      return { resource, id, name: `${name} (${keys.get(environmentId) ?? environmentId})` }
    }
}

function asDependent(resource: string) {
  return ({ id, name }: { readonly id: string; readonly name: string }): Dependent => {
    return { resource, id, name }
  }
}
