import { FlagError } from '@ff/core'
import { asFlagSetPollRequest, isTagNamedIn } from '@ff/protocol/sdk'
import { assertServerKey } from '../access/scope.ts'
import { keyRefused } from '../access/sdk-keys.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { FlagSetAnswer, FlagSetUpdates } from '../evaluation/flag-set-updates.ts'
import { type ClientBudget, gaveWay, type Reservation } from '../live/client-budget.ts'
import { FlagSetState } from '../live/flag-set-diff.ts'
import { FlagSetSession, type FlagSetSink } from '../live/flag-set-session.ts'
import type { EndReason } from '../live/live-session.ts'
import type { SessionRegistry } from '../live/session-registry.ts'
import type { Clock } from '../runtime/clock.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { textReply } from './content-encoding.ts'
import { sdkErrorReply } from './error-reply.ts'
import { GONE, type Reply } from './exchange.ts'
import type { PendingPoll, PendingPolls } from './pending-polls.ts'
import type { SdkRequest } from './sdk-reply.ts'

interface FlagSetEndpointsOptions {
  readonly cache: FlagSetCache
  readonly updates: FlagSetUpdates
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly pending: PendingPolls
  readonly usage: UsageRecorder
  readonly clock: Clock
}

/** A request for the flag set. */
interface FlagSetRequest extends SdkRequest {
  /** The version that the client has; `undefined` if it has none. */
  readonly since: number | undefined
}

/** The maximum size of the body of a flag-set poll in bytes. */
const MAX_BODY_BYTES = 1024

/** Handles the requests of clients that evaluate flags themselves. */
export class FlagSetEndpoints {
  readonly options: FlagSetEndpointsOptions

  constructor(options: FlagSetEndpointsOptions) {
    this.options = options
  }

  /**
   * Creates the reply with the flag set, or with the changes since the version in the query; 304 if
   * the client already has the flag set. Throws `FORBIDDEN` unless the key is of kind `server`, and
   * `INVALID_REQUEST` if `since` is not a whole number.
   */
  async get(request: SdkRequest): Promise<Reply> {
    const { scope, exchange } = request
    assertServerKey(scope)
    const since = sinceIn(exchange.query)
    if (since === undefined) {
      const { version } = await this.options.cache.get(scope)
      // The path is the same for every environment, so the version alone would not identify the
      // flag set. The tag is weak, because compressed replies have the same tag.
      const tag = `W/"${version}-${scope.environmentId}"`
      if (isTagNamedIn(exchange.header('if-none-match'), tag))
        return notModified(request, tag, version)
    }
    return this.reply({ ...request, since }, await this.options.updates.get(scope, since))
  }

  /**
   * Holds the request until the flag set has another version than `since`, at most for the hold
   * time of polls. Then creates the same reply as `get`. Throws as `get` does, and `RATE_LIMITED`
   * if there is no room for another client.
   */
  async poll(request: SdkRequest): Promise<Reply> {
    const { scope, exchange } = request
    assertServerKey(scope)
    const body = asFlagSetPollRequest((await exchange.json(MAX_BODY_BYTES)).parse())
    if (body === undefined) throw wrongSince('The body must be a JSON object such as {"since":7}; ')
    const { updates, usage, cache, clock } = this.options
    const { since } = body
    const answer = await updates.get(scope, since)
    usage.requested(scope)
    if (since !== answer.version) return this.reply({ ...request, since }, answer)
    return new Promise((resolve) => {
      const poll = new FlagSetPoll(this, { ...request, since }, resolve)
      exchange.onClosed(() => poll.cancel())
      // A newer version may have been published before the session was added.
      const newest = cache.find(scope)
      if (newest !== undefined) poll.session.sendChanges(FlagSetState.of(newest, clock.now()))
    })
  }

