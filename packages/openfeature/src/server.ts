import type { LocalClient, LocalDetail } from '@ff/client/local'
import {
  type EvaluationContext,
  type FlagEvaluationOptions,
  type FlagMetadata,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
} from '@openfeature/server-sdk'
import { toContext } from './context.ts'
import type {
  RegisteredDetails,
  RegisteredKey,
  RegisteredObjectKey,
  RegisteredValues,
} from './registered-flags.ts'
import { type RequestedType, resolved, unresolved } from './resolution.ts'
import { type ReportedStatus, StatusReports } from './status-reports.ts'

export type { RegisteredFlags } from './registered-flags.ts'

declare module '@openfeature/server-sdk' {
  // The methods of OpenFeature's clients, with the types of the registered flags.
  interface Features {
    getBooleanValue<Key extends RegisteredKey<boolean>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      context?: EvaluationContext,
      options?: FlagEvaluationOptions,
    ): Promise<RegisteredValues[Key]>
    getBooleanDetails<Key extends RegisteredKey<boolean>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      context?: EvaluationContext,
      options?: FlagEvaluationOptions,
    ): Promise<RegisteredDetails<Key>>
    getStringValue<Key extends RegisteredKey<string>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      context?: EvaluationContext,
      options?: FlagEvaluationOptions,
    ): Promise<RegisteredValues[Key]>
    getStringDetails<Key extends RegisteredKey<string>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      context?: EvaluationContext,
      options?: FlagEvaluationOptions,
    ): Promise<RegisteredDetails<Key>>
    getNumberValue<Key extends RegisteredKey<number>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      context?: EvaluationContext,
      options?: FlagEvaluationOptions,
    ): Promise<RegisteredValues[Key]>
    getNumberDetails<Key extends RegisteredKey<number>>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      context?: EvaluationContext,
      options?: FlagEvaluationOptions,
    ): Promise<RegisteredDetails<Key>>
    getObjectValue<Key extends RegisteredObjectKey>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      context?: EvaluationContext,
      options?: FlagEvaluationOptions,
    ): Promise<RegisteredValues[Key]>
    getObjectDetails<Key extends RegisteredObjectKey>(
      flagKey: Key,
      defaultValue: RegisteredValues[Key],
      context?: EvaluationContext,
      options?: FlagEvaluationOptions,
    ): Promise<RegisteredDetails<Key>>
  }
}

/**
 * Creates a provider for OpenFeature's server SDK over a local client, which evaluates the flags in
 * the process. The provider closes the client when OpenFeature is closed or receives another
 * provider.
 */
export function createFlagProvider<Values>(client: LocalClient<Values>): Provider {
  // OpenFeature's keys need not be defined. A local client evaluates all flags.
  return new ServerProvider(client as unknown as UntypedClient)
}

type UntypedClient = LocalClient<Readonly<Record<string, unknown>>>

class ServerProvider implements Provider {
  readonly metadata = { name: 'ff' }
  readonly runsOn = 'server'
  readonly events = new OpenFeatureEventEmitter()
  readonly #client: UntypedClient
  readonly #reports: StatusReports

  constructor(client: UntypedClient) {
    this.#client = client
    this.#reports = new StatusReports({
      status: () => statusOf(client),
      emit: (event, message) => this.events.emit(ProviderEvents[event], { message }),
    })
  }

  async initialize(): Promise<void> {
    await this.#client.ready()
    this.#reports.throwIfClosed()
    this.#follow()
    this.#reports.start()
  }

  async onClose(): Promise<void> {
    this.#reports.close()
    await this.#client.close()
  }

  async resolveBooleanEvaluation(
    flagKey: string,
    defaultValue: boolean,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<boolean>> {
    return this.#resolve('boolean', { flagKey, defaultValue, context })
  }

  async resolveStringEvaluation(
    flagKey: string,
    defaultValue: string,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<string>> {
    return this.#resolve('string', { flagKey, defaultValue, context })
  }

  async resolveNumberEvaluation(
    flagKey: string,
    defaultValue: number,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<number>> {
    return this.#resolve('number', { flagKey, defaultValue, context })
  }

  async resolveObjectEvaluation<Value extends JsonValue>(
    flagKey: string,
    defaultValue: Value,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<Value>> {
    return this.#resolve('object', { flagKey, defaultValue, context })
  }

  #resolve<Value>(
    type: RequestedType,
    { flagKey, defaultValue, context }: Request<Value>,
  ): ResolutionDetails<Value> {
    const detail = this.#client.detail(flagKey, toContext(asJson(context)))
    const { value, source, variationKey, reason, errorCode } = detail
    const flagMetadata = metadataOf(detail)
    if (source === 'fallback') return unresolved(defaultValue, errorCode, { flagMetadata })
    const variant = variationKey === null ? {} : { variant: variationKey }
    return resolved(type, defaultValue, { value, reason, ...variant, flagMetadata })
  }

  /** Reports changes until the client is closed. */
  #follow(): void {
    this.#client.watch(() => this.#reports.check())
    this.#client.subscribe((flagsChanged) => {
      this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged: [...flagsChanged] })
    })
  }
}

interface Request<Value> {
  readonly flagKey: string
  readonly defaultValue: Value
  readonly context: EvaluationContext
}

/** A client whose flag set does not come from a server has the newest flag set that there is. */
function statusOf({ status }: UntypedClient): ReportedStatus {
  const { source, isCurrent, failure, connection } = status
  const hasOtherSource = connection === 'closed' && source === 'bootstrap'
  return { source, isCurrent: isCurrent || hasOtherSource, failure }
}

/** Returns a context with dates and nested values as the server would receive them. */
function asJson(context: EvaluationContext): EvaluationContext {
  try {
    const isFlat = Object.values(context).every((value) => typeof value !== 'object')
    return isFlat ? context : JSON.parse(JSON.stringify(context))
  } catch {
    // Clients refuse a context of an unknown kind as invalid.
    return { kind: null }
  }
}

function metadataOf(detail: LocalDetail<unknown>): FlagMetadata {
  const { version, ruleId, segmentId, rolloutId, bucket, prerequisiteKey } = detail
  return {
    version,
    ...(ruleId !== undefined && { ruleId }),
    ...(segmentId !== undefined && { segmentId }),
    ...(rolloutId !== undefined && { rolloutId }),
    ...(bucket !== undefined && { bucket }),
    ...(prerequisiteKey !== undefined && { prerequisiteKey }),
  }
}
