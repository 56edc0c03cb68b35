import type { ClientStatus } from '@ff/client'
import { GeneralError, ProviderFatalError } from '@openfeature/core'

/** The part of the status of a client that OpenFeature also knows. */
export type ReportedStatus = Pick<ClientStatus, 'source' | 'isCurrent' | 'failure'>

/** An event of OpenFeature about the status of a provider. */
export type StatusEvent = 'Ready' | 'Stale' | 'Error'

/** The parts that the reports need. */
export interface StatusReportsOptions {
  readonly status: () => ReportedStatus
  readonly emit: (event: StatusEvent, message: string) => void
}

/** The time without current values after which the values are stale. */
const STALE_MS = 30_000

const MESSAGES: Readonly<Record<StatusEvent, string>> = {
  Ready: 'The values are current',
  Stale: 'The flag server does not keep the values current',
  Error: 'The flag server refuses the SDK key',
}

/** Reports the status of a client to OpenFeature, from the end of the initialization. */
export class StatusReports {
  readonly #options: StatusReportsOptions
  /** The status that OpenFeature has. */
  #shown: StatusEvent = 'Ready'
  #timer: ReturnType<typeof setTimeout> | undefined
  #state: 'new' | 'started' | 'closed' = 'new'

  constructor(options: StatusReportsOptions) {
    this.#options = options
  }

  /** Throws an error of OpenFeature if the reports have ended. */
  throwIfClosed(): void {
    if (this.#state === 'closed') throw new ProviderFatalError('The provider is closed')
  }

  /**
   * Starts the reports at the end of the initialization. Throws an error of OpenFeature if the
   * server refuses the SDK key.
   */
  start(): void {
    this.#state = 'started'
    const { isCurrent, failure } = this.#options.status()
    if (!isCurrent && failure === 'refused') {
      this.#shown = 'Error'
      throw new GeneralError(MESSAGES.Error)
    }
    this.check()
  }

  /** Reports the status if it has changed. */
  check(): void {
    if (this.#state !== 'started') return
    const { isCurrent, failure, source } = this.#options.status()
    if (isCurrent) this.#show('Ready')
    else if (failure === 'refused') this.#show('Error')
    else if (this.#shown !== 'Stale') this.#expect('Stale', source === 'fallback' ? 0 : STALE_MS)
  }

  /** Reports the status again, because OpenFeature sets it to ready after a change of the context. */
  repeat(): void {
    if (this.#state !== 'started' || this.#shown === 'Ready') return
    const shown = this.#shown
    this.#shown = 'Ready'
    this.#expect(shown, 0)
  }

  /** Ends the reports. They cannot be started again. */
  close(): void {
    this.#state = 'closed'
    clearTimeout(this.#timer)
  }

  /**
   * Reports a status after a time, unless another one is reported before. Without values the time is
   * 0, because OpenFeature sets its own status when a function of the provider has ended.
   */
  #expect(event: StatusEvent, delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#show(event), delayMs)
  }

  #show(event: StatusEvent): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (event === this.#shown) return
    this.#shown = event
    this.#options.emit(event, MESSAGES[event])
  }
}
