import type { FlagSet } from '@ff/core'
import type { DefinitionDelta } from '@ff/core/changes'
import { type FlagSetRoot, flagSetRootIncrementally } from '@ff/core/flag-set-root'
import type { FlagSetDiff } from '@ff/protocol/sdk'
import type { Storage } from '@ff/storage'
import type { FlagSetScope } from '../access/scope.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { MAX_DIFF_LENGTH } from '../runtime/memory-bounds.ts'
import { runInTimeSlices } from '../runtime/time-slice.ts'
import type { FlagSetCache } from './flag-set-cache.ts'
import type { FlagSetSwap } from './flag-set-swap.ts'

/** The maximum number of versions between the two ends of a diff. */
const MAX_VERSIONS_BEHIND = 1000

/** The maximum number of changed definitions and keys in an update that is prepared. */
const MAX_PREPARED_CHANGES = 1000

/** The number of times that a diff is requested again because the store has a newer version. */
const MAX_ATTEMPTS = 3

/** A flag set, or the changes to it, as the JSON text of a `FlagSetUpdate`. */
export interface UpdateText {
  readonly text: string
  /** `true` if the text contains the whole flag set, not only the changes. */
  readonly isWhole: boolean
}

/** The update for a client that evaluates flags itself. */
export interface FlagSetAnswer {
  readonly update: UpdateText
  /** The version of the flag set. */
  readonly version: number
  /** `true` if the store no longer has the version that the client named. */
  readonly isRestored: boolean
}

interface FlagSetUpdatesOptions {
  readonly storage: Storage
  readonly cache: FlagSetCache
}

/** The texts of one flag set. They are created on demand and freed together with the flag set. */
class Texts {
  /** The root; `undefined` if no client has needed it. */
  root: FlagSetRoot | undefined
  computing: Promise<FlagSetRoot> | undefined
  whole: UpdateText | undefined
  /** The updates by the version of the client. */
  readonly sinceVersion = new Map<number, UpdateText>()
  readonly loading = new Map<number, Promise<UpdateText | undefined>>()
  length = 0
}

/**
 * Creates the updates for clients that evaluate flags themselves. Each update is created one time,
 * and all clients with the same version receive the same text.
 */
export class FlagSetUpdates {
  readonly #storage: Storage
  readonly #cache: FlagSetCache
  readonly #texts = new WeakMap<FlagSet, Texts>()

  constructor({ storage, cache }: FlagSetUpdatesOptions) {
    this.#storage = storage
    this.#cache = cache
    cache.prepareWith((swap) => this.#prepare(swap))
  }

  /**
   * Returns the update for a client with the version `since`; `undefined` if it must be loaded with
   * `get`.
   */
  find(flagSet: FlagSet, since: number): UpdateText | undefined {
    return this.#texts.get(flagSet)?.sinceVersion.get(since)
  }

  /**
   * Returns the changes since a version. Returns the whole flag set if `since` is absent, too old
   * or no longer in the store, or if the changes are larger. Throws as `FlagSetCache.getAtLeast`
   * does.
   */
  async get(scope: FlagSetScope, since?: number): Promise<FlagSetAnswer> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const flagSet = await this.#cache.getAtLeast(scope, since ?? 0)
      const { version } = flagSet
      const isRestored = since !== undefined && since > version
      if (since === undefined || isRestored || version - since > MAX_VERSIONS_BEHIND) {
        return { update: await this.#whole(flagSet), version, isRestored }
      }
      const update = await this.#since(flagSet, since, scope)
      if (update !== undefined) return { update, version, isRestored }
    }
    const flagSet = await this.#cache.get(scope)
    return { update: await this.#whole(flagSet), version: flagSet.version, isRestored: false }
  }

  /**
   * Returns the update since a version. If the store already has a newer version than `flagSet`,
   * loads it into the cache and returns `undefined`.
   */
  #since(
    flagSet: FlagSet,
    since: number,
    { environmentId }: FlagSetScope,
  ): Promise<UpdateText | undefined> {
    const texts = this.#of(flagSet)
    const known = texts.sinceVersion.get(since)
    if (known !== undefined) return Promise.resolve(known)
    return getOrInsert(texts.loading, since, async () => {
      try {
        const delta = await this.#load(flagSet, since, environmentId)
        if (delta === undefined) return undefined
        return this.#keep(flagSet, since, await this.#smaller(flagSet, since, delta))
      } finally {
        texts.loading.delete(since)
      }
    })
  }

