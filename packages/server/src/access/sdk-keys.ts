import { FlagError } from '@ff/core'
import { DEFAULT_RATE_LIMIT, SDK_KEY_PREFIX } from '@ff/protocol/sdk'
import type { Records, Storage } from '@ff/storage'
import type { Clock } from '../runtime/clock.ts'
import { CoalescedTask } from '../runtime/coalesced-task.ts'
import type { Logger } from '../runtime/logger.ts'
import { LastUse } from './last-use.ts'
import { hashSecret } from './secrets.ts'

/** The flags of an environment that the holder of an SDK key receives. */
export interface FlagSetScope {
  readonly environmentId: string
  /** `client`: values of the flags visible to clients; `server`: all flags, and the flag set. */
  readonly kind: SdkKeyKind
}

export type SdkKeyKind = 'client' | 'server'

export const SDK_KEY_KINDS: readonly SdkKeyKind[] = ['client', 'server']

/** What the holder of an SDK key may see: one environment. */
export interface EnvironmentScope extends FlagSetScope {
  readonly keyId: string
  readonly organizationId: string
  /** Requests a minute. */
  readonly rateLimit: number
}

interface LivingKey extends EnvironmentScope {
  readonly hash: string
  /** Epoch milliseconds; infinite when the key does not expire. */
  readonly expiresAt: number
}

const KEY_PATTERN = new RegExp(`^${SDK_KEY_PREFIX}[0-9a-f]{64}$`)

/** Unknown keys make the store be asked again at most this often. */
const UNKNOWN_KEY_REFRESH_MS = 1000

/** How long no key is taken at its word while the store is read because some have changed. */
const DOUBT_MS = 250

/** How many verified keys are remembered in clear, so that they need no hashing again. */
const MAX_REMEMBERED = 10_000

interface SdkKeyVerifierOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
}

/** Knows the hashes of all living SDK keys, so that no request asks the store about one. */
export class SdkKeyVerifier {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #refresh = new CoalescedTask(() => this.#load())
  readonly #lastUse: LastUse
  /** By project; the organization of a project never changes. */
  #organizations: ReadonlyMap<string, string> = new Map()
  #byHash: ReadonlyMap<string, LivingKey> = new Map()
  #byId: ReadonlyMap<string, LivingKey> = new Map()
  /** By the key itself: those that were verified lately. */
  readonly #remembered = new Map<string, LivingKey>()
  #refreshedAt = Number.NEGATIVE_INFINITY
  #reachable = true
  /** Ends when the keys that are known to have changed were read, or should have been. */
  #doubt: Promise<void> | undefined
  #listener: () => void = () => undefined

  constructor({ storage, clock, logger }: SdkKeyVerifierOptions) {
    this.#storage = storage
    this.#clock = clock
    this.#logger = logger
    this.#lastUse = new LastUse('sdkKey', { storage, clock, logger })
  }

  /** Sets who hears that keys may have come or gone. */
  listen(listener: () => void): void {
    this.#listener = listener
  }

  /** Keeps no uses any more. */
  stop(): void {
    this.#lastUse.stop()
  }

  /** Reads all living keys again. Throws `UNAVAILABLE` when that fails; those known stay. */
  refresh(): Promise<void> {
    return this.#refresh.run()
  }

