import type { Endpoint, EndpointName } from '@ff/protocol/management'
import { hashSecret } from '@ff/server/plane'
import type { InputOf } from '../management.ts'
import type { Actor } from '../users/actors.ts'
import type { IdempotentRequest } from './idempotency.ts'
import { invalid } from './validation.ts'

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

/** What makes a request with an `Idempotency-Key` recognisable: sender, endpoint, path and key. */
export async function idempotentRequestOf(
  key: string,
  name: EndpointName,
  { actor, input }: { readonly actor: Actor; readonly input: InputOf<Endpoint> },
): Promise<IdempotentRequest> {
  if (!IDEMPOTENCY_KEY.test(key)) {
    throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
  }
  const { params, body } = input
  return {
    scope: await hashSecret(JSON.stringify([actor.id, name, params, key])),
    bodyHash: await hashSecret(JSON.stringify([body])),
  }
}
