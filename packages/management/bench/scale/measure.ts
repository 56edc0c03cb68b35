import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sqlite } from '@ff/storage/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { atRate } from '../at-rate.ts'
import { evaluate, evaluateNew, percentile } from './load.ts'
import { cpuOf, memoryOf, startServer } from './server.ts'
import { type Environment, fillStore, type Size } from './store.ts'

// Measures what one process of the standalone server carries, with data files of many environments.
// The server and the load are two processes, which share the cores of the machine.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string' },
    environments: { type: 'string', default: '600' },
    flags: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '60' },
    'heap-mb': { type: 'string' },
  },
})
const size: Size = { environments: Number(values.environments), flags: Number(values.flags) }
const seconds = Number(values.seconds)
const nodeArguments =
  values['heap-mb'] === undefined ? [] : [`--max-old-space-size=${values['heap-mb']}`]

const MEASUREMENTS = { first: measureFirst, counts: measureCounts, contexts: measureContexts, idle }
type Name = keyof typeof MEASUREMENTS

/** A copy of the store, which one measurement changes. */
interface Store {
  readonly folder: string
  readonly environments: readonly Environment[]
}

const named = positionals.length > 0 ? positionals : Object.keys(MEASUREMENTS)
const filled = await filledStore()
for (const name of named) {
  const measure = MEASUREMENTS[name as Name]
  if (measure === undefined) throw new Error(`Unknown measurement: ${name}`)
  const folder = await mkdtemp(join(tmpdir(), 'ff-scale-run-'))
  try {
    await cp(filled.folder, folder, { recursive: true })
    const row = await measure({ ...filled, folder })
    console.log(`${name}, ${size.environments} environments of ${size.flags} flags`)
    console.table(row)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Creates the store, unless an earlier run has left it in the same folder. */
async function filledStore(): Promise<Store> {
  const root = values.folder ?? join(tmpdir(), 'ff-scale')
  const folder = join(root, `${size.environments}x${size.flags}`)
  const list = join(folder, 'environments.json')
  if (!existsSync(list)) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    const environments = await fillStore(dataFileIn(folder), size)
    await writeFile(list, JSON.stringify(environments))
  }
  return { folder, environments: JSON.parse(await readFile(list, 'utf8')) as Environment[] }
}

/** The first request of each environment, one after another, and the memory after all of them. */
async function measureFirst({ folder, environments }: Store) {
  const server = await startServer(folder, nodeArguments)
  const times: number[] = []
  for (const [turn, environment] of environments.entries()) {
    times.push(await evaluate(server.url, environment, turn))
  }
  const memoryMb = await memoryOf(server)
  await server.stop()
  return {
    'store, MB': mega((await stat(dataFileIn(folder))).size),
    'ready after, ms': rounded(server.readyAfterMs),
    'first request p50, ms': rounded(percentile(times, 0.5)),
    'first request p99, ms': rounded(percentile(times, 0.99)),
    'memory after, MB': rounded(memoryMb),
  }
}

/** Evaluations at the rate of one request per second and environment, and what is stored of them. */
async function measureCounts({ folder, environments }: Store) {
  const server = await startServer(folder, nodeArguments)
  const aSecond = Math.max(100, environments.length)
  const before = await cpuOf(server)
  const times = await atRate({ aSecond, seconds }, (turn) =>
    evaluate(server.url, environmentAt(environments, turn), turn),
  )
  const cpuMs = (await cpuOf(server)) - before
  const stopping = performance.now()
  const code = await server.stop()
  const stopMs = performance.now() - stopping
  if (code !== 0) throw new Error(`The server ended with ${code}.`)
  const stored = await storedUsage({ folder, environments })
  const evaluated = times.length * size.flags
  return {
    'requests per second': aSecond,
    'request p99, ms': rounded(percentile(times, 0.99)),
    'CPU of the server, %': rounded((100 * cpuMs) / (1000 * seconds)),
    'stopped after, ms': rounded(stopMs),
    'not counted, %': rounded(100 * (1 - stored.evaluations / evaluated)),
    'flags without a time of their last evaluation': stored.unmarked,
  }
}

/** New contexts of one environment at 90 per second, their CPU time and their disk space. */
async function measureContexts({ folder, environments }: Store) {
  const aSecond = 90
  const count = 1500
  const one = environmentAt(environments, 0)
  const cpuWith = async (work: (url: string, turn: number) => Promise<number>) => {
    const server = await startServer(folder, nodeArguments)
    await evaluate(server.url, one, 0)
    const before = await cpuOf(server)
    await atRate({ aSecond, seconds: count / aSecond }, (turn) => work(server.url, turn))
    await new Promise((resolve) => setTimeout(resolve, 2000))
    const cpuMs = (await cpuOf(server)) - before
    await server.stop()
    return cpuMs
  }
  const knownMs = await cpuWith((url) => evaluate(url, one, 0))
  const [bytes, contextBytes] = spaceIn(dataFileIn(folder))
  const newMs = await cpuWith((url, turn) => evaluateNew(url, one, turn))
  const [bytesAfter, contextBytesAfter] = spaceIn(dataFileIn(folder))
  return {
    contexts: count,
    'disk for contexts, MB': mega(contextBytesAfter - contextBytes),
    'disk in all, MB': mega(bytesAfter - bytes),
    'CPU for a context, ms': rounded((newMs - knownMs) / count),
  }
}

/** Returns the bytes of the pages of all tables, and of observed contexts with their indexes. */
function spaceIn(file: string): readonly [all: number, contexts: number] {
  const database = new DatabaseSync(file)
  database.exec('create virtual table temp.space using dbstat(main)')
  const sum = (where: string) => {
    const row = database.prepare(`select sum(pgsize) as bytes from temp.space ${where}`).get()
    return Number((row as { readonly bytes: number }).bytes)
  }
  const bytes = [sum(''), sum("where name like '%ff_observed_context%'")] as const
  database.close()
  return bytes
}

/** The CPU time of a server that has loaded all environments and receives no requests. */
async function idle({ folder, environments }: Store) {
  const server = await startServer(folder, nodeArguments)
  for (const [turn, environment] of environments.entries()) {
    await evaluate(server.url, environment, turn)
  }
  // The usage of the first requests is written within a minute.
  await new Promise((resolve) => setTimeout(resolve, 70_000))
  const before = await cpuOf(server)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  const cpuMs = (await cpuOf(server)) - before
  await server.stop()
  return { 'CPU while idle, %': rounded((100 * cpuMs) / (1000 * seconds)) }
}

/** Returns the stored number of evaluations, and the flags that were never evaluated. */
async function storedUsage({ folder, environments }: Store) {
  const { storage } = sqlite({ path: dataFileIn(folder) })
  await storage.migrate()
  const range = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }
  let evaluations = 0
  const unmarked = new Set<string>()
  for (const { id: environmentId, projectId } of environments) {
    const { data } = await storage.list('flag', { where: { projectId } })
    for (const { id: flagId, lastEvaluatedAt } of data) {
      if (lastEvaluatedAt === null) unmarked.add(flagId)
      const totals = await storage.loadEvaluationCounts({ environmentId, flagId, ...range })
      for (const { count } of totals) evaluations += count
    }
  }
  await storage.close()
  return { evaluations, unmarked: unmarked.size }
}

function environmentAt(environments: readonly Environment[], turn: number): Environment {
  const environment = environments[turn % environments.length]
  if (environment === undefined) throw new Error('The store has no environments.')
  return environment
}

function dataFileIn(folder: string): string {
  return join(folder, 'ff.sqlite')
}

function mega(bytes: number): number {
  return rounded(bytes / 1e6)
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