  /**
   * Reads again because some keys are known to have changed. Until that is done, but not for
   * long, requests wait: a key is refused from the moment its revocation is acknowledged.
   */
  recheck(): void {
    const read = this.refresh().catch(() => undefined)
    const doubt = new Promise<void>((resolve) => {
      const cancel = this.#clock.schedule(DOUBT_MS, resolve)
      void read.then(() => {
        cancel()
        resolve()
      })
    }).then(() => {
      if (this.#doubt === doubt) this.#doubt = undefined
    })
    this.#doubt = doubt
  }

  /** The scope of a key that was verified before, at the price of one look-up. */
  find(key: string | undefined): EnvironmentScope | undefined {
    if (key === undefined || this.#doubt !== undefined) return undefined
    const known = this.#remembered.get(key)
    if (known === undefined || known.expiresAt <= this.#clock.now()) return undefined
    this.#lastUse.note(known.keyId)
    return known
  }

  /**
   * The scope of a key. Throws `UNAUTHENTICATED` when there is no such living key, and
   * `UNAVAILABLE` when it is unknown and the store cannot be asked about it.
   */
  async verify(key: string | undefined): Promise<EnvironmentScope> {
    if (key === undefined || !KEY_PATTERN.test(key)) throw keyRefused()
    await this.#doubt
    const hash = await hashSecret(key)
    const known = this.#byHash.get(hash) ?? (await this.#lookAgain(hash))
    if (known === undefined || known.expiresAt <= this.#clock.now()) throw keyRefused()
    this.#remember(key, known)
    this.#lastUse.note(known.keyId)
    return known
  }

  /** Whether the key of a scope is, as far as this process knows, neither revoked nor expired. */
  isLiving({ keyId }: EnvironmentScope): boolean {
    const known = this.#byId.get(keyId)
    return known !== undefined && known.expiresAt > this.#clock.now()
  }

  async #lookAgain(hash: string): Promise<LivingKey | undefined> {
    const elapsed = Math.abs(this.#clock.now() - this.#refreshedAt)
    if (elapsed >= UNKNOWN_KEY_REFRESH_MS) {
      this.#refreshedAt = this.#clock.now()
      await this.refresh()
    } else {
      await this.#refresh.pending
    }
    if (!this.#reachable) throw notVerifiable()
    return this.#byHash.get(hash)
  }

  async #load(): Promise<void> {
    try {
      const { data } = await this.#storage.list('sdkKey', {})
      await this.#readOrganizations(data)
      this.#replace(data)
      if (!this.#reachable) this.#logger.info('the SDK keys can be read again')
      this.#reachable = true
    } catch (error) {
      if (this.#reachable) this.#logger.error('the SDK keys cannot be read', { cause: error })
      this.#reachable = false
      throw notVerifiable(error)
    } finally {
      this.#listener()
    }
  }

  /** Reads the projects, unless those of all keys are known. */
  async #readOrganizations(records: readonly Records['sdkKey'][]): Promise<void> {
    const known = this.#organizations
    if (records.every(({ projectId }) => known.has(projectId))) return
    const { data } = await this.#storage.list('project', {})
    const organizations = new Map(data.map(({ id, orgId }) => [id, orgId]))
    for (const { projectId } of records) {
      // A project that was deleted meanwhile counts as an organization of its own.
      const fallback = known.get(projectId) ?? projectId
      if (!organizations.has(projectId)) organizations.set(projectId, fallback)
    }
    this.#organizations = organizations
  }

  #replace(records: readonly Records['sdkKey'][]): void {
    const living = records
      .filter(({ revokedAt }) => revokedAt === null)
      .map((record) => {
        const organizationId = this.#organizations.get(record.projectId) ?? record.projectId
        return toLivingKey(record, organizationId)
      })
    this.#byHash = new Map(living.map((known) => [known.hash, known]))
    this.#byId = new Map(living.map((known) => [known.keyId, known]))
    for (const [key, { hash }] of this.#remembered) {
      const known = this.#byHash.get(hash)
      if (known === undefined) this.#remembered.delete(key)
      else this.#remembered.set(key, known)
    }
  }

  #remember(key: string, known: LivingKey): void {
    if (this.#remembered.size >= MAX_REMEMBERED) {
      for (const oldest of this.#remembered.keys()) {
        this.#remembered.delete(oldest)
        break
      }
    }
    this.#remembered.set(key, known)
  }
}

function toLivingKey(record: Records['sdkKey'], organizationId: string): LivingKey {
  return {
    keyId: record.id,
    organizationId,
    environmentId: record.environmentId,
    kind: record.kind,
    rateLimit: record.rateLimit ?? DEFAULT_RATE_LIMIT,
    hash: record.hash,
    expiresAt: record.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(record.expiresAt),
  }
}

/** The refusal of a key that opens nothing. */
export function keyRefused(): FlagError {
  return new FlagError('UNAUTHENTICATED', 'The SDK key is missing, unknown, expired or revoked.')
}

function notVerifiable(cause?: unknown): FlagError {
  return new FlagError('UNAVAILABLE', 'The SDK key cannot be verified at the moment.', { cause })
}
