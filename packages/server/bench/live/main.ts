import { type ChildProcess, spawn } from 'node:child_process'
import { beClients } from './clients.ts'
import { type Answer, answerOf, ask, pause } from './messages.ts'
import { serve } from './server.ts'

const CLIENTS = [1000, 5000, 10_000]
const ROUNDS = 15
const WARM_UP = 3
const BETWEEN_ROUNDS_MS = 500

const [role, kind = '', port = ''] = process.argv.slice(2)
if (role === 'server') await serve(kind)
else if (role === 'clients') await beClients(kind, Number(port))
else {
  await compare({ transport: 'sockets', floor: 'sockets' })
  await compare({ transport: 'polls', floor: 'requests' })
  await compareStreams()
}

interface Comparison {
  readonly transport: string
  readonly floor: string
}

/** A server process and its client process. */
interface Party {
  readonly server: ChildProcess
  readonly clients: ChildProcess
  /** The memory of the server without clients. */
  readonly idle: Answer
}

/**
 * Prints the time until the last client has received a change, and the cost of clients, for the
 * flag server and the minimal server.
 */
async function compare({ transport, floor }: Comparison): Promise<void> {
  const parties = [await start(floor, transport), await start('flags', transport)]
  for (const count of CLIENTS) {
    const memory: Answer[] = []
    for (const party of parties) {
      await ask(party.clients, 'open', count)
      await untilPending(party, transport, count)
      memory.push(await ask(party.server, 'memory'))
    }
    reportMemory(`${count} ${transport}`, parties, memory, count)
    const rounds: Answer[][] = parties.map(() => [])
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      for (const [index, party] of parties.entries()) {
        const result = await runRound(party, transport, count)
        if (round >= 0) rounds[index]?.push(result)
      }
    }
    reportRounds(`${count} ${transport}`, rounds)
  }
  for (const { server, clients } of parties) {
    clients.disconnect()
    server.disconnect()
  }
}

/** Prints the memory of event streams, for the number of sockets as the floor. */
async function compareStreams(): Promise<void> {
  const parties = [await start('flags', 'sockets'), await start('flags', 'streams')]
  for (const count of CLIENTS) {
    const memory: Answer[] = []
    for (const { server, clients } of parties) {
      await ask(clients, 'open', count)
      memory.push(await ask(server, 'memory'))
    }
    reportMemory(`${count} event streams, compared with our sockets`, parties, memory, count)
  }
  for (const { server, clients } of parties) {
    clients.disconnect()
    server.disconnect()
  }
}

async function start(kind: string, transport: string): Promise<Party> {
  const server = await startOn(0, 'server', kind)
  const { port } = await ask(server, 'port')
  const clients = await startOn(1, 'clients', transport, String(port))
  return { server, clients, idle: await ask(server, 'memory') }
}

/**
 * Runs this file in another process, on one processor and with the maximum number of open files.
 */
async function startOn(processor: number, ...role: readonly string[]): Promise<ChildProcess> {
  const [, file = ''] = process.argv
  const script = `ulimit -n $(ulimit -Hn); exec taskset -c ${processor} "$@"`
  const program = [process.execPath, '--expose-gc', file, ...role]
  const child = spawn('bash', ['-c', script, 'bash', ...program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await answerOf(child)
  return child
}

async function untilPending({ server }: Party, transport: string, count: number): Promise<void> {
  if (transport !== 'polls') return
  while (((await ask(server, 'pending'))['pending'] ?? 0) < count) await pause(50)
}

async function runRound(party: Party, transport: string, count: number): Promise<Answer> {
  const { server, clients } = party
  // Changes that follow each other immediately would be loaded together, with a delay.
  await pause(BETWEEN_ROUNDS_MS)
  const heard = ask(clients, 'hear', count)
  const { startedAt = 0 } = await ask(server, 'change')
  const { lastAt = 0 } = await heard
  const cost = await ask(server, 'cost')
  if (transport === 'polls') await ask(clients, 'again')
  await untilPending(party, transport, count)
  return { ms: lastAt - startedAt, ...cost }
}

function reportRounds(title: string, [floor = [], flags = []]: readonly Answer[][]): void {
  const [floorMs, ms] = [medianOf(floor, 'ms'), medianOf(flags, 'ms')]
  const [floorCpu, cpu] = [medianOf(floor, 'cpuMs'), medianOf(flags, 'cpuMs')]
  print(`${title}: change to last client`, [
    `floor ${floorMs.toFixed(1)} ms, flags ${ms.toFixed(1)} ms: ${(ms / floorMs).toFixed(2)}x`,
    `server cpu ${floorCpu.toFixed(0)} and ${cpu.toFixed(0)} ms: ${(cpu / floorCpu).toFixed(2)}x`,
    `longest block ${medianOf(floor, 'blockedMs').toFixed(0)} and ${medianOf(flags, 'blockedMs').toFixed(0)} ms`,
  ])
}

function reportMemory(
  title: string,
  parties: readonly Party[],
  used: readonly Answer[],
  count: number,
): void {
  const kilobytes = (name: string) =>
    parties.map(({ idle }, index) => {
      return ((used[index]?.[name] ?? 0) - (idle[name] ?? 0)) / count / 1024
    })
  const lines = ['rss', 'heap'].map((name) => {
    const [floor = 0, flags = 0] = kilobytes(name)
    return `${name}: floor ${floor.toFixed(2)}, flags ${flags.toFixed(2)}: ${(flags / floor).toFixed(2)}x`
  })
  print(`${title}: KiB each`, lines)
}

function print(title: string, lines: readonly string[]): void {
  process.stdout.write(`${title}\n${lines.map((line) => `  ${line}\n`).join('')}`)
}

function medianOf(answers: readonly Answer[], name: string): number {
  const sorted = answers.map((answer) => answer[name] ?? 0).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
