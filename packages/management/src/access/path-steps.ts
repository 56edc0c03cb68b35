import type { Kind, Records } from '@ff/storage'

/**
 * An object with one loaded record. The property name is `Name`, by default the kind of the record.
 */
export type Loaded<Name extends string, K extends Kind = Name & Kind> = {
  readonly [N in Name]: Records[K]
}

/** The records that are loaded for each id of a path. */
export interface RecordsById {
  readonly orgId: Loaded<'organization'>
  readonly projectId: Loaded<'project'>
  readonly environmentId: Loaded<'environment'> & Loaded<'project'>
  readonly flagId: Loaded<'flag'>
  readonly variationId: Loaded<'variation'>
  readonly ruleId: Loaded<'rule', 'targetingRule'>
  readonly rolloutId: Loaded<'rollout'>
  readonly changeId: Loaded<'change', 'scheduledChange'>
  readonly segmentId: Loaded<'segment'>
  readonly keyId: Loaded<'sdkKey'>
  readonly userId: Loaded<'member'>
  readonly tokenId: Loaded<'token', 'accessToken'>
  readonly webhookId: Loaded<'webhook'>
  readonly planId: Loaded<'plan'>
}

/** The name of an id in a path. */
export type IdName = keyof RecordsById

/** A record of a path. */
export interface Step {
  /** The name of the record in the path. */
  readonly name: string
  readonly kind: Kind
  /** The word for the record in error messages. */
  readonly thing: string
  /** The id of the record, or several fields that together identify it. */
  readonly by: readonly IdName[]
  /** The fields of the record that must equal the ids of earlier records of the path. */
  readonly parents: readonly ('orgId' | 'projectId' | 'environmentId' | 'flagId')[]
}

const OF_FLAG_STATE = ['flagId', 'environmentId'] as const

/** The records of all paths in the order in which they are checked: parents first. */
export const STEPS: readonly Step[] = [
  step('project', ['orgId']),
  step('environment', ['projectId']),
  step('flag', ['projectId']),
  step('state', OF_FLAG_STATE, { kind: 'flagState', thing: 'flag', by: OF_FLAG_STATE }),
  step('variation', ['flagId']),
  step('rule', OF_FLAG_STATE, { kind: 'targetingRule', thing: 'targeting rule' }),
  step('rollout', OF_FLAG_STATE),
  step('change', OF_FLAG_STATE, { kind: 'scheduledChange', thing: 'scheduled change' }),
  step('segment', ['projectId']),
  step('sdkKey', ['environmentId'], { thing: 'SDK key', by: ['keyId'] }),
  step('member', ['orgId'], { by: ['orgId', 'userId'] }),
  step('token', ['orgId'], { kind: 'accessToken' }),
  step('webhook', ['orgId']),
  step('plan', []),
]

/** Returns a step. By default, `kind` and `thing` equal `name`, and the id is `name` plus `Id`. */
function step(name: string, parents: Step['parents'], special: Partial<Step> = {}): Step {
  const by = [`${name}Id` as IdName]
  return { name, kind: name as Kind, thing: name, by, parents, ...special }
}

/** The records that can be named by their keys, by the name of their ids. */
export const NAMED_BY_KEY = {
  projectId: 'project',
  environmentId: 'environment',
  flagId: 'flag',
  segmentId: 'segment',
} as const

/** The name of an id that a key can replace. */
export type KeyedId = keyof typeof NAMED_BY_KEY
