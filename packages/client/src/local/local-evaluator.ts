import {
  type CompiledFlag,
  type EvaluationContext,
  evaluateCode,
  evaluateFlag,
  type FlagSet,
  outcomeCodeOf,
  servedBy,
} from '@ff/core'
import type { FlagType } from '@ff/core/flag-types'
import type { ValueSource } from '../values/flag-detail.ts'
import type { LocalDetail } from './local-detail.ts'

/** The parts that an evaluator needs. */
export interface LocalEvaluatorOptions {
  /** The types of the flags of the program, by flag key. */
  readonly types: ReadonlyMap<string, FlagType<unknown>>
  /** Returns the time of an evaluation, in epoch milliseconds. */
  readonly now: () => number
  /** Called after the evaluation of each flag. */
  readonly count: (flag: CompiledFlag, code: number, now: number) => void
  /** Receives the errors of guards of types. */
  readonly report: (error: unknown) => void
}

/** Evaluates flags of the newest flag set. No method throws. */
export class LocalEvaluator {
  /** The flag set to evaluate; `undefined` if there is none. */
  flagSet: FlagSet | undefined
  /** The origin of the flag set. */
  source: ValueSource = 'fallback'
  readonly options: LocalEvaluatorOptions

  constructor(options: LocalEvaluatorOptions) {
    this.options = options
  }

  /** Returns an evaluator that keeps the current flag set and the current time. */
  frozen(): LocalEvaluator {
    const now = this.options.now()
    const evaluator = new LocalEvaluator({ ...this.options, now: () => now })
    evaluator.flagSet = this.flagSet
    evaluator.source = this.source
    return evaluator
  }

  /** Returns the value of a flag, or its fallback. */
  value(key: string, context: unknown, fallback: unknown): unknown {
    const type = this.options.types.get(key)
    const { flagSet } = this
    const flag = flagSet?.flags.get(key)
    if (flagSet !== undefined && flag !== undefined) {
      try {
        const served = servedBy(this.#code(flagSet, flag, context))
        const value = flag.values[served]
        if (served > 0 && (type === undefined || type.isValue(value))) return value
      } catch (error) {
        this.options.report(error)
      }
    }
    return fallback === undefined ? type?.fallback : fallback
  }

  /** Returns the same value as `value`, with its explanation and origin. */
  detail(key: string, context: unknown, fallback: unknown): LocalDetail<unknown> {
    const { types, report } = this.options
    const version = this.flagSet?.version ?? 0
    const type = types.get(key)
    const none = {
      flagKey: key,
      value: fallback === undefined ? type?.fallback : fallback,
      variationId: null,
      variationKey: null,
      reason: 'ERROR',
      source: 'fallback',
      version,
    } as const
    try {
      const detail = this.#detail(key, context)
      if (typeof detail === 'string') return { ...none, errorCode: detail }
      const { variationId, value } = detail
      if (variationId === null) return { ...detail, ...none }
      if (type === undefined || type.isValue(value)) {
        return { ...detail, source: this.source, version }
      }
      return { ...detail, ...none, errorCode: 'TYPE_MISMATCH' }
    } catch (error) {
      report(error)
      return { ...none, errorCode: 'TYPE_MISMATCH' }
    }
  }

  /** Returns the values of exactly the flags of the program, in an object without a prototype. */
  all(context: unknown): Readonly<Record<string, unknown>> {
    const values: Record<string, unknown> = Object.create(null)
    for (const key of this.options.types.keys()) values[key] = this.value(key, context, undefined)
    return values
  }

  /** Returns the values of all flags of a flag set, without types. */
  valuesOf(flagSet: FlagSet, context: EvaluationContext): Readonly<Record<string, unknown>> {
    const values = flagSet.ordered.map((flag) => {
      return [flag.key, flag.values[servedBy(this.#code(flagSet, flag, context))]] as const
    })
    return Object.fromEntries(values)
  }

  #code(flagSet: FlagSet, flag: CompiledFlag, context: unknown): number {
    if (!isContext(context)) return 0
    const { now, count } = this.options
    const at = now()
    const code = evaluateCode(flagSet, flag, context, at)
    count(flag, code, at)
    return code
  }

  #detail(key: string, context: unknown) {
    const { flagSet } = this
    if (!isContext(context)) return 'INVALID_CONTEXT'
    if (flagSet === undefined) return 'PROVIDER_NOT_READY'
    const { now, count } = this.options
    const at = now()
    const detail = evaluateFlag(flagSet, key, context, at)
    const flag = flagSet.flags.get(key)
    if (flag !== undefined) count(flag, outcomeCodeOf(flag, detail), at)
    return detail
  }
}

/**
 * Returns `true` if a value can be evaluated as a context: an object that is empty or has a `kind`.
 * Other faults of a context only affect the conditions that read them.
 */
export function isContext(context: unknown): context is EvaluationContext {
  if (typeof context !== 'object' || context === null) return false
  try {
    const { kind } = context as { readonly kind?: unknown }
    return kind === undefined ? isEmpty(context) : typeof kind === 'string' && kind !== ''
  } catch {
    return false
  }
}

function isEmpty(object: object): boolean {
  for (const _name in object) return false
  return !Array.isArray(object)
}
