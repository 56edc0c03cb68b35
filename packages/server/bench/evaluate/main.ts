import { median } from '../../../core/bench/processes.ts'
import { contextsOf } from '../../../core/bench/workload.ts'
import { Child, serveAnswers } from './child.ts'
import { Load, type Round, type RoundSpec, type Target } from './load.ts'
import { runFloor, runService, type Samples } from './servers.ts'

/**
 * This benchmark compares `POST /evaluator/evaluate`, with a hundred flags and all features
 * enabled, with a minimal server that parses the same body and sends a response of the same size.
 * The servers run on one core, one at a time, and the load runs on another.
 */
const CONTEXTS = 4000
const ROUNDS = 21
/** The number of warm-up requests. It is large enough for all relevant code to be optimized. */
const WARM_UP_REQUESTS = 40_000
const SERVER_CORE = 0
const LOAD_CORE = 1

type Case = Omit<RoundSpec, 'port'> & { readonly name: string }

const CASES: readonly Case[] = [
  { name: '200, 64 connections', connections: 64, requests: 5000, isConditional: false },
  { name: '200, 1 connection', connections: 1, requests: 1500, isConditional: false },
  { name: '304, 64 connections', connections: 64, requests: 5000, isConditional: true },
  { name: '304, 1 connection', connections: 1, requests: 1500, isConditional: true },
]

interface Measured extends Round {
  /** The CPU time of the server in microseconds. */
  readonly cpu: number
}

interface Server {
  readonly child: Child
  readonly port: number
}

const ROLES: Readonly<Record<string, () => void | Promise<void>>> = {
  service: runService,
  floor: runFloor,
  load: runLoad,
}
await (ROLES[process.argv[2] ?? ''] ?? runBenchmark)()

function runLoad(): void {
  let load: Load | undefined
  serveAnswers({
    prepare: async (target: Target): Promise<Samples> => {
      load = await Load.prepare(target, contextsOf(CONTEXTS))
      const { port } = target
      const full = await load.sample({ port, isConditional: false })
      return { full, notModified: await load.sample({ port, isConditional: true }) }
    },
    round: (spec: RoundSpec) => load?.round(spec),
  })
}

async function runBenchmark(): Promise<void> {
  const load = await Child.start('load', LOAD_CORE)
  const service = await Child.start('service', SERVER_CORE)
  const floor = await Child.start('floor', SERVER_CORE)
  const target = await service.ask<Target>('start')
  const samples = await load.ask<Samples>('prepare', target)
  const { port } = await floor.ask<Pick<Target, 'port'>>('start', samples)
  const servers = { service: { child: service, port: target.port }, floor: { child: floor, port } }
  print(['', 'req/s', 'p50 ms', 'p99 ms', 'CPU µs', 'least', 'load CPU'])
  for (const each of CASES) await runCase(each, load, servers)
  for (const child of [load, service, floor]) await child.end()
}

async function runCase(
  { name, ...spec }: Case,
  load: Child,
  { service, floor }: { readonly service: Server; readonly floor: Server },
): Promise<void> {
  const left: Measured[] = []
  const right: Measured[] = []
  const warmUp = { ...spec, connections: 64, requests: WARM_UP_REQUESTS }
  for (const server of [service, floor]) await measure(load, server, warmUp)
  for (let round = 0; round < ROUNDS; round += 1) {
    left.push(await measure(load, service, spec))
    right.push(await measure(load, floor, spec))
  }
  print([name, ...columns(left)])
  print(['  floor', ...columns(right)])
  const ratio = (of: (measured: Measured) => number) => {
    return median(left.map((each, round) => of(each) / of(right[round] ?? each))).toFixed(2)
  }
  print([
    '  ratio',
    ratio(perSecond),
    ratio(({ p50 }) => p50),
    ratio(({ p99 }) => p99),
    ratio(cpuOfOne),
    (leastCpu(left) / leastCpu(right)).toFixed(2),
  ])
}

async function measure(load: Child, server: Server, spec: Omit<Case, 'name'>): Promise<Measured> {
  const before = await server.child.ask<number>('cpu')
  const round = await load.ask<Round>('round', { ...spec, port: server.port })
  return { ...round, cpu: (await server.child.ask<number>('cpu')) - before }
}

function columns(rounds: readonly Measured[]): string[] {
  const middle = (of: (measured: Measured) => number) => median(rounds.map(of))
  return [
    middle(perSecond).toFixed(0),
    middle(({ p50 }) => p50).toFixed(3),
    middle(({ p99 }) => p99).toFixed(3),
    middle(cpuOfOne).toFixed(1),
    leastCpu(rounds).toFixed(1),
    middle(({ cpuShare }) => cpuShare).toFixed(2),
  ]
}

function perSecond({ requests, seconds }: Measured): number {
  return requests / seconds
}

function cpuOfOne({ cpu, requests }: Measured): number {
  return cpu / requests
}

/** Returns the CPU time per request of the round with the least interference. */
function leastCpu(rounds: readonly Measured[]): number {
  return Math.min(...rounds.map(cpuOfOne))
}

function print(cells: readonly string[]): void {
  const [name = '', ...others] = cells
  process.stdout.write(`${name.padEnd(22)}${others.map((cell) => cell.padStart(10)).join('')}\n`)
}
