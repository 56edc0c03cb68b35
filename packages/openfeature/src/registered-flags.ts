import type { EvaluationDetails, FlagValue } from '@openfeature/core'

/**
 * The flags of the application. If a module augmentation adds the property `flags`, the methods of
 * OpenFeature's clients have the types of these flags:
 *
 * ```ts
 * declare module '@ff/openfeature/web' {
 *   interface RegisteredFlags { flags: typeof shopFlags }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: Applications add the property.
export interface RegisteredFlags {}

/** The types of the values of the registered flags, by flag key. */
export type RegisteredValues = RegisteredFlags extends {
  readonly flags: { readonly types: infer Types }
}
  ? { readonly [Key in keyof Types]: ValueOf<Types[Key]> }
  : Readonly<Record<never, never>>

type ValueOf<Type> = Type extends { readonly fallback: infer Value } ? Value : never

/** The keys of the registered flags with values of a type. */
export type RegisteredKey<Value> = {
  [Key in keyof RegisteredValues & string]: RegisteredValues[Key] extends Value ? Key : never
}[keyof RegisteredValues & string]

/** The keys of the registered flags with other values than booleans, texts and numbers. */
export type RegisteredObjectKey = Exclude<
  keyof RegisteredValues & string,
  RegisteredKey<boolean | string | number>
>

/** The details of a registered flag. */
export type RegisteredDetails<Key extends keyof RegisteredValues> = Omit<
  EvaluationDetails<FlagValue>,
  'value'
> & { value: RegisteredValues[Key] }
