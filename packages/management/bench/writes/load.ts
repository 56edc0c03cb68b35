import { Agent, request } from 'node:http'
import { contextsOf } from '../../../core/bench/workload.ts'
import { atRate } from '../at-rate.ts'
import type { Shop } from './shop.ts'

/** Durations of requests in milliseconds, in ascending order. */
export type Times = readonly number[]

/** The measurements of one phase of the load. */
export interface Phase {
  readonly evaluations: Times
  readonly writes: Times
  /** Acknowledged writes per second. */
  readonly writesASecond: number
}

const EVALUATIONS_A_SECOND = 50
/** The limit of concurrent writes. With more writes, the result would depend only on the queue. */
const MOST_WRITES_AT_ONCE = 16

const agent = new Agent({ keepAlive: true, maxSockets: 256 })
const BODIES = contextsOf(1000).map((context) => JSON.stringify({ context }))

/** Evaluates at a constant rate, and writes at the requested rate at the same time. */
export async function runPhase(
  url: string,
  shop: Shop,
  { seconds, writesASecond }: { readonly seconds: number; readonly writesASecond: number },
): Promise<Phase> {
  const evaluations: number[] = []
  const writes: number[] = []
  let writing = 0
  const evaluate = (turn: number) => timed(evaluations, () => evaluateOnce(url, shop, turn))
  const write = async (turn: number) => {
    if (writing >= MOST_WRITES_AT_ONCE) return
    writing += 1
    await timed(writes, () => writeOnce(url, shop, turn))
    writing -= 1
  }
  const begun = performance.now()
  const writers = atRate({ aSecond: writesASecond, seconds }, write)
  await atRate({ aSecond: EVALUATIONS_A_SECOND, seconds }, evaluate)
  await writers
  const took = (performance.now() - begun) / 1000
  const ascending = (times: readonly number[]) => [...times].sort((a, b) => a - b)
  return {
    evaluations: ascending(evaluations),
    writes: ascending(writes),
    writesASecond: writes.length / took,
  }
}

async function timed(times: number[], work: () => Promise<void>): Promise<void> {
  const begun = performance.now()
  await work()
  times.push(performance.now() - begun)
}

function evaluateOnce(url: string, { sdkKey }: Shop, turn: number): Promise<void> {
  const headers = { 'x-api-key': sdkKey }
  const body = BODIES[turn % BODIES.length] ?? ''
  return send({ method: 'POST', address: `${url}/evaluator/evaluate`, headers, body })
}

let changes = 0

/**
 * Alternately changes the conditions of a rule and the activation of a flag, each time of another
 * flag.
 */
function writeOnce(
  url: string,
  { token, projectId, environmentId, flags }: Shop,
  turn: number,
): Promise<void> {
  changes += 1
  const flag = flags[(turn * 37) % flags.length]
  const state = `${url}/projects/${projectId}/envs/${environmentId}/flags/${flag?.id}`
  const conditions = [{ attribute: 'plan', operator: 'eq', value: `plan-${changes}` }]
  const [address, body] =
    changes % 2 === 0
      ? [`${state}/targeting-rules/${flag?.ruleId}`, { conditions }]
      : [state, { is_active: changes % 4 === 1 }]
  const headers = { authorization: `Bearer ${token}` }
  return send({ method: 'PUT', address, headers, body: JSON.stringify(body) })
}

interface SentRequest {
  readonly method: string
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function send({ method, address, headers, body }: SentRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = { ...headers, 'content-type': 'application/json' }
    const outgoing = request(address, { method, agent, headers: sent }, (response) => {
      const { statusCode } = response
      let text = ''
      response.on('data', (chunk: Buffer) => {
        if (statusCode !== 200) text += chunk.toString()
      })
      response.on('end', () => {
        if (statusCode === 200) resolve()
        else reject(new Error(`${method} ${address} returned ${statusCode}: ${text}`))
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
