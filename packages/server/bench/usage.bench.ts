import type { FlagDefinition, RuleDefinition } from '@ff/core'
import { memory } from '@ff/storage'
import { bench, describe } from 'vitest'
import { RequestLimiter } from '../src/access/rate-limit.ts'
import { SdkKeyVerifier } from '../src/access/sdk-keys.ts'
import { systemClock } from '../src/clock.ts'
import { Evaluator } from '../src/evaluation/evaluator.ts'
import { FlagSetCache } from '../src/evaluation/flag-set-cache.ts'
import { UsageRecorder } from '../src/evaluation/usage-recorder.ts'
import type { Exchange } from '../src/http/exchange.ts'
import { parseJsonBody } from '../src/http/json-body.ts'
import { Metrics } from '../src/http/metrics.ts'
import { handleSdk } from '../src/http/sdk.ts'
import { LongPolls } from '../src/live/long-polls.ts'
import { SessionRegistry } from '../src/live/session-registry.ts'
import { silentLogger } from '../src/logger.ts'
import { addSdkKey, flagChange, OCCASION, seed, textFlag } from '../test/seed.ts'

const FLAGS = 100
const COUNTRIES = ['AT', 'BE', 'CH', 'DE', 'DK', 'ES', 'FI', 'FR', 'GB', 'IT']

/** Five rules that rarely match, then everybody else. */
function flagOf(flag: number): FlagDefinition {
  const rules = [0, 1, 2, 3, 4].map((rule): Partial<RuleDefinition> => {
    const plan = { attribute: 'plan', operator: 'eq', value: `plan-${(flag + rule) % 7}` }
    const country = { attribute: 'country', operator: 'in', value: JSON.stringify(COUNTRIES) }
    return { conditions: [plan, country] }
  })
  return textFlag(`flag-${flag}`, 'base', rules)
}

const bodies = Array.from({ length: 1000 }, (_, index) => {
  const country = COUNTRIES[index % COUNTRIES.length] ?? ''
  const key = `7f9c2ba4-e88f-4f2b-9c1a-${String(index).padStart(12, '0')}`
  const context = { kind: 'user', key, plan: `plan-${index % 9}`, country, age: index % 80 }
  return new TextEncoder().encode(JSON.stringify({ context }))
})

const { storage, rateLimiter } = memory()
const { live } = await seed(storage)
const { sdkKey } = await addSdkKey(storage, live, { rateLimit: 1_000_000_000 })
const definitions = Array.from({ length: FLAGS }, (_, index) => flagOf(index))
await storage.publish(live.environmentId, definitions.map(flagChange), OCCASION)

const common = { storage, clock: systemClock, logger: silentLogger }
const cache = new FlagSetCache(common)
const keys = new SdkKeyVerifier(common)
const limiter = new RequestLimiter({ ...common, limiter: rateLimiter })
const recorder = new UsageRecorder({ ...common, cache, metrics: new Metrics() })
/** Remembers nothing: what there is to be compared with. */
const nothing = {
  requested: () => undefined,
  evaluated: () => undefined,
} as unknown as UsageRecorder

/** Answers one evaluate request after another, each for the next context. */
function requestsTo(usage: UsageRecorder): () => Promise<void> {
  const evaluator = new Evaluator({ cache, usage, clock: systemClock })
  const services = { keys, limiter, cache, evaluator, usage, sessions: new SessionRegistry() }
  const polls = new LongPolls({ ...common, ...services })
  const parts = { ...common, ...services, polls, maxLiveClients: 1 }
  let turn = 0
  return async () => {
    turn = (turn + 1) % bodies.length
    const { status } = await handleSdk(parts, exchangeOf(bodies[turn] ?? new Uint8Array()))
    if (status !== 200) throw new Error(`answered ${status}`)
  }
}

function exchangeOf(body: Uint8Array): Exchange {
  return {
    method: 'POST',
    path: '/evaluator/evaluate',
    query: '',
    header: (name) => (name === 'x-api-key' ? sdkKey : undefined),
    json: async () => parseJsonBody(body),
    bytes: async () => body,
    address: undefined,
    isEncrypted: false,
    hasBody: true,
    whenGone: () => undefined,
  }
}

describe(`an evaluate request, ${FLAGS} flags`, () => {
  const options = { time: 3000, warmupTime: 1000 }
  bench('that is not recorded', requestsTo(nothing), options)
  bench('that is recorded', requestsTo(recorder), options)
})
