import { type StaleConfiguration, staleConfigurationCodec } from '@ff/protocol/management'
import { type ApiError, errorDataOf } from '../api/api-error.ts'

/** What the failure of a publish says about the draft. */
export type PublishFailure =
  /** The configuration has changed since the draft began. Nothing was published. */
  | { readonly kind: 'conflict'; readonly current: StaleConfiguration }
  /** The server has refused the draft. Nothing was published. */
  | { readonly kind: 'refused' }
  /** It is not known whether the draft was published. */
  | { readonly kind: 'unknown' }

/** The codes of errors after which a request may have had its effect. */
const WITHOUT_ANSWER: ReadonlySet<string> = new Set(['UNREACHABLE', 'TIMEOUT', 'UNEXPECTED_REPLY'])

/** Returns what the failure of a publish says about the draft. */
export function publishFailure(error: ApiError): PublishFailure {
  if (error.status === 409) {
    const current = errorDataOf(error, staleConfigurationCodec)
    if (current !== undefined) return { kind: 'conflict', current }
  }
  const isUnknown = WITHOUT_ANSWER.has(error.code) || error.status >= 500
  return { kind: isUnknown ? 'unknown' : 'refused' }
}
