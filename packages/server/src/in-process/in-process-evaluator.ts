import {
  type EvaluationContext,
  type EvaluationDetail,
  type EvaluationErrorCode,
  FlagError,
  type FlagSet,
  type FlagValue,
  isFlagError,
  parseContext,
} from '@ff/core'
import { valuesOf } from '@ff/core/all-flags'
import type { FlagValues } from '@ff/protocol/sdk'
import { contextTextOf, type FlagSnapshot, toSnapshot } from '@ff/protocol/snapshot'
import type { Storage } from '@ff/storage'
import type { FlagSetScope } from '../access/scope.ts'
import { detailTimed, evaluateTimed } from '../evaluation/evaluated.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import { type Clock, within } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { MAX_LOGGED_FALLBACKS } from '../runtime/memory-bounds.ts'
import type { SavedState } from '../snapshots/saved-state.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { type EnvironmentRef, EnvironmentResolver } from './environment-resolver.ts'

/** The type of a value whose fallback is `T`: `boolean` for `false`, `string` for a text. */
export type ValueLike<T extends FlagValue> = T extends boolean
  ? boolean
  : T extends number
    ? number
    : T extends string
      ? string
      : T

/** The error of an evaluation that returned the fallback. */
export type FallbackErrorCode =
  | EvaluationErrorCode
  | 'ENVIRONMENT_NOT_FOUND'
  | 'INVALID_CONTEXT'
  | 'PROVIDER_NOT_READY'
  | 'GENERAL'

/** The detail of a flag whose value can be the fallback of the caller. */
export interface FlagDetail<Value> extends Omit<EvaluationDetail, 'value' | 'errorCode'> {
  /** The value of the flag, or the fallback. */
  readonly value: Value
  /** The error because of which the value is the fallback. */
  readonly errorCode?: FallbackErrorCode
  /** A description of the error, for developers. */
  readonly errorMessage?: string
}

/** The longest time that `value`, `detail` and `all` wait for a store. */
const LOAD_WITHIN_MS = 5000
/** The minimum time between two log lines about the same fallback. */
const LOG_EVERY_MS = 60_000

interface InProcessEvaluatorOptions {
  readonly storage: Storage
  readonly saved: SavedState
  readonly cache: FlagSetCache
  readonly usage: UsageRecorder
  readonly clock: Clock
  readonly logger: Logger
  /** Returns `true` while the server is started and not closed. */
  readonly isReady: () => boolean
  /** Starts the server if it is not started. Rejects if it is closed. */
  readonly start: () => Promise<void>
}

interface Loaded {
  readonly scope: FlagSetScope
  readonly flagSet: FlagSet
}

/** Evaluates flags for the application in which the server runs. */
export class InProcessEvaluator {
  readonly #options: InProcessEvaluatorOptions
  readonly #environments: EnvironmentResolver
  /** The times of the last log lines, in epoch milliseconds, by fallback. */
  readonly #loggedAt = new Map<string, number>()

  constructor(options: InProcessEvaluatorOptions) {
    this.#options = options
    this.#environments = new EnvironmentResolver(options)
  }

  /** Uses the saved references to environments until they can be read from the store. */
  restore(): Promise<void> {
    return this.#environments.restore()
  }

  /** See `FlagServer.detail`. */
  async detail<T extends FlagValue>(
    ref: EnvironmentRef,
    { flagKey, context, fallback }: { flagKey: string; context: EvaluationContext; fallback: T },
  ): Promise<FlagDetail<ValueLike<T>>> {
    let detail: FlagDetail<FlagValue>
    try {
      const loaded = this.#find(ref) ?? (await this.#loadInTime(ref))
      detail = withFallback(this.#evaluateFlag(loaded, flagKey, context), fallback)
    } catch (error) {
      detail = { ...fallbackOf(flagKey, fallback), ...faultOf(error) }
    }
    if (detail.reason === 'ERROR' && detail.variationId === null) this.#log(flagKey, detail)
    return detail as FlagDetail<ValueLike<T>>
  }

  /** See `FlagServer.detailOrThrow`. */
  async detailOrThrow(
    ref: EnvironmentRef,
    flagKey: string,
    context: EvaluationContext,
  ): Promise<EvaluationDetail> {
    const detail = this.#evaluateFlag(this.#find(ref) ?? (await this.#load(ref)), flagKey, context)
    if (detail.errorCode !== 'FLAG_NOT_FOUND') return detail
    throw new FlagError('NOT_FOUND', unknownFlag(flagKey))
  }

  /** See `FlagServer.all`. */
  async all(ref: EnvironmentRef, context: EvaluationContext): Promise<FlagValues> {
    try {
      const loaded = this.#find(ref) ?? (await this.#loadInTime(ref))
      return this.#evaluateAll(loaded, context)
    } catch (error) {
      this.#log('', faultOf(error))
      return Object.create(null)
    }
  }

  /** See `FlagServer.allOrThrow`. */
  async allOrThrow(ref: EnvironmentRef, context: EvaluationContext): Promise<FlagValues> {
    return this.#evaluateAll(this.#find(ref) ?? (await this.#load(ref)), context)
  }

  /** See `FlagServer.snapshot`. */
  async snapshot(ref: EnvironmentRef, context: EvaluationContext): Promise<FlagSnapshot> {
    try {
      const loaded = this.#find(ref, 'client') ?? (await this.#loadInTime(ref, 'client'))
      const flags = this.#evaluateAll(loaded, context)
      return toSnapshot(flags, loaded.flagSet.version, contextTextOf(context))
    } catch (error) {
      this.#log('', faultOf(error))
      return { flags: {} }
    }
  }

  #evaluateAll({ scope, flagSet }: Loaded, given: EvaluationContext): FlagValues {
    const { usage, clock } = this.#options
    const context = parseContext(given)
    const evaluated = evaluateTimed({ flagSet, context, now: clock.now() })
    usage.requested(scope)
    usage.evaluated(scope, 'sdk', evaluated)
    return valuesOf(evaluated.evaluation)
  }

