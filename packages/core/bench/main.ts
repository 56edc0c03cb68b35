import {
  compileFlagSet,
  evaluateAll,
  evaluateValue,
  type FlagValues,
  jsonOf,
  valuesOf,
} from '../src/index.ts'
import { floorOf } from './floor.ts'
import { contextsOf, manyFlags, NOW, oneFlag, oneSegment } from './workload.ts'

/** What is measured, by its name in the table. */
type Cases = Readonly<Record<string, (turn: number) => unknown>>

const CONTEXTS = contextsOf(1000)
const ROUNDS = 200
/** Keeps results from being optimised away. */
let sink: unknown

const contextAt = (turn: number) => CONTEXTS[turn % CONTEXTS.length] ?? {}
const w1 = compileFlagSet(oneFlag())
const w2 = compileFlagSet(manyFlags(100))
const w3Definition = manyFlags(1000)
const w3 = compileFlagSet(w3Definition)
const w4 = compileFlagSet(oneSegment(CONTEXTS, 10_000))
const floor1 = floorOf(oneFlag())
const floor2 = floorOf(manyFlags(100))

for (const context of CONTEXTS) {
  assertSame(valuesOf(evaluateAll(w1, context, NOW)), floor1(context))
  assertSame(valuesOf(evaluateAll(w2, context, NOW)), floor2(context))
}

const key = 'feature-0'
const one = compare(
  { callsARound: 3000, rounds: ROUNDS },
  {
    'W1 floor': (turn) => floor1(at(turn)),
    'W1 one flag': (turn) => evaluateValue(w1, key, contextAt(turn), NOW),
    'W4 one flag, segment of 10,000 keys': (turn) => evaluateValue(w4, key, contextAt(turn), NOW),
  },
)
const hundred = compare(
  { callsARound: 100, rounds: ROUNDS },
  {
    'W2 floor': (turn) => floor2(at(turn)),
    'W2 100 flags, values': (turn) => valuesOf(evaluateAll(w2, contextAt(turn), NOW)),
    // Reading a character makes the engine put the pieces together.
    'W2 100 flags, JSON': (turn) => jsonOf(evaluateAll(w2, contextAt(turn), NOW)).charCodeAt(0),
  },
)
const thousand = compare(
  { callsARound: 20, rounds: ROUNDS },
  {
    'W3 1,000 flags, values': (turn) => valuesOf(evaluateAll(w3, contextAt(turn), NOW)),
  },
)
const changed = {
  ...w3Definition,
  version: 2,
  flags: w3Definition.flags.map((flag, index) => {
    return index === 500 ? { ...flag, rules: flag.rules.slice(1) } : flag
  }),
}
const compiling = compare(
  { callsARound: 1, rounds: 25 },
  {
    'W3 compile': () => compileFlagSet(w3Definition),
    'W3 compile after one change': () => compileFlagSet(changed, { previous: w3 }),
  },
)

print({ ...one, ...hundred, ...thousand, ...compiling })
ratio('W2 values : floor (at most 0.7)', hundred['W2 100 flags, values'], hundred['W2 floor'])
ratio('W2 JSON : floor (at most 1.5)', hundred['W2 100 flags, JSON'], hundred['W2 floor'])
ratio('W4 : W1 (at most 2)', one['W4 one flag, segment of 10,000 keys'], one['W1 one flag'])
ratio('compile : after one change (at least 20)', ...compileTimes())
printHeap()

function compileTimes(): [number | undefined, number | undefined] {
  return [compiling['W3 compile'], compiling['W3 compile after one change']]
}

function at(turn: number) {
  const context = CONTEXTS[turn % CONTEXTS.length]
  if (context === undefined) throw new Error('no contexts')
  return context
}

/** The median of each case in nanoseconds a call, measured in turns so that noise hits all alike. */
function compare(
  { callsARound, rounds }: { readonly callsARound: number; readonly rounds: number },
  cases: Cases,
): Record<string, number> {
  const times = new Map<string, number[]>()
  for (const [name, call] of Object.entries(cases)) {
    for (let turn = 0; turn < callsARound * 30; turn += 1) sink = call(turn)
    times.set(name, [])
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, call] of Object.entries(cases)) {
      const first = round * callsARound
      const startedAt = process.hrtime.bigint()
      for (let turn = 0; turn < callsARound; turn += 1) sink = call(first + turn)
      times.get(name)?.push(Number(process.hrtime.bigint() - startedAt) / callsARound)
    }
  }
  return Object.fromEntries([...times].map(([name, each]) => [name, median(each)]))
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((left, right) => left - right)[numbers.length >> 1] ?? 0
}

function assertSame(values: FlagValues, expected: Readonly<Record<string, unknown>>): void {
  for (const flagKey of Object.keys(values)) {
    if (values[flagKey] !== expected[flagKey]) {
      throw new Error(`the engine and the floor do not agree on ${flagKey}`)
    }
  }
}

function print(medians: Readonly<Record<string, number>>): void {
  for (const [name, time] of Object.entries(medians)) {
    process.stdout.write(`${name.padEnd(40)} ${Math.round(time).toLocaleString('en')} ns\n`)
  }
}

function ratio(name: string, time: number | undefined, other: number | undefined): void {
  process.stdout.write(`${name.padEnd(40)} ${((time ?? 0) / (other ?? 1)).toFixed(2)}\n`)
}

/** What a compiled set of 1,000 flags keeps, its definition apart. */
function printHeap(): void {
  const collect: unknown = Reflect.get(globalThis, 'gc')
  if (typeof collect !== 'function') return
  const definition = manyFlags(1000)
  collect()
  const before = process.memoryUsage().heapUsed
  sink = compileFlagSet(definition)
  collect()
  const megabytes = (process.memoryUsage().heapUsed - before) / 2 ** 20
  process.stdout.write(`${'W3 heap (below 8 MB)'.padEnd(40)} ${megabytes.toFixed(1)} MB\n`)
  sink = definition
  if (sink === undefined) throw new Error('unreachable')
}
