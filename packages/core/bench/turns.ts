import { type Case, caseOf } from './cases.ts'
import { startClock } from './clock.ts'

const WARM_UP = 30
/** Prevents V8 from removing unused results. */
let sink: unknown

/** Runs in the process of a case. Responds to each message with the time of one round. */
export async function takeTurns(name: string): Promise<void> {
  const each = await caseOf(name)
  await timeOf(each, 0, each.calls * WARM_UP)
  process.on('message', async (round: number) => {
    process.send?.(await timeOf(each, round * each.calls, each.calls))
  })
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
}

/** Returns the nanoseconds per call. */
async function timeOf(each: Case, first: number, calls: number): Promise<number> {
  const elapsed = startClock()
  sink = each.call(first)
  // `await` is used only for promises, because it takes longer than some evaluations.
  if (sink instanceof Promise) await awaitCalls(each, first, calls)
  else makeCalls(each, first, calls)
  return elapsed() / calls
}

function makeCalls(each: Case, first: number, calls: number): void {
  for (let turn = first + 1; turn < first + calls; turn += 1) sink = each.call(turn)
}

async function awaitCalls(each: Case, first: number, calls: number): Promise<void> {
  await sink
  for (let turn = first + 1; turn < first + calls; turn += 1) sink = await each.call(turn)
}
