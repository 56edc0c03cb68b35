import { evaluateSome, valuesOf } from './all-flags.ts'
import type { EvaluationDetail } from './evaluation/detail.ts'
import { evaluateFlag } from './evaluation/evaluate.ts'
import type { FlagSet } from './evaluation/flag-set.ts'
import type { EvaluationContext } from './model/context.ts'
import { FlagError } from './model/errors.ts'
import type { FlagValues } from './model/value.ts'

/** What a program expects a flag to be. Made by `bool`, `text`, `number`, `oneOf` and `json`. */
export interface FlagType<Value> {
  /** What the program gets when the flag has no value, or none of this type. */
  readonly fallback: Value
  readonly isValue: (value: unknown) => value is Value
}

/** `EvaluationDetail` with the type that the program expects. */
export interface TypedDetail<Value> extends Omit<EvaluationDetail, 'value'> {
  readonly value: Value
}

/** The flags that a program knows. Made by `defineFlags`; `now` is in epoch milliseconds. */
export interface DefinedFlags<Values> {
  /** The value of one flag; its fallback when there is none of the expected type. */
  value<Key extends keyof Values & string>(
    flagSet: FlagSet,
    flagKey: Key,
    context: EvaluationContext,
    now: number,
  ): Values[Key]
  /**
   * The same with its reason. A value of another type is the reason `ERROR` with the code
   * `TYPE_MISMATCH`, and then no variation is named, for none is served.
   */
  detail<Key extends keyof Values & string>(
    flagSet: FlagSet,
    flagKey: Key,
    context: EvaluationContext,
    now: number,
  ): TypedDetail<Values[Key]>
  /** Exactly the defined flags, in an object without a prototype. */
  all(flagSet: FlagSet, context: EvaluationContext, now: number): Readonly<Values>
  /** The same out of values that were evaluated elsewhere, such as a server's answer. */
  allFrom(values: FlagValues): Readonly<Values>
}

/** A flag that is on or off. */
export function bool(fallback: boolean): FlagType<boolean> {
  return { fallback, isValue: (value) => typeof value === 'boolean' }
}

/** A flag that is any text. */
export function text(fallback: string): FlagType<string> {
  return { fallback, isValue: (value) => typeof value === 'string' }
}

/** A flag that is a finite number. */
export function number(fallback: number): FlagType<number> {
  return { fallback, isValue: (value): value is number => Number.isFinite(value) }
}

/** A flag that is one of these texts; the first is the fallback. */
export function oneOf<const Value extends string>(
  fallback: Value,
  ...others: readonly Value[]
): FlagType<Value> {
  const values: ReadonlySet<unknown> = new Set([fallback, ...others])
  return { fallback, isValue: (value): value is Value => values.has(value) }
}

/** A flag that is any JSON and, when it has no value, null. */
export function json<Value>(): FlagType<Value | null>
/**
 * A flag that is JSON. Without a guard, everything but null is taken to be of the type. The values
 * of flags are deeply frozen; the fallback is handed out as it is.
 */
export function json<Value>(
  fallback: Value,
  isValue?: (value: unknown) => value is Value,
): FlagType<Value>
export function json<Value>(
  fallback: Value | null = null,
  isValue = (value: unknown): value is Value => value !== null || fallback === null,
): FlagType<Value | null> {
  return { fallback, isValue }
}

/**
 * Gives flags the types that the program expects of them, so that keys and values are checked by
 * the compiler. At run time a value of another type never reaches the program: it gets the fallback.
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
    detail,
    allFrom,
    value: (flagSet, flagKey, context, now) => detail(flagSet, flagKey, context, now).value,
    all: (flagSet, context, now) => {
      return allFrom(valuesOf(evaluateSome(flagSet, typeByKey.keys(), context, now)))
    },
  }
  // The types by key are what `Values` is made of, which the compiler cannot follow through a map.
  return flags as unknown as DefinedFlags<Values>
}

function withType(type: FlagType<unknown>, detail: EvaluationDetail): TypedDetail<unknown> {
  const { variationId, value } = detail
  if (variationId === null) return { ...detail, value: type.fallback }
  if (type.isValue(value)) return detail
  const none = { value: type.fallback, variationId: null, variationKey: null }
  return { ...detail, ...none, reason: 'ERROR', errorCode: 'TYPE_MISMATCH' }
}
