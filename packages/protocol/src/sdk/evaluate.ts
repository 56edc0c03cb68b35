import type { FlagValues, JsonObject } from '@ff/core'
import { asJsonObject, ownProperty } from './json-object.ts'

export type { FlagValues }

/** The body of `POST /evaluator/evaluate`. The response is `FlagValues`. */
export interface EvaluateRequest {
  /** A JSON object. `parseContext` of `@ff/core` validates it as a context. */
  readonly context: JsonObject
}

/** Returns the request in a parsed body, or `undefined` if it contains no `context` object. */
export function asEvaluateRequest(body: unknown): EvaluateRequest | undefined {
  const fields = asJsonObject(body)
  if (fields === undefined) return undefined
  const context = asJsonObject(ownProperty(fields, 'context'))
  return context === undefined ? undefined : { context }
}

/** The body of every error response of the evaluation endpoints. */
export interface SdkErrorBody {
  /** A description for humans. */
  readonly error: string
  /** The HTTP status, repeated. */
  readonly statusCode: number
}
