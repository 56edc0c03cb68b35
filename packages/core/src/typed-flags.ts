import { evaluateSome, valuesOf } from './all-flags.ts'
import type { EvaluationDetail } from './evaluation/detail.ts'
import { evaluateFlag } from './evaluation/evaluate.ts'
import type { FlagSet } from './evaluation/flag-set.ts'
import type { EvaluationContext } from './model/context.ts'
import { FlagError } from './model/errors.ts'
import type { FlagValues, FlagValueType } from './model/value.ts'

/** The expected type of a flag. Created by `bool`, `text`, `number`, `oneOf` and `json`. */
export interface FlagType<Value> {
  /** The type of the values of the flag. */
  readonly type: FlagValueType
  /** The value that is used if the flag serves no value or a value of another type. */
  readonly fallback: Value
  readonly isValue: (value: unknown) => value is Value
  /** All values that the flag can have; absent if these are not known. */
  readonly values?: readonly Value[]
}

/** An `EvaluationDetail` with a value of the expected type. */
export interface TypedDetail<Value> extends Omit<EvaluationDetail, 'value'> {
  readonly value: Value
}

/**
 * The flags that a program uses, with their types. Created by `defineFlags`. `now` is in epoch
 * milliseconds.
 */
export interface DefinedFlags<Values> {
  /** The type of each flag, by flag key. */
  readonly types: { readonly [Key in keyof Values]: FlagType<Values[Key]> }
  /**
   * Returns the value of one flag, or its fallback if the flag has no value of the expected type.
   * Throws `NOT_FOUND` if `flagKey` is not one of the defined flags.
   */
  value<Key extends keyof Values & string>(
    flagSet: FlagSet,
    flagKey: Key,
    context: EvaluationContext,
    now: number,
  ): Values[Key]
  /**
   * Returns the detail of one flag. If the value has another type, the value is the fallback, the
   * reason is `ERROR`, the error code is `TYPE_MISMATCH`, and the variation is `null`. Throws
   * `NOT_FOUND` if `flagKey` is not one of the defined flags.
   */
  detail<Key extends keyof Values & string>(
    flagSet: FlagSet,
    flagKey: Key,
    context: EvaluationContext,
    now: number,
  ): TypedDetail<Values[Key]>
  /** Returns the values of exactly the defined flags, in an object without a prototype. */
  all(flagSet: FlagSet, context: EvaluationContext, now: number): Readonly<Values>
  /**
   * Returns the same as `all`, from values that were evaluated elsewhere, for example by a server.
   */
  allFrom(values: FlagValues): Readonly<Values>
}

/** Creates the type of a boolean flag. */
export function bool(fallback: boolean): FlagType<boolean> {
  const isValue = (value: unknown) => typeof value === 'boolean'
  return { type: 'boolean', fallback, isValue, values: [true, false] }
}

/** Creates the type of a flag with any text as its value. */
export function text(fallback: string): FlagType<string> {
  return { type: 'string', fallback, isValue: (value) => typeof value === 'string' }
}

/** Creates the type of a flag with a finite number as its value. */
export function number(fallback: number): FlagType<number> {
  const isValue = (value: unknown): value is number => Number.isFinite(value)
  return { type: 'number', fallback, isValue }
}

/** Creates the type of a flag with one of these texts as its value. The first is the fallback. */
export function oneOf<const Value extends string>(
  fallback: Value,
  ...others: readonly Value[]
): FlagType<Value> {
  const values: ReadonlySet<unknown> = new Set([fallback, ...others])
  const isValue = (value: unknown): value is Value => values.has(value)
  return { type: 'string', fallback, isValue, values: [fallback, ...others] }
}

/** Creates the type of a flag with any JSON as its value. The fallback is `null`. */
export function json<Value>(): FlagType<Value | null>
/**
 * Creates the type of a flag with JSON as its value. If the guard `isValue` is absent, every value
 * except `null` is accepted. Values of flags are deeply frozen. The fallback is returned unchanged.
 */
export function json<Value>(
  fallback: Value,
  isValue?: (value: unknown) => value is Value,
): FlagType<Value>
export function json<Value>(
  fallback: Value | null = null,
  isValue = (value: unknown): value is Value => value !== null || fallback === null,
): FlagType<Value | null> {
  return { type: 'json', fallback, isValue }
}

/**
 * Defines the flags of a program and their types, so that the compiler checks keys and values. At
 * run time, a value of another type is replaced by the fallback.
 *
 * ```ts
 * const flags = defineFlags({ 'new-checkout': bool(false), theme: oneOf('light', 'dark') })
 * flags.value(flagSet, 'theme', context, now) // 'light' | 'dark'
 * ```
 */
export function defineFlags<Values extends Readonly<Record<string, unknown>>>(
  types: {
    readonly [Key in keyof Values]: FlagType<Values[Key]>
  },
): DefinedFlags<Values> {
  const typeByKey = new Map<string, FlagType<unknown>>(Object.entries(types))

  function detail(flagSet: FlagSet, flagKey: string, context: EvaluationContext, now: number) {
    const type = typeByKey.get(flagKey)
    if (type === undefined) {
      throw new FlagError('NOT_FOUND', `"${flagKey}" is not one of the defined flags`)
    }
    return withType(type, evaluateFlag(flagSet, flagKey, context, now))
  }

  function allFrom(values: FlagValues): Readonly<Values> {
    const typed: Record<string, unknown> = Object.create(null)
    for (const [key, { fallback, isValue }] of typeByKey) {
      const value = Object.hasOwn(values, key) ? values[key] : undefined
      typed[key] = value !== undefined && isValue(value) ? value : fallback
    }
    return typed as Values
  }

  const flags: DefinedFlags<Record<string, unknown>> = {
    types,
    detail,
    allFrom,
    value: (flagSet, flagKey, context, now) => detail(flagSet, flagKey, context, now).value,
    all: (flagSet, context, now) => {
      return allFrom(valuesOf(evaluateSome(flagSet, typeByKey.keys(), context, now)))
    },
  }
  // The compiler cannot derive `Values` from the values of a map.
  return flags as unknown as DefinedFlags<Values>
}

function withType(type: FlagType<unknown>, detail: EvaluationDetail): TypedDetail<unknown> {
  const { variationId, value } = detail
  if (variationId === null) return { ...detail, value: type.fallback }
  if (type.isValue(value)) return detail
  const none = { value: type.fallback, variationId: null, variationKey: null }
  return { ...detail, ...none, reason: 'ERROR', errorCode: 'TYPE_MISMATCH' }
}
