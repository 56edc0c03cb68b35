import type { InstanceReport, InstanceReports } from '@ff/storage'
import { type FlagSetScope, SDK_KEY_KINDS } from '../access/scope.ts'
import { newId } from '../access/secrets.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { DeliveryObserver } from '../live/delivery-queue.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { SessionRegistry } from '../live/session-registry.ts'
import { type Cancel, type Clock, within } from '../runtime/clock.ts'
import { CoalescedTask } from '../runtime/coalesced-task.ts'
import type { Logger } from '../runtime/logger.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import { DeliveryTimes } from './delivery-times.ts'

/** The interval at which this instance and each environment with live clients are reported. */
const REPORT_EVERY_MS = 5000
/** The minimum time between two reports that are sent because of a delivery. */
const REPORT_GAP_MS = 250
/** The maximum number of versions in a report. Clients with older versions count for the last. */
const MAX_VERSIONS = 20
/** The maximum time that a closing server waits until its reports are withdrawn. */
const WITHDRAW_WITHIN_MS = 1000

interface InstanceReporterOptions {
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly instanceReports: InstanceReports
  readonly clock: Clock
  readonly logger: Logger
}

/** The delivery of the newest version of an environment. */
interface NewestDelivery {
  readonly times: DeliveryTimes
  /** The sessions that had not received the version when the delivery visited them. */
  late: Set<LiveSession>
}

/**
 * Reports the live clients of this instance to all instances: every five seconds, and when a delivery
 * begins or ends. The work and the memory are bounded by the environments with live clients.
 */
export class InstanceReporter implements DeliveryObserver {
  /** The id of this instance, which is new at each start. */
  readonly instanceId = newId()
  readonly #options: InstanceReporterOptions
  readonly #deliveries = new Map<string, NewestDelivery>()
  /** The environments to report next. */
  readonly #due = new Set<string>()
  /** The environments about which the other instances have a report. */
  readonly #reported = new Set<string>()
  readonly #sending = new CoalescedTask(() => this.#send())
  #sentAt = Number.NEGATIVE_INFINITY
  #runningInstances = 1
  #isFailing = false
  #isRunning = false
  #cancelTick: Cancel | undefined
  #cancelSend: Cancel | undefined

