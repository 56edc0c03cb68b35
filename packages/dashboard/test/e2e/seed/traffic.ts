import { setTimeout as pause } from 'node:timers/promises'

/** The number of new contexts that a server stores in one batch, with a reserve. */
const PER_BATCH = 90
/** A little more than the time between two batches. */
const BETWEEN_MS = 1100

/** A context of a user. */
export type UserContext = Readonly<Record<string, unknown>> & { readonly key: string }

/** Returns invented users with a plan and a country. */
export function users(count: number): readonly UserContext[] {
  const countries = ['DE', 'US', 'FR', 'AT']
  return Array.from({ length: count }, (_, n) => ({
    kind: 'user',
    key: `visitor-${n}`,
    plan: n % 5 === 0 ? 'pro' : 'free',
    country: countries[n % countries.length],
    beta: false,
  }))
}

/** Evaluates all flags for a context, as an application does, and returns the values by flag key. */
export async function evaluate(
  url: string,
  sdkKey: string,
  context: UserContext,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${url}/evaluator/evaluate`, {
    method: 'POST',
    headers: { 'x-api-key': sdkKey, 'content-type': 'application/json' },
    body: JSON.stringify({ context }),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

/** Evaluates contexts so slowly that the server stores each of them as an observed context. */
export async function observe(
  url: string,
  sdkKey: string,
  contexts: readonly UserContext[],
): Promise<void> {
  for (let from = 0; from < contexts.length; from += PER_BATCH) {
    const batch = contexts.slice(from, from + PER_BATCH)
    await Promise.all(batch.map((context) => evaluate(url, sdkKey, context)))
    await pause(BETWEEN_MS)
  }
}