  /** Creates the reply with an update. */
  reply({ scope, exchange, headers }: FlagSetRequest, answer: FlagSetAnswer): Promise<Reply> {
    const { update, version, isRestored } = answer
    return textReply(update, {
      acceptEncoding: exchange.header('accept-encoding'),
      compressors: exchange.compressors ?? {},
      headers: {
        ...headers,
        ...(update.isWhole && { ETag: `W/"${version}-${scope.environmentId}"` }),
        ...(isRestored && { 'X-FF-Restored': 'true' }),
        ...PRIVATE,
        'X-FF-Version': String(version),
      },
    })
  }
}

/** Shared caches must not store a flag set. */
const PRIVATE = { 'Cache-Control': 'private, no-cache' } as const

function notModified({ headers }: SdkRequest, tag: string, version: number): Reply {
  const about = { ...headers, ...PRIVATE, ETag: tag, 'X-FF-Version': String(version) }
  return { status: 304, headers: about, body: null }
}

/** Returns the version in a query. Throws `INVALID_REQUEST` if it is not a whole number. */
function sinceIn(query: string): number | undefined {
  const text = new URLSearchParams(query).get('since')
  if (text === null) return undefined
  if (!/^\d{1,15}$/.test(text)) throw wrongSince()
  return Number(text)
}

function wrongSince(prefix = ''): FlagError {
  const message = `${prefix}\`since\` must be the version of a flag set, a whole number.`
  return new FlagError('INVALID_REQUEST', message)
}

/** A poll that waits for another version of the flag set. */
class FlagSetPoll implements FlagSetSink, PendingPoll {
  readonly transport = 'poll'
  readonly hasConfirmed = true
  readonly dueAt: number
  readonly session: FlagSetSession
  readonly #endpoints: FlagSetEndpoints
  readonly #request: FlagSetRequest
  readonly #resolve: (reply: Reply | Promise<Reply>) => void
  readonly #reservation: Reservation
  #isSettled = false

  /** Registers the poll and its session. Throws `RATE_LIMITED` if there is no room. */
  constructor(
    endpoints: FlagSetEndpoints,
    request: FlagSetRequest,
    resolve: (reply: Reply | Promise<Reply>) => void,
  ) {
    const { budget, sessions, pending, updates } = endpoints.options
    const { scope, since = 0 } = request
    this.#endpoints = endpoints
    this.#request = request
    this.#resolve = resolve
    this.#reservation = budget.reserve(scope, 0, this)
    this.session = new FlagSetSession({ scope, version: since, sink: this, updates })
    this.dueAt = pending.nextDueAt()
    pending.add(this)
    sessions.add(this.session)
  }

  /** Replies with an update. */
  deliver(_version: number, answer: FlagSetAnswer | undefined): boolean {
    this.#settle(() => (answer === undefined ? this.#load() : this.#reply(answer)))
    return true
  }

  /** Ends the poll on the server's side. */
  end(reason: EndReason): void {
    if (reason === 'goingAway') this.answerNow()
    else {
      const error = reason === 'gaveWay' ? gaveWay() : keyRefused()
      this.#settle(() => sdkErrorReply(error, this.#request.headers))
    }
  }

  /** Replies with the current state. Does nothing if the poll has ended. */
  answerNow(): void {
    this.#settle(() => this.#load())
  }

  /** Ends the poll of a client that has disconnected. Does nothing if the poll has ended. */
  cancel(): void {
    this.#settle(() => GONE)
  }

  async #load(): Promise<Reply> {
    const { scope, since, headers } = this.#request
    try {
      return await this.#reply(await this.#endpoints.options.updates.get(scope, since))
    } catch (error) {
      return sdkErrorReply(error, headers)
    }
  }

  #reply(answer: FlagSetAnswer): Promise<Reply> {
    return this.#endpoints.reply(this.#request, answer)
  }

  #settle(reply: () => Reply | Promise<Reply>): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const { budget, sessions, pending } = this.#endpoints.options
    budget.release(this.#reservation)
    sessions.remove(this.session)
    pending.remove(this)
    this.#resolve(reply())
  }
}
