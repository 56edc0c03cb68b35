import { asEvaluateRequest, type EvaluateRequest } from './evaluate.ts'
import { asJsonObject, ownProperty } from './json-object.ts'

/** The body of `POST /evaluator/poll`. The response is `FlagValues`. */
export interface PollRequest extends EvaluateRequest {
  /**
   * The `ETag` of the caller's last response. If `since` is absent, the server waits for the next
   * change. If `since` is an unknown tag, the server responds at once.
   */
  readonly since?: string
}

/**
 * Returns the request in a parsed body, or `undefined` if it contains no `context` object. A
 * `since` of `null` counts as absent. Any other value that is not a string counts as an unknown
 * entity tag.
 */
export function asPollRequest(body: unknown): PollRequest | undefined {
  const fields = asJsonObject(body)
  const request = asEvaluateRequest(body)
  if (fields === undefined || request === undefined) return undefined
  const since = ownProperty(fields, 'since') ?? undefined
  if (since === undefined) return request
  return { ...request, since: typeof since === 'string' ? since : '' }
}
