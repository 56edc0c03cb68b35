import type { FlagSet } from '@ff/core'
import type { Environment } from '@ff/protocol/management'
import type { NewestVersion } from '@ff/storage'
import type { EnvironmentScope, FlagSetScope, SdkKeyKind } from '../access/scope.ts'
import { CoalescedTask } from '../runtime/coalesced-task.ts'

/** The flag set for each kind of SDK key. Both are one object if clients may see every flag. */
export type FlagSetsByKind = Readonly<Record<SdkKeyKind, FlagSet>>

/** The rules that decide which parts of observed contexts are stored. Never modified. */
export interface SamplingRules {
  readonly privacy: Environment['contextPrivacy']
  /** References to attributes that are kept although the flag set does not read them. */
  readonly keptAttributes: readonly string[]
  /** The revision of the environment with these settings. */
  readonly settingsRevision: number
  /** The flag set with all flags, which decides which attributes are kept. */
  readonly flagSet: FlagSet
}

type SamplingSettings = Omit<SamplingRules, 'flagSet'>

/** Until the settings of an environment have been read, no context is stored. */
const NOT_READ: SamplingSettings = { privacy: 'none', keptAttributes: [], settingsRevision: 0 }

/** The scope of a flag set that may have to be loaded, on account of an organization. */
export type LoadScope = FlagSetScope & Partial<Pick<EnvironmentScope, 'organizationId'>>

type UpdateEntry = (entry: FlagSetEntry) => Promise<void>

/** An environment in the cache. */
export class FlagSetEntry {
  readonly environmentId: string
  /** The organization of the first caller; empty for a caller in process. */
  readonly organizationId: string
  readonly refresh: CoalescedTask
  /** The first load, which all callers await. */
  first: Promise<void> | undefined
  flagSets: FlagSetsByKind | undefined
  /** `true` if the flag sets were saved earlier and have not been compared with the store. */
  isSaved = false
  /** The last time at which the store had no newer version, in epoch milliseconds. */
  checkedAt = 0
  settings = NOT_READ
  settingsReadAt = Number.NEGATIVE_INFINITY
  /** The current flag set with the current settings; `undefined` before the first load. */
  sampling: SamplingRules | undefined
  /** The estimated memory of the flag sets, in bytes; 0 before the first load. */
  bytes = 0
  /** `true` if the evaluation of all flags together is prepared, or is being prepared. */
  isPrepared = false
  /** The number of uses before the preparation. */
  uses = 0
  /** The position of the last use in the order of all uses of the cache. */
  usedAt = 0
  /** The number of calls of `dropUnused` since the last use. */
  idleRefreshes = 0
  /** The recent loading time in milliseconds. It was last reduced at `busyAt`. */
  busyMs = 0
  busyAt = 0
  /** The last failure. It is kept so that a repeated failure is logged only once. */
  failure: string | undefined

  constructor({ environmentId, organizationId = '' }: LoadScope, update: UpdateEntry) {
    this.environmentId = environmentId
    this.organizationId = organizationId
    this.refresh = new CoalescedTask(() => update(this))
  }
}

/** Returns `true` if the store has no newer version and no newer settings of an environment. */
export function isUpToDate(
  { flagSets, settings, failure }: FlagSetEntry,
  newest: NewestVersion | undefined,
): boolean {
  if (newest === undefined || flagSets === undefined || failure !== undefined) return false
  const { version, revision } = newest
  return version <= flagSets.server.version && revision === settings.settingsRevision
}

/** Renews the sampling rules after a change of the flag set or of the settings. */
export function renewSampling(entry: FlagSetEntry): void {
  if (entry.flagSets !== undefined) {
    entry.sampling = { ...entry.settings, flagSet: entry.flagSets.server }
  }
}
