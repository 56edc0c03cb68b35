import type { FlagValues, JsonObject } from '@ff/core'
import { asJsonObject, ownProperty } from './json-object.ts'

export type { FlagValues }

/** Body of `POST /evaluator/evaluate`; the answer is `FlagValues`. */
export interface EvaluateRequest {
  /** An object; whether it is a context is for `parseContext` of `@ff/core` to say. */
  readonly context: JsonObject
}

/** The request in a parsed body, or `undefined` when there is no `context` object in it. */
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
