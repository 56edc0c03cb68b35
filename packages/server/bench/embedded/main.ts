import { compileFlagSet, type EvaluationContext, evaluateFlag, evaluateValue } from '@ff/core'
import { evaluateAll, valuesOf } from '@ff/core/all-flags'
import { re2 } from '@ff/core/regex'
import { type DefinitionChange, memory } from '@ff/storage'
import { contextAt, mixedFlags } from '../../../core/bench/mixed.ts'
import { median } from '../../../core/bench/processes.ts'
import { createFlagServer } from '../../src/flag-server.ts'
import { flagChange, OCCASION, seed } from '../../test/seed.ts'

/**
 * This benchmark compares evaluations by the server in an application (`value`, `detail` and `all`),
 * which are also counted, with the engine alone. The flags are 100 flags of the mixed workload. Each
 * context is a new object, as in an application that creates it for each request.
 */
const FLAGS = 100
const ROUNDS = 21

type Evaluate = (flagKey: string, context: EvaluationContext) => Promise<unknown>

const ENVIRONMENT = { project: 'shop', environment: 'live' } as const

const definition = mixedFlags(FLAGS)
const flagSet = compileFlagSet(definition, { extensions: { regex: re2 } })
const keys = definition.flags.map(({ key }) => key)
const server = await startServer()

const CASES: Readonly<Record<string, readonly [calls: number, ours: Evaluate, floor: Evaluate]>> = {
  value: [
    100_000,
    (key, context) => server.value(ENVIRONMENT, key, context, null),
    async (key, context) => evaluateValue(flagSet, key, context, Date.now()),
  ],
  detail: [
    100_000,
    (key, context) => server.detail(ENVIRONMENT, key, context, null),
    async (key, context) => evaluateFlag(flagSet, key, context, Date.now()),
  ],
  all: [
    20_000,
    (_key, context) => server.all(ENVIRONMENT, context),
    async (_key, context) => valuesOf(evaluateAll(flagSet, context, Date.now())),
  ],
}

print(['', 'ours ns', 'floor ns', 'ratio', 'range'])
for (const [name, [calls, ours, floor]] of Object.entries(CASES)) {
  for (let turn = 0; turn < 3; turn += 1) await check(ours, floor, turn)
  const times: { readonly ours: number; readonly floor: number }[] = []
  for (let round = 0; round < ROUNDS + 2; round += 1) {
    times.push({ ours: await timeOf(ours, calls), floor: await timeOf(floor, calls) })
  }
  const measured = times.slice(2)
  const ratios = measured.map((each) => each.ours / each.floor).sort((a, b) => a - b)
  print([
    name,
    median(measured.map((each) => each.ours)).toFixed(0),
    median(measured.map((each) => each.floor)).toFixed(0),
    median(ratios).toFixed(2),
    `${ratios[0]?.toFixed(2)}–${ratios.at(-1)?.toFixed(2)}`,
  ])
}
await server.close()

async function startServer() {
  const { storage, changeFeed } = memory()
  const { live } = await seed(storage)
  const { flags, segments } = definition
  const changes: DefinitionChange[] = [
    ...segments.map((definition) => ({ kind: 'segment', id: definition.id, definition }) as const),
    ...flags.map(flagChange),
  ]
  await storage.publish(live.environmentId, changes, OCCASION)
  return createFlagServer({ storage, changeFeed })
}

/** Compares the answers of both for all flags of a context. */
async function check(ours: Evaluate, floor: Evaluate, turn: number): Promise<void> {
  for (const key of keys) {
    const context = contextAt(turn)
    const [left, right] = [await ours(key, context), await floor(key, context)]
    if (JSON.stringify(left) === JSON.stringify(right)) continue
    throw new Error(`${key}: ${JSON.stringify(left)} instead of ${JSON.stringify(right)}`)
  }
}

/** Returns the nanoseconds per call. */
async function timeOf(evaluate: Evaluate, calls: number): Promise<number> {
  const start = process.hrtime.bigint()
  for (let turn = 0; turn < calls; turn += 1) {
    const key = keys[turn % keys.length] ?? ''
    await evaluate(key, { ...contextAt(turn) } as EvaluationContext)
  }
  return Number(process.hrtime.bigint() - start) / calls
}

function print(cells: readonly string[]): void {
  const [name = '', ...others] = cells
  process.stdout.write(`${name.padEnd(10)}${others.map((cell) => cell.padStart(14)).join('')}\n`)
}
