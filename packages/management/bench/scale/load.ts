import { Agent, request } from 'node:http'
import { MIXED_CONTEXTS } from '../../../core/bench/mixed.ts'
import type { Environment } from './store.ts'

const agent = new Agent({ keepAlive: true, maxSockets: 64 })
const BODIES = MIXED_CONTEXTS.map((context) => JSON.stringify({ context }))

/** Evaluates all flags of an environment for one of the contexts, and resolves with the duration. */
export function evaluate(url: string, environment: Environment, turn: number): Promise<number> {
  return post(url, environment, BODIES[turn % BODIES.length] ?? '')
}

/** Evaluates all flags of an environment for a context that no earlier call had. */
export function evaluateNew(url: string, environment: Environment, turn: number): Promise<number> {
  const context = { ...MIXED_CONTEXTS[(turn * 2) % MIXED_CONTEXTS.length], key: `new-${turn}` }
  return post(url, environment, JSON.stringify({ context }))
}

/** Returns a percentile of durations. */
export function percentile(values: readonly number[], share: number): number {
  const ascending = [...values].sort((a, b) => a - b)
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0
}

function post(url: string, { sdkKey }: Environment, body: string): Promise<number> {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': sdkKey, 'content-type': 'application/json' }
    const outgoing = request(
      `${url}/evaluator/evaluate`,
      { method: 'POST', agent, headers },
      (response) => {
        response.resume()
        response.on('end', () => {
          if (response.statusCode === 200) resolve(performance.now() - begun)
          else reject(new Error(`The server answered ${response.statusCode}.`))
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
