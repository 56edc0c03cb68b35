import { FlagError } from '@ff/core'
import {
  type Condition,
  type Flag,
  type FlagState,
  type InUse,
  inUseCodec,
  type Rollout,
  type Segment,
  type Variation,
} from '@ff/protocol/management'
import { encodeWire } from '../requests/validation.ts'
import { flagQuestionOf, segmentIdsOf } from './condition-references.ts'
import type { Reader } from './record-writer.ts'

/** Something that would break if what it refers to were gone. */
export type Dependent = InUse['usedBy'][number]

/** Throws `CONFLICT`, naming the dependents, when there are any. */
export function assertUnused(thing: string, usedBy: readonly Dependent[]): void {
  if (usedBy.length === 0) return
  const names = usedBy.map(({ resource, name }) => `${resource.replaceAll('_', ' ')} "${name}"`)
  const details = encodeWire(inUseCodec, { usedBy: [...usedBy] })
  throw new FlagError('CONFLICT', `The ${thing} is in use by ${names.join(', ')}.`, { details })
}

/** Everything outside of the flag that refers to it. */
export async function findDependentsOfFlag(reader: Reader, flag: Flag): Promise<Dependent[]> {
  const states = await findStates(reader, flag, (state) => prerequisitesOn(state, flag).length > 0)
  const askers = await findAskers(reader, flag, () => true)
  return [...states, ...askers]
}

/** Everything, of its own flag and of others, that refers to the variation. */
export async function findDependentsOfVariation(
  reader: Reader,
  flag: Flag,
  { id, key }: Variation,
): Promise<Dependent[]> {
  const ofFlag = { where: { flagId: flag.id } }
  const rules = (await reader.list('targetingRule', ofFlag)).data
  const rollouts = (await reader.list('rollout', ofFlag)).data
  return [
    ...(await findStates(reader, flag, (state) => isServedByState(state, flag, id))),
    ...rules.filter(({ variationId }) => variationId === id).map(asDependent('targeting_rule')),
    ...rollouts.filter((rollout) => isInRollout(rollout, id)).map(asDependent('rollout')),
    ...(await findAskers(reader, flag, (keys) => keys.includes(key))),
  ]
}

/** The rules that serve the rollout. */
export async function findDependentsOfRollout(
  reader: Reader,
  { id, flagId, environmentId }: Rollout,
): Promise<Dependent[]> {
  const here = { where: { flagId, environmentId } }
  const rules = (await reader.list('targetingRule', here)).data
  return rules.filter(({ rolloutId }) => rolloutId === id).map(asDependent('targeting_rule'))
}

/** Rules with the segment, and rules and other segments with a condition that asks about it. */
export async function findDependentsOfSegment(
  reader: Reader,
  { id, projectId }: Segment,
): Promise<Dependent[]> {
  const asks = (condition: Condition) => segmentIdsOf(condition).includes(id)
  const rules = (await reader.list('targetingRule', { where: { projectId } })).data
  const segments = (await reader.list('segment', { where: { projectId } })).data
  return [
    ...rules
      .filter(({ segmentId, conditions }) => segmentId === id || conditions.some(asks))
      .map(asDependent('targeting_rule')),
    ...segments
      .filter((segment) => segment.id !== id && segment.rules.some(asks))
      .map(asDependent('segment')),
  ]
}

/** Environments' states of flags of the project for which `isDependent` holds. */
async function findStates(
  reader: Reader,
  { projectId }: Flag,
  isDependent: (state: FlagState) => boolean,
): Promise<Dependent[]> {
  const dependents: Dependent[] = []
  const states = await reader.list('flagState', { where: { projectId } })
  for (const state of states.data.filter(isDependent)) {
    const flag = await reader.find('flag', state.flagId)
    const environment = await reader.find('environment', state.environmentId)
    const name = `${flag?.key ?? state.flagId} in ${environment?.key ?? state.environmentId}`
    dependents.push({ resource: 'flag_state', id: state.id, name })
  }
  return dependents
}

/** Rules and segments of the project with a condition that asks what the flag serves. */
async function findAskers(
  reader: Reader,
  { id, key, projectId }: Flag,
  isConcerned: (variationKeys: readonly string[]) => boolean,
): Promise<Dependent[]> {
  const asks = (condition: Condition) => {
    const question = flagQuestionOf(condition)
    return question?.flagKey === key && isConcerned(question.variationKeys)
  }
  const rules = (await reader.list('targetingRule', { where: { projectId } })).data
  const segments = (await reader.list('segment', { where: { projectId } })).data
  return [
    ...rules
      .filter(({ flagId, conditions }) => flagId !== id && conditions.some(asks))
      .map(asDependent('targeting_rule')),
    ...segments.filter((segment) => segment.rules.some(asks)).map(asDependent('segment')),
  ]
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

function prerequisitesOn({ prerequisites }: FlagState, flag: Flag) {
  return prerequisites.filter(({ flagId }) => flagId === flag.id)
}

function isInRollout({ variationId, variants }: Rollout, id: string): boolean {
  return variationId === id || (variants ?? []).some((variant) => variant.variationId === id)
}

function asDependent(resource: string) {
  return ({ id, name }: { readonly id: string; readonly name: string }): Dependent => {
    return { resource, id, name }
  }
}
