/** One thing that is measured beside others. */
export interface Case {
  readonly name: string
  /** How often it is called in a round; what takes long is called less often. */
  readonly calls: number
  call(turn: number): unknown
}

/** Nanoseconds a call, by the name of the case. */
export type Times = Readonly<Record<string, number>>

const WARM_UP = 30
/** Keeps results from being optimised away. */
let sink: unknown

/** The median of each case. All take turns in every round, so that noise hits all alike. */
export async function compare(rounds: number, cases: readonly Case[]): Promise<Times> {
  for (const each of cases) await timeOf(each, 0, each.calls * WARM_UP)
  const times = cases.map((): number[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, each] of cases.entries()) {
      times[index]?.push(await timeOf(each, round * each.calls, each.calls))
    }
  }
  return Object.fromEntries(cases.map(({ name }, index) => [name, median(times[index] ?? [])]))
}

export function median(numbers: readonly number[]): number {
  return [...numbers].sort((left, right) => left - right)[numbers.length >> 1] ?? 0
}

async function timeOf(each: Case, first: number, calls: number): Promise<number> {
  const start = process.hrtime.bigint()
  sink = each.call(first)
  // Only what answers later is waited for: waiting takes longer than some evaluations.
  if (sink instanceof Promise) await awaitCalls(each, first, calls)
  else makeCalls(each, first, calls)
  return Number(process.hrtime.bigint() - start) / calls
}

function makeCalls(each: Case, first: number, calls: number): void {
  for (let turn = first + 1; turn < first + calls; turn += 1) sink = each.call(turn)
}

async function awaitCalls(each: Case, first: number, calls: number): Promise<void> {
  await sink
  for (let turn = first + 1; turn < first + calls; turn += 1) sink = await each.call(turn)
}
