import { assertFinite } from '../ports/storable.ts'
import type { ApiCalls } from '../ports/usage.ts'

/** Returns text that is equal for numbers of API calls that must be summed. */
export function apiCallsName({ organizationId, instanceId }: ApiCalls): string {
  return JSON.stringify([organizationId, instanceId])
}

/**
 * Returns the API calls, with all calls of the same `apiCallsName` summed, ordered by this name. If
 * all writers write rows in this order, they cause no deadlock. Throws `INVALID_REQUEST` if a number
 * is not finite.
 */
export function mergeApiCalls(given: readonly ApiCalls[]): readonly ApiCalls[] {
  const found = new Map<string, ApiCalls>()
  for (const each of given) {
    assertFinite(each)
    const name = apiCallsName(each)
    found.set(name, { ...each, calls: (found.get(name)?.calls ?? 0) + each.calls })
  }
  const inOrder = [...found].sort(([a], [b]) => (a < b ? -1 : 1))
  return inOrder.map(([, merged]) => merged)
}
