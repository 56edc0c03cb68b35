import { evaluateAll, valuesOf } from '../src/all-flags.ts'
import { compileFlagSet, evaluateValue } from '../src/index.ts'
import { changed, compileForAll } from './cases.ts'
import { startClock } from './clock.ts'
import { median } from './processes.ts'
import { manyFlags, NOW, oneFlag, userAt } from './workload.ts'

/** What is measured once in a process: how many times longer calls take then, or bytes. */

type Call = (turn: number) => unknown

let sink: unknown

/** One flag, a thousand calls after the first twenty thousand. */
export function warmUpOne(): number {
  return warmUp(oneCall(), { before: 20_000, calls: 1000, steadyAfter: 1_000_000 })
}

/** All of 100 flags, the second hundred of calls. */
export function warmUpHundred(): number {
  return warmUp(hundredCall(), { before: 100, calls: 100, steadyAfter: 20_000 })
}

/** Bytes a call. */
export function garbageOne(): number {
  return garbage(oneCall(), 200_000)
}

/** Bytes a flag, of all values of 100 flags. */
export function garbageHundred(): number {
  return garbage(hundredCall(), 5000) / 100
}

/** All of 100 flags in a process that has seen them change twenty times, beside none. */
export function afterChanges(): number {
  let definition = manyFlags(100)
  let flagSet = compileFlagSet(definition)
  const call = (turn: number) => valuesOf(evaluateAll(flagSet, userAt(turn), NOW))
  run(call, 20_000)
  const before = steadyTime(call, 100)
  for (let change = 0; change < 20; change += 1) {
    definition = changed(definition, change)
    flagSet = compileFlagSet(definition, { previous: flagSet })
    run(call, 1000)
  }
  run(call, 20_000)
  return steadyTime(call, 100) / before
}

/** The bytes that a compiled set of 1,000 flags keeps, its definition apart. */
export function heap(): number {
  const definition = manyFlags(1000)
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  sink = compileForAll(definition)
  collectGarbage()
  const bytes = process.memoryUsage().heapUsed - before
  sink = [sink, definition]
  return bytes
}

function oneCall(): Call {
  const flagSet = compileFlagSet(oneFlag())
  return (turn) => evaluateValue(flagSet, 'feature-0', userAt(turn), NOW)
}

function hundredCall(): Call {
  const flagSet = compileFlagSet(manyFlags(100))
  return (turn) => valuesOf(evaluateAll(flagSet, userAt(turn), NOW))
}

function warmUp(
  call: Call,
  times: { readonly before: number; readonly calls: number; readonly steadyAfter: number },
): number {
  // In rounds like the one that is timed, for an engine compiles one long loop in another way.
  for (let calls = 0; calls < times.before; calls += times.calls) run(call, times.calls)
  const early = timeOf(call, times.calls)
  run(call, times.steadyAfter)
  return early / steadyTime(call, times.calls)
}

/** In a process whose young generation holds everything until it is counted. */
function garbage(call: Call, calls: number): number {
  run(call, calls * 5)
  // In the first ones the engine still compiles, which leaves garbage that is not of a call.
  const rounds = Array.from({ length: 25 }, () => {
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    run(call, calls)
    return (process.memoryUsage().heapUsed - before) / calls
  })
  return median(rounds)
}

function steadyTime(call: Call, calls: number): number {
  return median(Array.from({ length: 101 }, () => timeOf(call, calls)))
}

function timeOf(call: Call, calls: number): number {
  const elapsed = startClock()
  run(call, calls)
  return elapsed() / calls
}

function run(call: Call, calls: number): void {
  for (let turn = 0; turn < calls; turn += 1) sink = call(turn)
}

function collectGarbage(): void {
  const collect: unknown = Reflect.get(globalThis, 'gc')
  if (typeof collect !== 'function') throw new Error('run with --expose-gc')
  collect()
}