  async #load(
    { version }: FlagSet,
    since: number,
    environmentId: string,
  ): Promise<DefinitionDelta | undefined> {
    if (since === version) return { version, flags: [], segments: [] }
    const delta = await this.#storage.loadChanges(environmentId, since)
    if (delta.version === version) return delta
    await this.#cache.refresh(environmentId, delta.version)
    return undefined
  }

  /** Returns the changes, or the whole flag set if that is smaller. */
  async #smaller(flagSet: FlagSet, since: number, delta: DefinitionDelta): Promise<UpdateText> {
    const { root } = await this.#rootOf(flagSet)
    const update = diffOf(flagSet, since, { delta, root })
    if (update.text.length <= leastLength(flagSet)) return update
    const whole = await this.#whole(flagSet)
    return update.text.length <= whole.text.length ? update : whole
  }

  async #whole(flagSet: FlagSet): Promise<UpdateText> {
    const { root } = await this.#rootOf(flagSet)
    const texts = this.#of(flagSet)
    const { whole = { text: JSON.stringify({ ...flagSet.definition, root }), isWhole: true } } =
      texts
    texts.whole = whole
    return whole
  }

  async #rootOf(flagSet: FlagSet): Promise<FlagSetRoot> {
    const texts = this.#of(flagSet)
    if (texts.root !== undefined) return texts.root
    texts.computing ??= runInTimeSlices(flagSetRootIncrementally(flagSet.definition))
    texts.root = await texts.computing
    texts.computing = undefined
    return texts.root
  }

  /**
   * Prepares the update from the previous version, which most clients have, if a client has needed
   * an update of the previous version.
   */
  *#prepare({ after, before, delta }: FlagSetSwap): Generator<undefined, void> {
    const last = before && this.#texts.get(before.server)?.root
    if (last === undefined || before === undefined || delta === undefined) return
    if (sizeOf(delta) > MAX_PREPARED_CHANGES) return
    const root = yield* last.afterChangesIncrementally(delta)
    this.#of(after.server).root = root
    const { version } = before.server
    const update = diffOf(after.server, version, { delta, root: root.root })
    if (update.text.length <= leastLength(after.server)) this.#keep(after.server, version, update)
  }

  #keep(flagSet: FlagSet, since: number, update: UpdateText): UpdateText {
    const texts = this.#of(flagSet)
    texts.length += update.isWhole ? 0 : update.text.length
    if (texts.length > MAX_DIFF_LENGTH) {
      texts.sinceVersion.clear()
      texts.length = update.text.length
    }
    texts.sinceVersion.set(since, update)
    return update
  }

  #of(flagSet: FlagSet): Texts {
    return getOrInsert(this.#texts, flagSet, () => new Texts())
  }
}

interface DiffInput {
  readonly delta: DefinitionDelta
  readonly root: string
}

function diffOf({ version, definition }: FlagSet, since: number, { delta, root }: DiffInput) {
  const { clientVersion } = definition
  const { flags, segments } = delta
  const client = clientVersion !== undefined && { clientVersion }
  const diff: FlagSetDiff = { from: since, to: version, ...client, flags, segments, root }
  return { text: JSON.stringify(diff), isWhole: false }
}

/** Returns the number of changed definitions and keys. */
function sizeOf({ flags, segments }: DefinitionDelta): number {
  let size = flags.length + segments.length
  for (const { included, excluded } of segments) {
    for (const { added, removed } of [included, excluded]) size += added.length + removed.length
  }
  return size
}

/** The least lengths, in characters, of a flag, a segment and a listed key in JSON. */
const [FLAG_LENGTH, SEGMENT_LENGTH, KEY_LENGTH] = [150, 90, 4]

/**
 * Returns a length that the text of the flag set certainly exceeds. Most changes are shorter, and
 * are compared without creating the text of the whole flag set.
 */
function leastLength({ definition: { flags, segments } }: FlagSet): number {
  let keys = 0
  for (const { included, excluded } of segments) keys += included.length + excluded.length
  return flags.length * FLAG_LENGTH + segments.length * SEGMENT_LENGTH + keys * KEY_LENGTH
}
