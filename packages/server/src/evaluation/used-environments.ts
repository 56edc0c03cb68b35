import type { Cancel, Clock } from '../runtime/clock.ts'
import type { SavedState } from '../snapshots/saved-state.ts'
import type { FlagSetCache } from './flag-set-cache.ts'
import type { LoadScope } from './flag-set-entry.ts'

const NAME = 'used-environments'
const SAVE_EVERY_MS = 60_000

/** An environment in the saved state. */
type UsedEnvironment = Required<Pick<LoadScope, 'environmentId' | 'organizationId'>>

interface UsedEnvironmentsOptions {
  readonly saved: SavedState
  readonly cache: FlagSetCache
  readonly clock: Clock
}

/**
 * Saves which environments are in use. The next start loads them in the background, so that their
 * first requests do not wait for it.
 */
export class UsedEnvironments {
  readonly #options: UsedEnvironmentsOptions
  #saved = ''
  #isStopped = false
  #cancel: Cancel | undefined

  constructor(options: UsedEnvironmentsOptions) {
    this.#options = options
  }

  /**
   * Loads the saved environments one after another, those that were used last first, as long as the
   * memory for flag sets is sufficient. Then saves the environments in use every minute. Never
   * rejects.
   */
  async start(): Promise<void> {
    const { saved, cache } = this.#options
    const { value } = (await saved.load<unknown>(NAME)) ?? {}
    const scopes: LoadScope[] = []
    for (const environment of Array.isArray(value) ? value.filter(isEnvironment) : []) {
      if (this.#isStopped || !cache.hasRoom) break
      const { environmentId, organizationId } = environment
      const scope = { environmentId, organizationId, kind: 'server' } as const
      // An environment can have been deleted, and the store can be unavailable.
      await cache.get(scope).catch(() => undefined)
      scopes.push(scope)
    }
    // Loading was a use. The last one of each environment must be in the saved order again.
    for (const scope of scopes.toReversed()) cache.find(scope)
    this.#saveLater()
  }

  /** Saves the environments a last time, unless the saved ones are not loaded yet. */
  stop(): void {
    this.#isStopped = true
    if (this.#cancel === undefined) return
    this.#cancel()
    this.#save()
  }

  #saveLater(): void {
    if (this.#isStopped) return
    this.#cancel = this.#options.clock.schedule(SAVE_EVERY_MS, () => {
      this.#save()
      this.#saveLater()
    })
  }

  #save(): void {
    const { saved, cache } = this.#options
    const text = JSON.stringify(
      cache.inUse().map(({ environmentId, organizationId }): UsedEnvironment => {
        return { environmentId, organizationId }
      }),
    )
    if (text === this.#saved) saved.confirm(NAME)
    else saved.save(NAME, () => [text])
    this.#saved = text
  }
}

function isEnvironment(value: unknown): value is UsedEnvironment {
  const { environmentId, organizationId } = (value ?? {}) as Partial<UsedEnvironment>
  return typeof environmentId === 'string' && typeof organizationId === 'string'
}