  constructor(options: InstanceReporterOptions) {
    this.#options = options
    options.sessions.listen((environmentId) => this.#reportSoon(environmentId))
  }

  /**
   * The number of running instances, including this one, when the reports were last sent; 1 before.
   */
  get runningInstances(): number {
    return this.#runningInstances
  }

  /** Sends the first report and starts the periodic reports. */
  start(): void {
    this.#isRunning = true
    if (this.#cancelTick === undefined) this.#tick()
  }

  /** Stops reporting and withdraws all reports. Never rejects. */
  async close(): Promise<void> {
    this.#isRunning = false
    this.#cancelTick?.()
    this.#cancelSend?.()
    const { instanceReports, clock } = this.#options
    const withdraw = async () => {
      await this.#sending.pending
      if (this.#sentAt > Number.NEGATIVE_INFINITY) await instanceReports.withdraw(this.instanceId)
    }
    // If the reports cannot be withdrawn, they expire.
    await within(withdraw(), { clock, ms: WITHDRAW_WITHIN_MS }).catch(() => undefined)
  }

  /** Notes that a new version of an environment will be delivered. */
  begun(environmentId: string, version: number): void {
    if (!this.#options.sessions.has(environmentId)) return
    const times = new DeliveryTimes(version, this.#options.clock.now())
    this.#deliveries.set(environmentId, { times, late: new Set() })
    this.#reportSoon(environmentId)
  }

  /** Counts clients that have received the newest version. */
  sent(environmentId: string, reached: number, late: readonly LiveSession[]): void {
    const delivery = this.#deliveries.get(environmentId)
    if (delivery === undefined) return
    if (reached > 0) delivery.times.add(this.#options.clock.now(), reached)
    for (const session of late) delivery.late.add(session)
  }

  /** Reports the environment after a delivery. */
  ended(environmentId: string): void {
    this.#reportSoon(environmentId)
  }

  /** Returns the report about an environment; `undefined` if it has no live clients. */
  reportOf(environmentId: string): InstanceReport | undefined {
    const { cache, sessions, clock } = this.#options
    const { flagSets } = cache.peek(environmentId) ?? {}
    if (flagSets === undefined || !sessions.has(environmentId)) return undefined
    const { version } = flagSets.server
    const delivery = this.#deliveries.get(environmentId)
    const late = new Set<LiveSession>()
    const counted = new ClientCounts()
    for (const [session, isCurrent] of this.#sessionsOf(environmentId)) {
      counted.add(session, isCurrent ? version : session.version, isCurrent)
      if (delivery?.late.has(session) !== true) continue
      if (isCurrent) delivery.times.add(clock.now(), 1)
      else late.add(session)
    }
    if (delivery !== undefined) delivery.late = late
    const reached = delivery?.times.version === version ? delivery.times.toReached() : undefined
    return { environmentId, version, ...counted.toReport(), ...(reached && { reached }) }
  }

  /** Iterates over the sessions of an environment, with `true` if a session has the newest version. */
  *#sessionsOf(environmentId: string): Iterable<readonly [LiveSession, boolean]> {
    const { cache, sessions } = this.#options
    const { flagSets } = cache.peek(environmentId) ?? {}
    for (const kind of SDK_KEY_KINDS) {
      const scope: FlagSetScope = { environmentId, kind }
      // The client view keeps its version if a change affects no flag that is visible to clients.
      const expected = flagSets?.[kind].version ?? 0
      for (const session of sessions.of(scope)) yield [session, session.hasVersion(expected)]
    }
  }

  #tick(): void {
    this.#cancelTick = this.#options.clock.schedule(REPORT_EVERY_MS, () => this.#tick())
    for (const id of this.#options.sessions.environmentIds()) this.#due.add(id)
    for (const id of this.#reported) this.#due.add(id)
    this.#sendNow()
  }

  #reportSoon(environmentId: string): void {
    if (!this.#isRunning) return
    this.#due.add(environmentId)
    if (this.#cancelSend !== undefined) return
    const { clock } = this.#options
    const delayMs = Math.max(0, this.#sentAt + REPORT_GAP_MS - clock.monotonicNow())
    this.#cancelSend = clock.schedule(delayMs, () => this.#sendNow())
  }

  #sendNow(): void {
    this.#cancelSend?.()
    this.#cancelSend = undefined
    this.#sentAt = this.#options.clock.monotonicNow()
    void this.#sending.run()
  }

  /** Sends the due reports. Never rejects: a report that cannot be sent is sent with the next ones. */
  async #send(): Promise<void> {
    const { sessions, instanceReports, logger } = this.#options
    const due = [...this.#due]
    this.#due.clear()
    const reports: InstanceReport[] = []
    await forEachInTimeSlices(due, (environmentId) => {
      const report = this.reportOf(environmentId)
      if (report !== undefined) reports.push(report)
      if (!sessions.has(environmentId)) this.#deliveries.delete(environmentId)
    })
    const present = new Set(reports.map(({ environmentId }) => environmentId))
    const gone = due.filter((id) => !present.has(id) && this.#reported.has(id))
    try {
      for (const id of present) this.#reported.add(id)
      this.#runningInstances = await instanceReports.report(this.instanceId, reports)
      if (gone.length > 0) await instanceReports.withdraw(this.instanceId, gone)
      for (const id of gone) this.#reported.delete(id)
      this.#isFailing = false
    } catch (cause) {
      if (!this.#isFailing) logger.warn('The live clients could not be reported', { cause })
      this.#isFailing = true
    }
  }
}

/** Counts the clients of a report. */
class ClientCounts {
  readonly #numbers = { ws: 0, poll: 0, behind: 0 }
  readonly #byVersion = new Map<number, number>()
  #applied: number | null = null

  /** Counts the client of a session with this version. */
  add({ transport, hasConfirmed }: LiveSession, version: number, isCurrent: boolean): void {
    this.#numbers[transport] += 1
    if (!isCurrent) this.#numbers.behind += 1
    this.#byVersion.set(version, (this.#byVersion.get(version) ?? 0) + 1)
    if (hasConfirmed) this.#applied = (this.#applied ?? 0) + (isCurrent ? 1 : 0)
  }

  /** Returns the numbers. Clients with one of the oldest of many versions are counted together. */
  toReport(): Pick<InstanceReport, 'ws' | 'poll' | 'behind' | 'applied' | 'byVersion'> {
    const newestFirst = [...this.#byVersion].sort(([a], [b]) => b - a)
    const byVersion = newestFirst.slice(0, MAX_VERSIONS).map(([version, clients]) => {
      return { version, clients }
    })
    const older = newestFirst.slice(MAX_VERSIONS).reduce((sum, [, clients]) => sum + clients, 0)
    const last = byVersion.at(-1)
    if (last !== undefined) last.clients += older
    return { ...this.#numbers, applied: this.#applied, byVersion }
  }
}
