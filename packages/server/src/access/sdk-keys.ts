import { FlagError } from '@ff/core'
import { DEFAULT_RATE_LIMIT, SDK_KEY_HEADER, SDK_KEY_PREFIX } from '@ff/protocol/sdk'
import type { Records, Storage } from '@ff/storage'
import { type Clock, within } from '../runtime/clock.ts'
import { CoalescedTask } from '../runtime/coalesced-task.ts'
import type { Logger } from '../runtime/logger.ts'
import { MAX_REMEMBERED_KEYS } from '../runtime/memory-bounds.ts'
import type { SavedState } from '../snapshots/saved-state.ts'
import { LastUse } from './last-use.ts'
import type { EnvironmentScope } from './scope.ts'
import { hashSecret } from './secrets.ts'

/** The access of an SDK key, with the hash under which the key is stored. */
export interface HashedKey extends EnvironmentScope {
  readonly hash: string
}

interface ValidKey extends HashedKey {
  /** The expiry in epoch milliseconds; infinite if the key does not expire. */
  readonly expiresAt: number
}

/** A valid key as it is saved: its expiry is `null` if it does not expire. */
interface SavedKey extends HashedKey {
  readonly expiresAt: number | null
}

/** The name of the saved keys. */
const SAVED_KEYS = 'sdk-keys'

const KEY_PATTERN = new RegExp(`^${SDK_KEY_PREFIX}[0-9a-f]{64}$`)

/** The minimum time between two reads of the store because of unknown keys. */
const UNKNOWN_KEY_REFRESH_MS = 1000

/** The maximum time that requests wait while changed keys are read from the store. */
const DOUBT_MS = 250

interface SdkKeyVerifierOptions {
  readonly storage: Storage
  /** Contains the keys that are valid while the store is unavailable. */
  readonly saved: SavedState
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Verifies SDK keys. Caches the hashes of all valid keys, so that usually no request reads the
 * store.
 */
export class SdkKeyVerifier {
  readonly #options: SdkKeyVerifierOptions
  readonly #refresh = new CoalescedTask(() => this.#observe(() => this.#load()))
  /** The version of the cached keys; `undefined` before the first read. */
  #version: number | undefined
  readonly #lastUse: LastUse
  /** Organization ids by project id. The organization of a project never changes. */
  #organizations: ReadonlyMap<string, string> = new Map()
  #byHash: ReadonlyMap<string, ValidKey> = new Map()
  #byId: ReadonlyMap<string, ValidKey> = new Map()
  /** Recently verified keys, by the key in plain text. */
  readonly #remembered = new Map<string, ValidKey>()
  #refreshedAt = Number.NEGATIVE_INFINITY
  #reachable = true
  #checkedAt = Number.NEGATIVE_INFINITY
  /**
   * Resolves when the changed keys were read or the maximum wait has passed; `undefined` if no
   * request has to wait.
   */
  #doubt: Promise<void> | undefined
  #listener: () => void = () => undefined

  constructor(options: SdkKeyVerifierOptions) {
    this.#options = options
    this.#lastUse = new LastUse('sdkKey', options)
  }

  /** Sets the function that is called after each check of the keys, successful or not. */
  listen(listener: () => void): void {
    this.#listener = listener
  }

  /** The last time at which the cached keys were those of the store, in epoch milliseconds. */
  get checkedAt(): number {
    return this.#checkedAt
  }

  /** Caches the saved keys, if there are any, and returns `true` in this case. */
  async restore(): Promise<boolean> {
    const saved = await this.#options.saved.load<readonly SavedKey[]>(SAVED_KEYS)
    if (saved === undefined) return false
    this.#checkedAt = saved.confirmedAt
    this.#replace(saved.value.map(fromSavedKey))
    return true
  }

  /** Stops recording uses. */
  stop(): void {
    this.#lastUse.stop()
  }

  /**
   * Reads all valid keys from the store if they have changed. Throws `UNAVAILABLE` if the store
   * cannot be read; the cached keys then stay valid.
   */
  refresh(): Promise<void> {
    return this.#refresh.run()
  }

  /**
   * Does the same with a version of the keys that is being read already, so that nothing is read if
   * no key has changed.
   */
  async refreshIfChanged(reading: Promise<number>): Promise<void> {
    const isChanged = await this.#observe(async () => (await reading) !== this.#version)
    if (isChanged) await this.#refresh.run()
  }

