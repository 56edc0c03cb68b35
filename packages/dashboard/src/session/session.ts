import { hasPermission, type LogIn, type Permission } from '@ff/protocol/management'
import { type Api, createApi } from '../api/api.ts'
import { ApiError } from '../api/api-error.ts'
import type { FirstRequests } from '../first-requests/first-requests.ts'
import { clearDrafts, clearDraftsOfOthers } from './stored-drafts.ts'

/** What the session knows about the user. */
export interface SessionState {
  /** `unknown` until the first response, and after a failure that says nothing about the user. */
  readonly status: 'unknown' | 'loggedIn' | 'loggedOut'
  readonly logIn: LogIn | undefined
  /** The organization to which requests apply; `null` if there is none. */
  readonly organizationId: string | null
  /** `true` while "Log in again" is shown over the page. */
  readonly isLogInNeeded: boolean
}

const NOBODY = { logIn: undefined, organizationId: null, isLogInNeeded: false } as const

/** The log-in session of the user. The CSRF token is only in memory. */
export class Session {
  readonly api: Api
  #state: SessionState = { status: 'unknown', ...NOBODY }
  #waiting: ((isLoggedIn: boolean) => void)[] = []
  readonly #listeners = new Set<() => void>()

  constructor(apiPath: string, firstRequests?: FirstRequests) {
    this.api = createApi({
      apiPath,
      firstRequests,
      credentials: () => ({
        csrfToken: this.#state.logIn?.csrfToken ?? null,
        organizationId: this.#state.organizationId,
      }),
      onUnauthenticated: () => this.#waitForLogIn(),
      onForbidden: () => this.#checkAgain(),
    })
  }

  /** The current state. A change makes a new object. */
  readonly state = (): SessionState => this.#state

  /** Calls a listener after every change; returns a function that ends this. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Loads the user. After a 401, a page without a user is logged out, and a page of a user shows
   * "Log in again". Throws every other error.
   */
  async load(): Promise<SessionState> {
    try {
      const { data } = await this.api.call('getLogIn')
      this.#loggedIn(data)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (this.#isWithoutAccess(error)) {
        this.#set({ organizationId: null })
        return this.load()
      }
      if (error.status !== 401) throw error
      if (this.#state.logIn === undefined) this.#loggedOut()
      else this.#set({ isLogInNeeded: true })
    }
    return this.#state
  }

  /** Logs a user in. Throws the `ApiError` of a refusal. */
  async logIn(email: string, password: string): Promise<void> {
    const { data } = await this.api.call('logIn', {
      body: { email: email.toLowerCase(), password },
    })
    this.#loggedIn(data)
  }

  /** Ends the session at the server, and forgets everything about the user, drafts included. */
  async logOut(): Promise<void> {
    await this.api.call('logOut')
    this.#leave()
  }

  /** Ends the wait for a new log-in as a log-out does: the waiting requests fail with 401. */
  giveUp(): void {
    this.#leave()
  }

  /** Selects the organization to which requests apply, and loads the role of the user in it. */
  async selectOrganization(organizationId: string): Promise<void> {
    this.api.forget()
    const { data } = await this.api.call('getLogIn', { organizationId })
    this.#loggedIn(data, organizationId)
  }

  /** Returns `true` if the role of the user has a permission in the selected organization. */
  may(permission: Permission): boolean {
    const { logIn } = this.#state
    return logIn !== undefined && hasPermission(logIn.user.role, permission)
  }

  /** `selected` is the organization of a user with the role `platform`, who belongs to none. */
  #loggedIn(logIn: LogIn, selected = this.#state.organizationId): void {
    const before = this.#state.logIn?.user.id
    const isOther = before !== undefined && before !== logIn.user.id
    if (isOther) {
      // Requests of one user are never repeated with the permissions of another user.
      this.api.forget()
      this.#settle(false)
    }
    clearDraftsOfOthers(logIn.user.id)
    const organizationId = logIn.user.orgId ?? (isOther ? null : selected)
    this.#set({ status: 'loggedIn', logIn, organizationId, isLogInNeeded: false })
    this.#settle(true)
  }

  /** Returns `true` if the user has no access to the selected organization, such as a new user. */
  #isWithoutAccess({ status }: ApiError): boolean {
    return (status === 403 || status === 404) && this.#state.organizationId !== null
  }

  /** Forgets the responses to requests without a user. */
  #loggedOut(): void {
    this.api.forget()
    this.#set({ status: 'loggedOut' })
  }

  #leave(): void {
    clearDrafts()
    this.api.forget()
    this.#set({ status: 'loggedOut', ...NOBODY })
    this.#settle(false)
  }

  #waitForLogIn(): Promise<boolean> {
    if (this.#state.logIn === undefined) {
      this.#loggedOut()
      return Promise.resolve(false)
    }
    const waiting = new Promise<boolean>((resolve) => this.#waiting.push(resolve))
    this.#set({ isLogInNeeded: true })
    return waiting
  }

  /** Loads role and CSRF token again. Another tab may have logged in since, even another user. */
  async #checkAgain(): Promise<boolean> {
    const before = this.#state.logIn
    await this.load()
    const after = this.#state.logIn
    return after?.user.id === before?.user.id && after?.csrfToken !== before?.csrfToken
  }

  #settle(isLoggedIn: boolean): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve(isLoggedIn)
  }

  #set(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}
