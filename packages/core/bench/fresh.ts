import { evaluateAll, valuesOf } from '../src/all-flags.ts'
import { compileFlagSet, evaluateValue } from '../src/index.ts'
import { changed, compileForAll } from './cases.ts'
import { startClock } from './clock.ts'
import { median } from './processes.ts'
import { manyFlags, NOW, oneFlag, userAt } from './workload.ts'

// Measurements that need a fresh process. They return a ratio of times, or bytes.

type Call = (turn: number) => unknown

let sink: unknown

/**
 * Returns the time of 1,000 calls for one flag after 20,000 calls, relative to the steady state.
 */
export function warmUpOne(): number {
  return warmUp(oneCall(), { before: 20_000, calls: 1000, steadyAfter: 1_000_000 })
}

/** Returns the time of the calls 101 to 200 for 100 flags, relative to the steady state. */
export function warmUpHundred(): number {
  return warmUp(hundredCall(), { before: 100, calls: 100, steadyAfter: 20_000 })
}

/** Returns the bytes of garbage per call, for the value of one flag. */
export function garbageOne(): number {
  return garbage(oneCall(), 200_000)
}

/** Returns the bytes of garbage per flag, for the values of 100 flags. */
export function garbageHundred(): number {
  return garbage(hundredCall(), 5000) / 100
}

/** Returns the time for the values of 100 flags after 20 changes, relative to the time before. */
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

/** Returns the bytes of a compiled set of 1,000 flags, without its definition. */
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
  // The warm-up has rounds like the measurement, because V8 compiles one long loop differently.
  for (let calls = 0; calls < times.before; calls += times.calls) run(call, times.calls)
  const early = timeOf(call, times.calls)
  run(call, times.steadyAfter)
  return early / steadyTime(call, times.calls)
}

/**
 * Returns the median bytes of garbage per call. Requires a process with a young generation that is
 * large enough for all garbage.
 */
function garbage(call: Call, calls: number): number {
  run(call, calls * 5)
  // The median excludes the first rounds, in which V8 still compiles and creates other garbage.
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
  if (typeof collect !== 'function') throw new Error('Node must be started with --expose-gc')
  collect()
}
