import {
  type Endpoint,
  endpoints,
  type NewScheduledChange,
  noBody,
  type ScheduledChange,
  type ScheduledOperation,
} from '@ff/protocol/management'
import type { ChangeCall, ChangeServices } from '../changes/apply-change.ts'
import type { UseCase } from '../changes/use-case.ts'
import { flagStateUseCases } from '../flags/flag-states.ts'
import { rolloutUseCases } from '../flags/rollouts.ts'
import { targetingRuleUseCases } from '../flags/targeting-rules.ts'
import type { AnyInput } from '../requests/input.ts'
import { decodeWire, invalid, withinField } from '../requests/validation.ts'

/**
 * The use cases by name. The type of each use case depends on its endpoint, so a cast is necessary
 * to call a use case by the name of an operation.
 */
const USE_CASES = {
  ...flagStateUseCases,
  ...targetingRuleUseCases,
  ...rolloutUseCases,
} satisfies Record<ScheduledOperation, unknown> as unknown as Readonly<
  Record<ScheduledOperation, UseCase<AnyInput, unknown>>
>

/** The flag and the environment in which its state, rules or rollouts change. */
type Place = Pick<ScheduledChange, 'projectId' | 'environmentId' | 'flagId'>

interface ScheduledOperationInput {
  readonly place: Place
  readonly change: Omit<NewScheduledChange, 'applyAt'> & { readonly comment?: string | null }
}

/**
 * Calls the use case of an operation. Throws `INVALID_REQUEST`, with paths that begin with `body`,
 * if the body is not valid.
 */
export async function performOperation(
  services: ChangeServices,
  call: ChangeCall,
  { place, change }: ScheduledOperationInput,
): Promise<void> {
  const { operation: name, targetId = null, body = null, comment } = change
  const endpoint: Endpoint = endpoints[name]
  // The path parameter that receives `target_id`.
  const target = (['ruleId', 'rolloutId'] as const).find((id) => endpoint.path.includes(`{${id}}`))
  if (target !== undefined && targetId === null)
    throw invalid('target_id', `is required for ${name}`)
  if (target === undefined && targetId !== null)
    throw invalid('target_id', `must be absent for ${name}`)
  if (endpoint.body === noBody && body !== null) throw invalid('body', `must be absent for ${name}`)
  if (endpoint.body !== noBody && body === null) throw invalid('body', `is required for ${name}`)
  const { projectId, environmentId, flagId } = place
  const params = { projectId, environmentId, flagId, ...(target && { [target]: targetId }) }
  await withinField('body', () => {
    const decoded = endpoint.body === noBody ? undefined : decodeWire(endpoint.body, body)
    const input = { params, query: {}, body: decoded, comment: comment ?? undefined }
    return USE_CASES[name](services, call, input)
  })
}
