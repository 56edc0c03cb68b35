import { expect } from 'vitest'
import { evaluate, type Tenants } from '../data-file.ts'
import { timed } from '../durations.ts'
import { pause } from '../server-process.ts'

/** Evaluations that are sent one after another until `end`. */
export interface SteadyEvaluations {
  /** Asserts that all of them succeeded with the same values, and returns their number. */
  readonly end: () => Promise<number>
  /** Returns the durations in milliseconds since the last call. */
  readonly takeDurations: () => readonly number[]
}

/** Begins to evaluate flags that never change. Resolves after the first evaluation. */
export async function evaluateSteadily(
  url: string,
  { bystanderKey }: Tenants,
): Promise<SteadyEvaluations> {
  const answer = () => evaluate(url, bystanderKey).catch((error) => String(error))
  const steady = { status: 200, data: { steady: false } }
  expect(await answer()).toEqual(steady)
  const answers = new Set<string>()
  const durations: number[] = []
  let count = 1
  let hasEnded = false
  const evaluating = (async () => {
    for (; !hasEnded; await pause(2)) {
      const { result, ms } = await timed(answer)
      answers.add(JSON.stringify(result))
      durations.push(ms)
      count += 1
    }
  })()
  const end = async () => {
    hasEnded = true
    await evaluating
    expect([...answers], 'the responses to evaluations').toEqual([JSON.stringify(steady)])
    return count
  }
  return { end, takeDurations: () => durations.splice(0) }
}