  /**
   * Reads the keys again because they have changed. Requests wait until the keys are read, but at
   * most `DOUBT_MS`. A revoked key is therefore refused as soon as its revocation is acknowledged.
   */
  recheck(): void {
    const read = this.refresh().catch(() => undefined)
    const doubt = within(read, { clock: this.#options.clock, ms: DOUBT_MS }).then(() => {
      if (this.#doubt === doubt) this.#doubt = undefined
    })
    this.#doubt = doubt
  }

  /**
   * Returns the scope of a key that was verified recently; `undefined` if `verify` must be called.
   */
  find(key: string | undefined): EnvironmentScope | undefined {
    if (key === undefined || this.#doubt !== undefined) return undefined
    const known = this.#remembered.get(key)
    if (known === undefined || known.expiresAt <= this.#options.clock.now()) return undefined
    this.#lastUse.note(known.keyId)
    return known
  }

  /**
   * Returns the scope of a key. Throws `UNAUTHENTICATED` if the key is not valid, and `UNAVAILABLE`
   * if the key is not cached and the store cannot be read.
   */
  async verify(key: string | undefined): Promise<EnvironmentScope> {
    if (key === undefined || key === '') throw keyMissing()
    if (!KEY_PATTERN.test(key)) throw keyRefused()
    await this.#doubt
    const hash = await hashSecret(key)
    const known = await this.#findValid(() => this.#byHash.get(hash))
    this.#remember(key, known)
    return known
  }

  /** Returns the key with an id. Throws as `verify` does. */
  async verifyById(keyId: string): Promise<HashedKey> {
    await this.#doubt
    return this.#findValid(() => this.#byId.get(keyId))
  }

  /**
   * Returns `true` if, according to the cached keys, the key of a scope is neither revoked nor
   * expired.
   */
  isValid({ keyId }: EnvironmentScope): boolean {
    const known = this.#byId.get(keyId)
    return known !== undefined && known.expiresAt > this.#options.clock.now()
  }

  /** Returns a cached key, after reading the keys again if it is unknown, and notes its use. */
  async #findValid(find: () => ValidKey | undefined): Promise<ValidKey> {
    const known = find() ?? (await this.#findAfterRefresh(find))
    if (known === undefined || known.expiresAt <= this.#options.clock.now()) throw keyRefused()
    this.#lastUse.note(known.keyId)
    return known
  }

  async #findAfterRefresh(find: () => ValidKey | undefined): Promise<ValidKey | undefined> {
    const elapsed = Math.abs(this.#options.clock.now() - this.#refreshedAt)
    if (elapsed >= UNKNOWN_KEY_REFRESH_MS) {
      this.#refreshedAt = this.#options.clock.now()
      await this.refresh()
    } else {
      await this.#refresh.pending
    }
    if (!this.#reachable) throw notVerifiable()
    return find()
  }

  async #load(): Promise<void> {
    const { storage } = this.#options
    // The version is read first, so that a change during the read is found by the next check.
    const { sdkKeys: version } = await storage.findVersions([])
    if (version === this.#version) return
    const { data } = await storage.list('sdkKey', { where: { revokedAt: null } })
    await this.#readOrganizations(data)
    this.#replace(data.map((record) => toValidKey(record, this.#organizations)))
    this.#options.saved.save(SAVED_KEYS, () => [JSON.stringify([...this.#byHash.values()])])
    this.#version = version
  }

  /** Runs a read of the store, notes whether the store can be read, and calls the listener. */
  async #observe<T>(read: () => Promise<T>): Promise<T> {
    const { logger } = this.#options
    try {
      const result = await read()
      if (!this.#reachable) logger.info('The SDK keys can be read again')
      this.#reachable = true
      this.#checkedAt = this.#options.clock.now()
      this.#options.saved.confirm(SAVED_KEYS)
      return result
    } catch (error) {
      if (this.#reachable) logger.error('The SDK keys cannot be read', { cause: error })
      this.#reachable = false
      throw notVerifiable(error)
    } finally {
      this.#listener()
    }
  }

  /** Reads all projects, unless the projects of all keys are cached. */
  async #readOrganizations(records: readonly Records['sdkKey'][]): Promise<void> {
    const known = this.#organizations
    if (records.every(({ projectId }) => known.has(projectId))) return
    const { data } = await this.#options.storage.list('project', {})
    this.#organizations = new Map([
      // A project that was deleted in the meantime counts as a separate organization.
      ...records.map(({ projectId }) => [projectId, known.get(projectId) ?? projectId] as const),
      ...data.map(({ id, orgId }) => [id, orgId] as const),
    ])
  }

  #replace(valid: readonly ValidKey[]): void {
    this.#byHash = new Map(valid.map((known) => [known.hash, known]))
    this.#byId = new Map(valid.map((known) => [known.keyId, known]))
    for (const [key, { hash }] of this.#remembered) {
      const known = this.#byHash.get(hash)
      if (known === undefined) this.#remembered.delete(key)
      else this.#remembered.set(key, known)
    }
  }

  #remember(key: string, known: ValidKey): void {
    this.#remembered.set(key, known)
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > MAX_REMEMBERED_KEYS && oldest) this.#remembered.delete(oldest)
  }
}

function toValidKey(
  record: Records['sdkKey'],
  organizations: ReadonlyMap<string, string>,
): ValidKey {
  return {
    keyId: record.id,
    organizationId: organizations.get(record.projectId) ?? record.projectId,
    environmentId: record.environmentId,
    kind: record.kind,
    rateLimit: record.rateLimit ?? DEFAULT_RATE_LIMIT,
    hash: record.hash,
    expiresAt: record.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(record.expiresAt),
  }
}

function fromSavedKey(saved: SavedKey): ValidKey {
  return { ...saved, expiresAt: saved.expiresAt ?? Number.POSITIVE_INFINITY }
}

/** Creates the `UNAUTHENTICATED` error for a key that is not valid. */
export function keyRefused(): FlagError {
  const message = 'The SDK key is unknown, expired or revoked. Use another SDK key.'
  return new FlagError('UNAUTHENTICATED', message)
}

function keyMissing(): FlagError {
  const message = `The SDK key is missing. Send it in the header ${SDK_KEY_HEADER}.`
  return new FlagError('UNAUTHENTICATED', message)
}

function notVerifiable(cause?: unknown): FlagError {
  return new FlagError('UNAVAILABLE', 'The SDK key cannot be verified at the moment.', { cause })
}
