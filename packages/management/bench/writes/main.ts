import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { toNodeHandler } from '@ff/server/node'
import { copyStore } from '@ff/storage/backup'
import { postgres, postgresTables } from '@ff/storage/postgres'
import { sqlite, sqliteTables } from '@ff/storage/sqlite'
import { type Phase, runPhase, type Times } from './load.ts'
import { fillShop, type Shop } from './shop.ts'

// Measures the effect of management writes on evaluation: phases without writes and phases with
// many writes alternate. The server, with all its threads, runs on one core; the load on another.
// The store is a data file, or the empty database of the variable DATABASE_URL.
const { DATABASE_URL = '' } = process.env
const FLAGS = 1000
const WRITES_A_SECOND = 200
const SECONDS = 4
const ROUNDS = 7

const FILE = fileURLToPath(import.meta.url)
const [role = 'main', folder = ''] = process.argv.slice(2)
if (role === 'server') await serve()
else if (role === 'load') await load(process.argv[4] ?? '')
else await run()

async function run(): Promise<void> {
  const made = await mkdtemp(join(tmpdir(), 'ff-bench-writes-'))
  try {
    const path = join(made, 'flags.db')
    const shop = await fillShop(path, FLAGS)
    if (DATABASE_URL !== '') {
      const to = postgresTables({ url: DATABASE_URL })
      await copyStore({ from: sqliteTables({ path }), to, isActive: true })
    }
    await writeFile(join(made, 'shop.json'), JSON.stringify(shop))
    const server = start(0, ['server', made])
    const [url] = (await once(server, 'message')) as [string]
    const [code] = (await once(start(1, ['load', made, url]), 'exit')) as [number | null]
    server.kill('SIGTERM')
    process.exitCode = code ?? 1
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** Starts this file in another process that runs on one core. */
function start(core: number, parameters: readonly string[]) {
  const command = [process.execPath, ...process.execArgv, FILE, ...parameters]
  return spawn('taskset', ['-c', String(core), ...command], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

async function serve(): Promise<void> {
  const flags = createFlagServer({
    ...(DATABASE_URL === ''
      ? sqlite({ path: join(folder, 'flags.db') })
      : postgres({ url: DATABASE_URL })),
    // All writes of the load use one token.
    management: createManagement({ managementRateLimit: 1_000_000 }),
  })
  await flags.start()
  // A busy server must not close connections that are waiting for it.
  const server = createServer({ keepAliveTimeout: 600_000 }, toNodeHandler(flags))
  server.listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  process.once('SIGTERM', () => {
    const [middle, most] = [delay.percentile(50), delay.percentile(99.9)].map(toMillis)
    console.log(`event loop delay of the server: p50 ${middle} ms, p99.9 ${most} ms`)
    void flags.close().then(() => process.exit(0))
  })
}

const toMillis = (nanos: number) => (nanos / 1e6).toFixed(1)

async function load(url: string): Promise<void> {
  const shop = JSON.parse(await readFile(join(folder, 'shop.json'), 'utf8')) as Shop
  const quiet: Phase[] = []
  const busy: Phase[] = []
  await runPhase(url, shop, { seconds: SECONDS, writesASecond: WRITES_A_SECOND })
  for (let round = 0; round < ROUNDS; round += 1) {
    quiet.push(await runPhase(url, shop, { seconds: SECONDS, writesASecond: 0 }))
    busy.push(await runPhase(url, shop, { seconds: SECONDS, writesASecond: WRITES_A_SECOND }))
  }
  const middle = (phases: readonly Phase[], read: (phase: Phase) => number) =>
    percentile(
      [...phases.map(read)].sort((a, b) => a - b),
      0.5,
    )
  const times = (phases: readonly Phase[], part: 'evaluations' | 'writes') =>
    [0.5, 0.99].map((share) => middle(phases, (phase) => percentile(phase[part], share)))
  const [quiet50 = 0, quiet99 = 0] = times(quiet, 'evaluations')
  const [busy50 = 0, busy99 = 0] = times(busy, 'evaluations')
  const [write50 = 0, write99 = 0] = times(busy, 'writes')
  const rate = middle(busy, ({ writesASecond }) => writesASecond)
  console.log(
    `${FLAGS} flags, ${DATABASE_URL === '' ? 'SQLite' : 'PostgreSQL'}; medians of ${ROUNDS} rounds of ${SECONDS} s, in ms`,
  )
  console.table({
    'evaluate, without writes': row(quiet50, quiet99),
    'evaluate, with writes': row(busy50, busy99),
    ratio: row(busy50 / quiet50, busy99 / quiet99),
    write: row(write50, write99),
  })
  console.log(`${rate.toFixed(0)} writes per second, of ${WRITES_A_SECOND} requested`)
  process.exit(0)
}

function row(p50: number, p99: number) {
  return { p50: Number(p50.toFixed(2)), p99: Number(p99.toFixed(2)) }
}

function percentile(ascending: Times, share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0
}
