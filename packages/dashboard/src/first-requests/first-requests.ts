/** A request that was sent before the application was loaded. */
export interface FirstRequest {
  readonly response: Promise<Response>
  readonly abort: (reason?: unknown) => void
}

/** The number of flags in the first request of the list: at least those that a window can show. */
export const FIRST_ROWS = 50

/** The time after which a response is no longer current. */
const CURRENT_MS = 10_000
/** The pages for which no user is logged in yet. */
const WITHOUT_USER = /^(?:login|accept)(?:\/|$)/
/** Matches a page of a project. The key of a project has no meaning without an organization. */
const OF_PROJECT = /^p\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(.*)$/

// The endpoint table would multiply the size of this code. A test compares these paths with it.
const LOG_IN = '/auth/me'
const FIRST_FLAGS = `/flag-summaries?archived=false&sort=key%3Aasc&page=1&limit=${FIRST_ROWS}`

/**
 * The requests that the first page needs. They are sent while the application is loaded, which takes
 * longer on a slow device than the responses. The application takes each of them once. They do not
 * name an organization, so that they apply to the organization that the log-in selects.
 */
export class FirstRequests {
  readonly #apiPath: string
  readonly #pending = new Map<string, FirstRequest>()

  constructor(apiPath: string) {
    this.#apiPath = apiPath
  }

  /** Sends the requests of a page, which is given by its path below the application and its query. */
  start(path: string, query: string): void {
    if (WITHOUT_USER.test(path)) return
    for (const each of pathsOf(path, query)) this.#send(each)
    setTimeout(() => this.forget(), CURRENT_MS)
  }

  /** Removes and returns a request; `undefined` if it was not sent or is already taken. */
  take(path: string): FirstRequest | undefined {
    const request = this.#pending.get(path)
    this.#pending.delete(path)
    return request
  }

  /** Aborts and forgets the requests that are not taken. */
  forget(): void {
    for (const { abort } of this.#pending.values()) abort()
    this.#pending.clear()
  }

  #send(path: string): void {
    const limit = new AbortController()
    const response = fetch(this.#apiPath + path, {
      signal: limit.signal,
      credentials: 'same-origin',
    })
    // The caller of `take` reports a failure. Without one, there is nothing to report.
    response.catch(() => undefined)
    this.#pending.set(path, { response, abort: (reason) => limit.abort(reason) })
  }
}

/** Returns the paths of what a page needs. */
function pathsOf(path: string, query: string): readonly string[] {
  const [, projectId, page] = OF_PROJECT.exec(path) ?? []
  if (projectId === undefined) return [LOG_IN]
  const project = `/projects/${projectId}`
  const isList = page === 'flags' && query === ''
  return [LOG_IN, project, ...(isList ? [project + FIRST_FLAGS] : [])]
}
