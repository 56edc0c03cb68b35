import * as sdk from '@openfeature/react-sdk'
import type { ReactElement, ReactNode } from 'react'
import type {
  RegisteredDetails,
  RegisteredKey,
  RegisteredObjectKey,
  RegisteredValues,
} from './registered-flags.ts'

export * from '@openfeature/react-sdk'
export type { RegisteredFlags } from './registered-flags.ts'

type Options = sdk.ReactFlagEvaluationOptions
type AnyKey = keyof RegisteredValues & string

/** A hook that returns the value of a registered flag. */
type ValueHook<Keys extends AnyKey> = <Key extends Keys>(
  flagKey: Key,
  defaultValue: RegisteredValues[Key],
  options?: Options,
) => RegisteredValues[Key]

/** A hook that returns the value of a registered flag with its origin. */
type DetailsHook<Keys extends AnyKey> = <Key extends Keys>(
  flagKey: Key,
  defaultValue: RegisteredValues[Key],
  options?: Options,
) => RegisteredDetails<Key>

/** The result of `useFlag` for a registered flag. */
export type RegisteredQuery<Key extends AnyKey> = Omit<sdk.FlagQuery, 'value' | 'details'> & {
  readonly value: RegisteredValues[Key]
  readonly details: RegisteredDetails<Key>
}

/** The properties of `FeatureFlag` for a registered flag. */
export type RegisteredFlagProps<Key extends AnyKey> = Match<RegisteredValues[Key]> & {
  readonly flagKey: Key
  readonly defaultValue: RegisteredValues[Key]
  readonly predicate?: (
    matchValue: RegisteredValues[Key] | undefined,
    details: RegisteredDetails<Key>,
  ) => boolean
  readonly children: ReactNode | ((query: RegisteredQuery<Key>) => ReactNode)
  readonly fallback?: ReactNode | ((details: RegisteredDetails<Key>) => ReactNode)
  readonly evaluationOptions?: Options
}

/** The value with which the children are rendered. Without it, only boolean flags render them. */
type Match<Value> = [Value] extends [boolean]
  ? { readonly matchValue?: Value }
  : { readonly matchValue: Value }

// The functions are those of the SDK. Their own types accept no key if the application permits only
// registered keys.
/** `useBooleanFlagValue` of the SDK for registered flags. */
export const useBooleanFlagValue = sdk.useBooleanFlagValue as ValueHook<RegisteredKey<boolean>>
/** `useBooleanFlagDetails` of the SDK for registered flags. */
export const useBooleanFlagDetails = sdk.useBooleanFlagDetails as unknown as DetailsHook<
  RegisteredKey<boolean>
>
/** `useStringFlagValue` of the SDK for registered flags. */
export const useStringFlagValue = sdk.useStringFlagValue as ValueHook<RegisteredKey<string>>
/** `useStringFlagDetails` of the SDK for registered flags. */
export const useStringFlagDetails = sdk.useStringFlagDetails as unknown as DetailsHook<
  RegisteredKey<string>
>
/** `useNumberFlagValue` of the SDK for registered flags. */
export const useNumberFlagValue = sdk.useNumberFlagValue as ValueHook<RegisteredKey<number>>
/** `useNumberFlagDetails` of the SDK for registered flags. */
export const useNumberFlagDetails = sdk.useNumberFlagDetails as unknown as DetailsHook<
  RegisteredKey<number>
>
/** `useObjectFlagValue` of the SDK for registered flags. */
export const useObjectFlagValue =
  sdk.useObjectFlagValue as unknown as ValueHook<RegisteredObjectKey>
/** `useObjectFlagDetails` of the SDK for registered flags. */
export const useObjectFlagDetails =
  sdk.useObjectFlagDetails as unknown as DetailsHook<RegisteredObjectKey>
/** `useFlag` of the SDK for registered flags. */
export const useFlag = sdk.useFlag as unknown as <Key extends AnyKey>(
  flagKey: Key,
  defaultValue: RegisteredValues[Key],
  options?: Options,
) => RegisteredQuery<Key>
/** `useSuspenseFlag` of the SDK for registered flags. */
export const useSuspenseFlag = sdk.useSuspenseFlag as unknown as <Key extends AnyKey>(
  flagKey: Key,
  defaultValue: RegisteredValues[Key],
  options?: sdk.ReactFlagEvaluationNoSuspenseOptions,
) => RegisteredQuery<Key>
/** `FeatureFlag` of the SDK for registered flags. */
export const FeatureFlag = sdk.FeatureFlag as unknown as <Key extends AnyKey>(
  props: RegisteredFlagProps<Key>,
) => ReactElement | null
