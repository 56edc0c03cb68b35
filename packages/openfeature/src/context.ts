import type { FlagClient } from '@ff/client'
import { fromOpenFeatureContext } from '@ff/protocol/sdk'
import type { EvaluationContext } from '@openfeature/core'

/** A context of a client. */
export type ClientContext = Parameters<FlagClient<unknown>['setContext']>[0]

/** Converts a context of OpenFeature. Does not check the result. Never throws. */
export function toContext(context: EvaluationContext): ClientContext {
  let converted: unknown
  try {
    converted = fromOpenFeatureContext(context as Parameters<typeof fromOpenFeatureContext>[0])
  } catch {
    // A getter of the application has failed. Clients refuse `undefined` as invalid.
  }
  return converted as ClientContext
}
