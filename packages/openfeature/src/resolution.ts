import { ErrorCode, type FlagMetadata, type ResolutionDetails } from '@openfeature/core'

/** The type of value that an application has requested. */
export type RequestedType = 'boolean' | 'string' | 'number' | 'object'

/** A known value, before its type is checked. */
export interface KnownValue {
  readonly value: unknown
  readonly reason: string
  readonly variant?: string
  readonly flagMetadata: FlagMetadata
}

/** The details of a value; with the error `TYPE_MISMATCH` if the value has another type. */
export function resolved<Value>(
  type: RequestedType,
  defaultValue: Value,
  known: KnownValue,
): ResolutionDetails<Value> {
  const { value, flagMetadata } = known
  const actual = value === null ? 'null' : typeof value
  if (actual === type) return { ...known, value: value as Value }
  const message = `the value has the type ${actual}, not ${type}`
  return unresolved(defaultValue, ErrorCode.TYPE_MISMATCH, { flagMetadata, message })
}

/** The details of a default value. An error code that OpenFeature does not have is `GENERAL`. */
export function unresolved<Value>(
  defaultValue: Value,
  errorCode: string = ErrorCode.GENERAL,
  {
    flagMetadata,
    message = errorCode,
  }: { readonly flagMetadata: FlagMetadata; readonly message?: string },
): ResolutionDetails<Value> {
  const codes: Readonly<Record<string, ErrorCode>> = ErrorCode
  return {
    value: defaultValue,
    reason: 'ERROR',
    errorCode: codes[errorCode] ?? ErrorCode.GENERAL,
    flagMetadata,
    errorMessage: message,
  }
}
