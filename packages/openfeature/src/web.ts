import type { FlagClient } from '@ff/client'
import {
  type EvaluationContext,
  type FlagEvaluationOptions,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
} from '@openfeature/web-sdk'
import { ChangedFlags } from './changed-flags.ts'
import { toContext } from './context.ts'
import type {
  RegisteredDetails,
  RegisteredKey,
  RegisteredObjectKey,
  RegisteredValues,
} from './registered-flags.ts'
import { type RequestedType, resolved, unresolved } from './resolution.ts'
import { StatusReports } from './status-reports.ts'

export type { RegisteredFlags } from './registered-flags.ts'

declare module '@openfeature/web-sdk' {
  // The methods of OpenFeature's clients, with the types of the registered flags.
  interface Features {
    getBooleanValue<Key extends RegisteredKey<boolean>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      options?: FlagEvaluationOptions,
    ): RegisteredValues[Key]
    getBooleanDetails<Key extends RegisteredKey<boolean>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      options?: FlagEvaluationOptions,
    ): RegisteredDetails<Key>
    getStringValue<Key extends RegisteredKey<string>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      options?: FlagEvaluationOptions,
    ): RegisteredValues[Key]
    getStringDetails<Key extends RegisteredKey<string>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      options?: FlagEvaluationOptions,
    ): RegisteredDetails<Key>
    getNumberValue<Key extends RegisteredKey<number>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      options?: FlagEvaluationOptions,
    ): RegisteredValues[Key]
    getNumberDetails<Key extends RegisteredKey<number>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      options?: FlagEvaluationOptions,
    ): RegisteredDetails<Key>
    getObjectValue<Key extends RegisteredObjectKey>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      options?: FlagEvaluationOptions,
    ): RegisteredValues[Key]
    getObjectDetails<Key extends RegisteredObjectKey>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      options?: FlagEvaluationOptions,
    ): RegisteredDetails<Key>
  }
}

/**
 * Creates a provider for OpenFeature's web SDK over a client, which has the values of one context.
 * The provider sets the context of the client, and closes the client when OpenFeature is closed or
 * receives another provider.
 */
export function createFlagProvider<Values>(client: FlagClient<Values>): Provider {
  // OpenFeature's keys need not be defined. A client has the values of all flags.
  return new WebProvider(client as unknown as UntypedClient)
}

type UntypedClient = FlagClient<Readonly<Record<string, unknown>>>

class WebProvider implements Provider {
  readonly metadata = { name: 'ff' }
  readonly runsOn = 'client'
  /** A client has the values of one context, and a domain of OpenFeature has its own context. */
  readonly domainScoped = true
  readonly events = new OpenFeatureEventEmitter()
  readonly #client: UntypedClient
  readonly #changes: ChangedFlags
  readonly #reports: StatusReports
  #unwatch = () => {}
  /** Resolves when the initialization has the values, or will not get them. */
  #ready: Promise<unknown> = Promise.resolve()
  /** The number of changes of the context that are in progress. */
  #pending = 0

  constructor(client: UntypedClient) {
    this.#client = client
    this.#changes = new ChangedFlags(client)
    this.#reports = new StatusReports({
      status: () => client.status,
      emit: (event, message) => this.events.emit(ProviderEvents[event], { message }),
    })
  }

  async initialize(context: EvaluationContext = {}): Promise<void> {
    void this.#client.setContext(toContext(context))
    this.#ready = this.#client.ready()
    await this.#ready
    this.#reports.throwIfClosed()
    this.#changes.take()
    this.#unwatch = this.#client.watch(() => this.#follow())
    this.#reports.start()
  }

  onContextChange(_: EvaluationContext, context: EvaluationContext): Promise<void> | void {
    this.#pending += 1
    const settled = this.#client.setContext(toContext(context))
    const { source, isOfContext } = this.#client.status
    const finish = () => {
      this.#pending -= 1
      this.#changes.take()
      this.#reports.repeat()
    }
    if (isOfContext && source !== 'fallback') finish()
    // OpenFeature sets its status to ready afterwards, also during the initialization.
    else return Promise.all([settled, this.#ready]).then(finish)
  }

  async onClose(): Promise<void> {
    this.#reports.close()
    this.#unwatch()
    this.#client.close()
  }

  resolveBooleanEvaluation(flagKey: string, defaultValue: boolean): ResolutionDetails<boolean> {
    return this.#resolve('boolean', flagKey, defaultValue)
  }

  resolveStringEvaluation(flagKey: string, defaultValue: string): ResolutionDetails<string> {
    return this.#resolve('string', flagKey, defaultValue)
  }

  resolveNumberEvaluation(flagKey: string, defaultValue: number): ResolutionDetails<number> {
    return this.#resolve('number', flagKey, defaultValue)
  }

  resolveObjectEvaluation<Value extends JsonValue>(
    flagKey: string,
    defaultValue: Value,
  ): ResolutionDetails<Value> {
    return this.#resolve('object', flagKey, defaultValue)
  }

  #resolve<Value>(
    type: RequestedType,
    flagKey: string,
    defaultValue: Value,
  ): ResolutionDetails<Value> {
    const { value, source, version, errorCode } = this.#client.detail(flagKey)
    const flagMetadata = { version }
    if (source === 'fallback' || errorCode === 'INVALID_CONTEXT') {
      return unresolved(defaultValue, errorCode, { flagMetadata })
    }
    const isLastKnown = errorCode !== undefined || !this.#client.status.isOfContext
    const reason = isLastKnown ? 'STALE' : REASONS[source]
    return resolved(type, defaultValue, { value, reason, flagMetadata })
  }

  /** Reports what a change of the client means for OpenFeature. */
  #follow(): void {
    const flagsChanged = this.#changes.take()
    // OpenFeature itself reports that the context has changed.
    if (flagsChanged.length > 0 && this.#pending === 0) {
      this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged })
    }
    this.#reports.check()
  }
}

/** The reasons of values by their source. The server sends no reasons to clients. */
const REASONS = {
  server: 'UNKNOWN',
  cache: 'CACHED',
  bootstrap: 'CACHED',
  override: 'STATIC',
} as const
