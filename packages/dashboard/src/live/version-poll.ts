import type { Api } from '../api/api.ts'
import { ApiError } from '../api/api-error.ts'

/** The connection of a `VersionPoll` to the page. */
export interface VersionPollOptions {
  readonly api: Api
  readonly projectId: string
  /** The ids of the environments in view. */
  readonly environmentIds: () => readonly string[]
  /** Called when data may have changed, and when the server can or cannot be reached any more. */
  readonly onChange: () => void
  /** Called after a poll that found no new version. A change of a name, for example, makes none. */
  readonly onUnchanged: () => void
}

const VISIBLE_MS = 5000
const HIDDEN_MS = 60_000
/** The environments that are read at a time; the others follow with the next poll. */
const MOST_AT_A_TIME = 8

/** Finds new versions of the environments in view, in place of an event stream. */
export class VersionPoll {
  readonly #options: VersionPollOptions
  readonly #known = new Map<string, number>()
  #run: AbortController | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #next = 0
  #lastAt = 0
  #isPolling = false
  #isUnavailable = false

  constructor(options: VersionPollOptions) {
    this.#options = options
  }

  /** Begins to poll. Does nothing if it has begun. */
  start(): void {
    if (this.#run !== undefined) return
    this.#run = new AbortController()
    this.#lastAt = Date.now()
    const { signal } = this.#run
    document.addEventListener('visibilitychange', () => this.#schedule(), { signal })
    this.#schedule()
  }

  /** Ends the polls. */
  stop(): void {
    this.#run?.abort()
    this.#run = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#known.clear()
    if (this.#isUnavailable) this.#options.onChange()
    this.#isUnavailable = false
  }

  /** Plans the next poll. A tab that becomes visible does not wait for the time of a hidden tab. */
  #schedule(leastMs = 0): void {
    clearTimeout(this.#timer)
    if (this.#isPolling) return
    const interval = document.visibilityState === 'visible' ? VISIBLE_MS : HIDDEN_MS
    const delay = Math.max(this.#lastAt + interval - Date.now(), leastMs, 0)
    this.#timer = setTimeout(() => void this.#poll(), delay)
  }

  async #poll(): Promise<void> {
    const run = this.#run
    if (run === undefined) return
    this.#isPolling = true
    const leastMs = await this.#pollOnce(run.signal)
    this.#isPolling = false
    this.#lastAt = Date.now()
    if (this.#run !== undefined) this.#schedule(leastMs)
  }

  /** Returns the time that the server demands before the next poll. */
  async #pollOnce(signal: AbortSignal): Promise<number> {
    try {
      const isChanged = await this.#isChanged(signal)
      if (signal.aborted) return 0
      if (isChanged || this.#isUnavailable) this.#options.onChange()
      else this.#options.onUnchanged()
      this.#isUnavailable = false
      return 0
    } catch (error) {
      if (signal.aborted) return 0
      if (!(error instanceof ApiError)) throw error
      if (error.isUnavailable && !this.#isUnavailable) this.#options.onChange()
      this.#isUnavailable = error.isUnavailable
      return (error.retryAfter ?? 0) * 1000
    }
  }

  /** Returns `true` if an environment has another version than before, or none is known before. */
  async #isChanged(signal: AbortSignal): Promise<boolean> {
    const { api, projectId, environmentIds } = this.#options
    const all = environmentIds()
    const count = Math.min(all.length, MOST_AT_A_TIME)
    const ids = Array.from({ length: count }, (_, index) => all[(this.#next + index) % all.length])
    this.#next = all.length === 0 ? 0 : (this.#next + count) % all.length
    const changes = await Promise.all(
      ids.map(async (environmentId = '') => {
        const params = { projectId, environmentId }
        const { data } = await api.call('listVersions', { params, query: { limit: 1 }, signal })
        const version = data.data[0]?.version ?? 0
        const isChanged = this.#known.get(environmentId) !== version
        this.#known.set(environmentId, version)
        return isChanged
      }),
    )
    return changes.includes(true)
  }
}
