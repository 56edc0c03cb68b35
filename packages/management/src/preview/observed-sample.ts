import type { EvaluationContext, FlagSet } from '@ff/core'
import { attributesReadBy, knownAttributes } from '@ff/core/explain'
import type { ObservedAttributes, Records, Storage } from '@ff/storage'
import type { ImpactContext } from './impact.ts'
import type { PublishedFlagSets } from './published-flag-sets.ts'

/** The number of contexts that are read in one call of the store. */
const PAGE = 125
/**
 * The maximum number of versions with references that a preview loads. For further versions, it
 * assumes that they read no attributes, so that more results are undetermined.
 */
const MOST_VERSIONS = 12

/** The attributes whose values every observed context has kept. */
const ALWAYS_KNOWN = ['kind', 'key', 'user.key']

/** Characters that replace those that a store cannot save. */
const REPLACED = '\uFFFD'

interface SampleOptions {
  readonly storage: Pick<Storage, 'loadContexts'>
  readonly flagSets: PublishedFlagSets
  readonly environment: Records['environment']
  /** The newest published flag set of the environment. */
  readonly published: FlagSet
  readonly draft: FlagSet
  /** The keys of the flags that are evaluated. */
  readonly flagKeys: readonly string[]
  readonly seenFrom: string
  readonly maxContexts: number
}

/** A uniform and repeatable sample of the contexts of an environment that were seen in a window. */
export class ObservedSample {
  readonly #options: SampleOptions
  /** The references that the evaluated flags can read, except those that are always known. */
  readonly #reads: readonly string[]
  /**
   * The kept references by version and revision of the settings; `complete` if they contain all
   * references that the flags can read.
   */
  readonly #kept = new Map<string, ReadonlySet<string> | 'complete'>()
  #versionsLeft = MOST_VERSIONS
  #inWindow = 0

  constructor(options: SampleOptions) {
    const { published, draft, flagKeys } = options
    const reads = new Set(
      [published, draft].flatMap((each) => [...attributesReadBy(each, flagKeys)]),
    )
    for (const name of ALWAYS_KNOWN) reads.delete(name)
    this.#options = options
    this.#reads = [...reads]
  }

  /** The number of contexts that were seen in the window. Known after the first page. */
  get inWindow(): number {
    return this.#inWindow
  }

  /** Reads the contexts in pages, those with the smallest hashes first. */
  async *pages(): AsyncGenerator<readonly ObservedAttributes[], void> {
    const { storage, environment, seenFrom, maxContexts } = this.#options
    const place = { environmentId: environment.id, seenFrom }
    let read = 0
    let last: string | undefined
    while (read < maxContexts) {
      const limit = Math.min(PAGE, maxContexts - read)
      const from = last === undefined ? { isCounted: true } : { after: last, isCounted: false }
      const { data, total } = await storage.loadContexts({ ...place, ...from, limit })
      if (last === undefined) this.#inWindow = total
      for (const context of data) {
        if (!this.#isPrepared(context)) await this.#prepare(context)
      }
      if (data.length > 0) yield data
      if (data.length < limit) return
      read += data.length
      last = data.at(-1)?.hash
    }
  }

  /** Returns a context of a page for its evaluation. */
  toContext(observed: ObservedAttributes): ImpactContext {
    const { kind, key, lastSeen, seenCount, contextText, reducedBy } = observed
    const attributes = JSON.parse(contextText) as EvaluationContext
    const kept = reducedBy === null ? 'complete' : this.#kept.get(reductionOf(observed))
    return {
      ...{ kind, key, lastSeen, seenCount, attributes },
      isKnown: kept === 'complete' ? undefined : knownAttributes(attributes, kept ?? new Set()),
      isAltered: contextText.includes(REPLACED),
    }
  }

  #isPrepared(observed: ObservedAttributes): boolean {
    return observed.reducedBy === null || this.#kept.has(reductionOf(observed))
  }

  /** Finds out which attributes were kept by the rules that reduced a context. */
  async #prepare(observed: ObservedAttributes): Promise<void> {
    const { reducedBy, settingsRevision } = observed
    const { keptAttributes, keptSince } = this.#options.environment
    const also = keptAttributes.filter((_, index) => {
      return (keptSince[index] ?? Number.POSITIVE_INFINITY) <= settingsRevision
    })
    const isSufficient = this.#reads.every((each) => also.includes(each))
    const references = isSufficient ? [] : await this.#referencesAt(reducedBy ?? 0)
    const kept = new Set([...references, ...also])
    const isComplete = this.#reads.every((each) => kept.has(each))
    this.#kept.set(reductionOf(observed), isComplete ? 'complete' : kept)
  }

  async #referencesAt(version: number): Promise<Iterable<string>> {
    const { flagSets, environment, published } = this.#options
    const known = flagSets.findReferences(environment.id, version)
    if (known !== undefined) return known
    if (this.#versionsLeft === 0) return []
    this.#versionsLeft -= 1
    return flagSets.loadReferences(environment.id, version, published)
  }
}

function reductionOf({ reducedBy, settingsRevision }: ObservedAttributes): string {
  return `${reducedBy} ${settingsRevision}`
}
