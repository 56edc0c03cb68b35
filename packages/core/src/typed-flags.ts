import { evaluateSome, valuesOf } from './all-flags.ts'
import type { EvaluationDetail } from './evaluation/detail.ts'
import { evaluateFlag } from './evaluation/evaluate.ts'
import type { FlagSet } from './evaluation/flag-set.ts'
import { defineFlags as defineFlagTypes, type FlagType, type FlagTypes } from './flag-types.ts'
import type { EvaluationContext } from './model/context.ts'
import { FlagError } from './model/errors.ts'

export { bool, type FlagType, json, number, oneOf, text } from './flag-types.ts'

/** An `EvaluationDetail` with a value of the expected type. */
export interface TypedDetail<Value> extends Omit<EvaluationDetail, 'value'> {
  readonly value: Value
}

/**
 * The flags that a program uses and evaluates, with their types. Created by `defineFlags`. `now` is
 * in epoch milliseconds.
 */
export interface DefinedFlags<Values> extends FlagTypes<Values> {
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
  const flagTypes = defineFlagTypes(types)
  const typeByKey = new Map<string, FlagType<unknown>>(Object.entries(types))

  function detail(flagSet: FlagSet, flagKey: string, context: EvaluationContext, now: number) {
    const type = typeByKey.get(flagKey)
    if (type === undefined) {
      throw new FlagError('NOT_FOUND', `"${flagKey}" is not one of the defined flags`)
    }
    return withType(type, evaluateFlag(flagSet, flagKey, context, now))
  }

  const flags: Omit<DefinedFlags<Record<string, unknown>>, keyof FlagTypes<unknown>> = {
    detail,
    value: (flagSet, flagKey, context, now) => detail(flagSet, flagKey, context, now).value,
    all: (flagSet, context, now) => {
      return flagTypes.allFrom(valuesOf(evaluateSome(flagSet, typeByKey.keys(), context, now)))
    },
  }
  // The compiler cannot derive `Values` from the values of a map.
  return { ...flagTypes, ...flags } as unknown as DefinedFlags<Values>
}

function withType(type: FlagType<unknown>, detail: EvaluationDetail): TypedDetail<unknown> {
  const { variationId, value } = detail
  if (variationId === null) return { ...detail, value: type.fallback }
  if (type.isValue(value)) return detail
  const none = { value: type.fallback, variationId: null, variationKey: null }
  return { ...detail, ...none, reason: 'ERROR', errorCode: 'TYPE_MISMATCH' }
}
