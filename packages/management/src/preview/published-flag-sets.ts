import {
  compileIncrementally,
  type FlagSet,
  type FlagSetDefinition,
  prepareDefinitions,
} from '@ff/core'
import { mergeChanges } from '@ff/core/changes'
import { attributesRead } from '@ff/core/explain'
import { extensions, runInTimeSlices, type TimeSliceQueue } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import { keepNewest } from '../changes/keep-newest.ts'

/** The maximum number of environments with a cached flag set. */
const MAX_ENVIRONMENTS = 8
/** The maximum number of versions with cached references. */
const MAX_VERSIONS = 256

/** The flag set of an environment without publications. */
export const NOTHING_PUBLISHED: FlagSetDefinition = { version: 0, flags: [], segments: [] }

/**
 * Caches the compiled flag sets of the environments that were previewed last, and the references
 * that their versions read. Evaluation does not use this cache.
 */
export class PublishedFlagSets {
  readonly #storage: Pick<Storage, 'loadFlagSet' | 'loadChanges'>
  /** The time slices of all work with these flag sets. */
  readonly slices: TimeSliceQueue
  /** Flag sets by environment, the most recently used one last. */
  readonly #flagSets = new Map<string, FlagSet>()
  /** References by environment and version, the most recently used ones last. */
  readonly #references = new Map<string, ReadonlySet<string>>()

  constructor(storage: Pick<Storage, 'loadFlagSet' | 'loadChanges'>, slices: TimeSliceQueue) {
    this.#storage = storage
    this.slices = slices
  }

  /** Returns the newest flag set of an environment. */
  async load(environmentId: string): Promise<FlagSet> {
    const known = this.#flagSets.get(environmentId)
    const flagSet = await this.#bringUpToDate(environmentId, known)
    keepNewest(this.#flagSets, [environmentId, flagSet], MAX_ENVIRONMENTS)
    this.#keepReferences(environmentId, flagSet)
    return flagSet
  }

  /** Compiles a definition. Definitions that `previous` contains are not compiled again. */
  async compile(definition: FlagSetDefinition, previous?: FlagSet): Promise<FlagSet> {
    const compiling = compileIncrementally(definition, { previous, extensions })
    const flagSet = await runInTimeSlices(compiling, this.slices)
    await runInTimeSlices(prepareDefinitions(flagSet), this.slices)
    return flagSet
  }

  /** Returns the references that a version reads; `undefined` if they are not cached. */
  findReferences(environmentId: string, version: number): ReadonlySet<string> | undefined {
    return version === 0 ? new Set() : this.#references.get(`${environmentId} ${version}`)
  }

  /**
   * Loads the references that a version reads. `present` is the newest flag set of the environment.
   * If the version does not exist, for example after a restore from a backup, it reads none.
   */
  async loadReferences(
    environmentId: string,
    version: number,
    present: FlagSet,
  ): Promise<ReadonlySet<string>> {
    const definition = await this.#storage.loadFlagSet(environmentId, version)
    const flagSet = definition && (await this.compile(definition, present))
    return flagSet === undefined ? new Set() : this.#keepReferences(environmentId, flagSet)
  }

  #keepReferences(environmentId: string, flagSet: FlagSet): ReadonlySet<string> {
    const references = new Set(attributesRead(flagSet))
    keepNewest(this.#references, [`${environmentId} ${flagSet.version}`, references], MAX_VERSIONS)
    return references
  }

  async #bringUpToDate(environmentId: string, known: FlagSet | undefined): Promise<FlagSet> {
    if (known !== undefined) {
      const changes = await this.#storage.loadChanges(environmentId, known.version)
      if (changes.version === known.version) return known
      // After a restore from a backup, the cached version can be newer than the stored one.
      if (changes.version > known.version) {
        return this.compile(mergeChanges(known.definition, changes), known)
      }
    }
    const definition = await this.#storage.loadFlagSet(environmentId)
    return this.compile(definition ?? NOTHING_PUBLISHED)
  }
}
