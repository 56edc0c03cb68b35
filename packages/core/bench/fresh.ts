import { compileFlagSet, evaluateAll, evaluateValue, valuesOf } from '../src/index.ts'
import { median } from './measure.ts'
import { contextsOf, manyFlags, NOW, oneFlag } from './workload.ts'

/**
 * What can be measured only once in a process, by its name on the command line. Prints one number:
 * how many times longer a call takes at first, or bytes.
 */
const TASKS: Readonly<Record<string, () => number>> = {
  'warm-up-one': () => warmUp(oneCall(), { before: 20_000, calls: 1000, steadyAfter: 1_000_000 }),
  'warm-up-hundred': () => warmUp(hundredCall(), { before: 100, calls: 100, steadyAfter: 20_000 }),
  'garbage-one': () => garbage(oneCall(), 200_000),
  'garbage-hundred': () => garbage(hundredCall(), 5000),
  heap,
}

let sink: unknown

const task = TASKS[process.argv[2] ?? '']
if (task === undefined) throw new Error(`there are only ${Object.keys(TASKS).join(', ')}`)
process.stdout.write(`${task()}\n`)

type Call = (turn: number) => unknown

function oneCall(): Call {
  const users = contextsOf(1000)
  const flagSet = compileFlagSet(oneFlag())
  return (turn) => evaluateValue(flagSet, 'feature-0', users[turn % users.length] ?? {}, NOW)
}

function hundredCall(): Call {
  const users = contextsOf(1000)
  const flagSet = compileFlagSet(manyFlags(100))
  return (turn) => valuesOf(evaluateAll(flagSet, users[turn % users.length] ?? {}, NOW))
}

function warmUp(
  call: Call,
  times: { readonly before: number; readonly calls: number; readonly steadyAfter: number },
): number {
  run(call, times.before)
  const early = timeOf(call, times.calls)
  run(call, times.steadyAfter)
  const steady = Array.from({ length: 101 }, () => timeOf(call, times.calls))
  return early / median(steady)
}

/** Bytes a call, in a process whose young generation holds them all until they are counted. */
function garbage(call: Call, calls: number): number {
  run(call, calls * 5)
  const rounds = Array.from({ length: 9 }, () => {
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    run(call, calls)
    return (process.memoryUsage().heapUsed - before) / calls
  })
  return median(rounds)
}

/** What a compiled set of 1,000 flags keeps, its definition apart. */
function heap(): number {
  const definition = manyFlags(1000)
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  sink = compileFlagSet(definition)
  collectGarbage()
  const bytes = process.memoryUsage().heapUsed - before
  sink = [sink, definition]
  return bytes
}

function timeOf(call: Call, calls: number): number {
  const start = process.hrtime.bigint()
  run(call, calls)
  return Number(process.hrtime.bigint() - start) / calls
}

function run(call: Call, calls: number): void {
  for (let turn = 0; turn < calls; turn += 1) sink = call(turn)
}

function collectGarbage(): void {
  const collect: unknown = Reflect.get(globalThis, 'gc')
  if (typeof collect !== 'function') throw new Error('run with --expose-gc')
  collect()
}