  #evaluateFlag(
    { scope, flagSet }: Loaded,
    flagKey: string,
    given: EvaluationContext,
  ): EvaluationDetail {
    const { usage, clock } = this.#options
    const context = parseContext(given)
    usage.requested(scope)
    const flag = flagSet.flags.get(flagKey)
    if (flag === undefined) return { ...fallbackOf(flagKey, null), errorCode: 'FLAG_NOT_FOUND' }
    const { detail, evaluated } = detailTimed(flag, { flagSet, context, now: clock.now() })
    usage.evaluated(scope, 'sdk', evaluated)
    return detail
  }

  /** Returns what is loaded; `undefined` if the server or the flag set must be loaded first. */
  #find(ref: EnvironmentRef, kind: FlagSetScope['kind'] = 'server'): Loaded | undefined {
    const { isReady, cache } = this.#options
    const environmentId = isReady() ? this.#environments.find(ref) : undefined
    if (environmentId === undefined) return undefined
    const scope: FlagSetScope = { environmentId, kind }
    const flagSet = cache.find(scope)
    return flagSet && { scope, flagSet }
  }

  async #load(ref: EnvironmentRef, kind: FlagSetScope['kind'] = 'server'): Promise<Loaded> {
    const { start, cache } = this.#options
    await start()
    const environmentId = await this.#environments.resolve(ref)
    const scope: FlagSetScope = { environmentId, kind }
    return { scope, flagSet: await cache.get(scope) }
  }

  async #loadInTime(ref: EnvironmentRef, kind?: FlagSetScope['kind']): Promise<Loaded> {
    const { clock } = this.#options
    const loaded = await within(this.#load(ref, kind), { clock, ms: LOAD_WITHIN_MS })
    if (loaded !== undefined) return loaded
    throw new FlagError('UNAVAILABLE', `The store did not respond within ${LOAD_WITHIN_MS} ms.`)
  }

  /** Writes one line per minute about the same flag and error. */
  #log(flagKey: string, { errorCode, errorMessage }: Partial<FlagDetail<unknown>>): void {
    const now = this.#options.clock.now()
    const name = `${errorCode} ${flagKey}`
    const last = this.#loggedAt.get(name)
    if (last !== undefined && Math.abs(now - last) < LOG_EVERY_MS) return
    if (this.#loggedAt.size >= MAX_LOGGED_FALLBACKS) this.#loggedAt.clear()
    this.#loggedAt.set(name, now)
    const flag = flagKey === '' ? {} : { flagKey }
    const fields = { ...flag, errorCode, reason: errorMessage }
    this.#options.logger.warn('An evaluation returned the fallback', fields)
  }
}

/** Returns the detail with the fallback as its value if the flag has no value of its type. */
function withFallback(detail: EvaluationDetail, fallback: FlagValue): FlagDetail<FlagValue> {
  const { flagKey, value, variationId, errorCode } = detail
  if (errorCode === 'FLAG_NOT_FOUND') {
    return { ...detail, value: fallback, errorMessage: unknownFlag(flagKey) }
  }
  if (variationId === null) return { ...detail, value: fallback }
  if (isLike(value, fallback)) return detail
  const errorMessage = `The value of "${flagKey}" is ${typeOf(value)}, the fallback is ${typeOf(fallback)}.`
  return { ...fallbackOf(flagKey, fallback), errorCode: 'TYPE_MISMATCH', errorMessage }
}

function isLike(value: FlagValue, fallback: FlagValue): boolean {
  return fallback === null || typeOf(value) === typeOf(fallback)
}

function typeOf(value: FlagValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function fallbackOf<T>(flagKey: string, value: T) {
  return { flagKey, value, variationId: null, variationKey: null, reason: 'ERROR' } as const
}

function unknownFlag(flagKey: string): string {
  return `The environment has no flag with the key "${flagKey}", or the flag is archived.`
}

function faultOf(error: unknown): { errorCode: FallbackErrorCode; errorMessage: string } {
  const errorMessage = error instanceof Error ? error.message : String(error)
  return { errorCode: isFlagError(error) ? errorCodeOf(error) : 'GENERAL', errorMessage }
}

function errorCodeOf({ code }: FlagError): FallbackErrorCode {
  if (code === 'INVALID_CONTEXT') return 'INVALID_CONTEXT'
  if (code === 'NOT_FOUND') return 'ENVIRONMENT_NOT_FOUND'
  return code === 'UNAVAILABLE' ? 'PROVIDER_NOT_READY' : 'GENERAL'
}
