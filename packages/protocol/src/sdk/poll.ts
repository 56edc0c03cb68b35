import { asEvaluateRequest, type EvaluateRequest } from './evaluate.ts'
import { asJsonObject, ownProperty } from './json-object.ts'

/** Body of `POST /evaluator/poll`; the answer is `FlagValues`. */
export interface PollRequest extends EvaluateRequest {
  /**
   * The `ETag` of the last answer the caller has. Absent: wait for the next change.
   * Anything the server does not recognise is answered at once.
   */
  readonly since?: string
}

/**
 * The request in a parsed body, or `undefined` when there is no `context` object in it.
 * A `since` that is not text counts as an unknown one; null counts as absent.
 */
export function asPollRequest(body: unknown): PollRequest | undefined {
  const fields = asJsonObject(body)
  const request = asEvaluateRequest(body)
  if (fields === undefined || request === undefined) return undefined
  const since = ownProperty(fields, 'since') ?? undefined
  if (since === undefined) return request
  return { ...request, since: typeof since === 'string' ? since : '' }
}
