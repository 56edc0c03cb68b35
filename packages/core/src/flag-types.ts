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

/** The flags that a program uses, with their types. Created by `defineFlags`. */
export interface FlagTypes<Values> {
  /** The type of each flag, by flag key. */
  readonly types: { readonly [Key in keyof Values]: FlagType<Values[Key]> }
  /**
   * Adds types to values that were evaluated elsewhere, for example by a server. Returns the values
   * of exactly the defined flags, in an object without a prototype. A value that is missing or has
   * another type is replaced by the fallback.
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
 * Defines the flags of a program and their types, for a program that receives values and does not
 * evaluate flags itself. `defineFlags` of `@ff/core/typed-flags` also evaluates flags.
 *
 * ```ts
 * const flags = defineFlags({ 'new-checkout': bool(false), theme: oneOf('light', 'dark') })
 * flags.allFrom(values).theme // 'light' | 'dark'
 * ```
 */
export function defineFlags<Values extends Readonly<Record<string, unknown>>>(
  types: {
    readonly [Key in keyof Values]: FlagType<Values[Key]>
  },
): FlagTypes<Values> {
  const typeByKey = Object.entries<FlagType<unknown>>(types)
  return {
    types,
    allFrom(values) {
      const typed: Record<string, unknown> = Object.create(null)
      for (const [key, { fallback, isValue }] of typeByKey) {
        const value = Object.hasOwn(values, key) ? values[key] : undefined
        typed[key] = value !== undefined && isValue(value) ? value : fallback
      }
      return typed as Values
    },
  }
}
