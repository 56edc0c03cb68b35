import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(
  new URL('../../../../examples/standalone/dist/main.js', import.meta.url),
)
const PORT = 38_471
const READY_WITHIN_MS = 60_000
/** The unit of the CPU times of a process, in milliseconds. */
const TICK_MS = 10

/** The standalone server in a process of its own. */
export interface RunningServer {
  readonly url: string
  readonly pid: number
  /** Milliseconds from the start of the process until it was ready. */
  readonly readyAfterMs: number
  /** Stops the server and resolves with its exit code. */
  stop(): Promise<number | null>
}

/** Starts the standalone server with a data folder and these arguments of Node. */
export async function startServer(
  folder: string,
  nodeArguments: readonly string[],
): Promise<RunningServer> {
  const begun = performance.now()
  const server = spawn(process.execPath, [...nodeArguments, PROGRAM], {
    env: {
      ...process.env,
      ...{ FF_DATA_DIR: folder, PORT: String(PORT), HOST: '127.0.0.1' },
      ...{ FF_LOG_LEVEL: 'error' },
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  process.once('exit', () => server.kill())
  const url = `http://127.0.0.1:${PORT}`
  await untilReady(url, server)
  const ended = once(server, 'exit') as Promise<[number | null]>
  return {
    ...{ url, pid: server.pid ?? 0, readyAfterMs: performance.now() - begun },
    async stop() {
      server.kill('SIGTERM')
      const [code] = await ended
      return code
    },
  }
}

/** Returns the resident memory of a process in MB. */
export async function memoryOf({ pid }: Pick<RunningServer, 'pid'>): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6
}

/** Returns the CPU time that a process has used, in milliseconds. */
export async function cpuOf({ pid }: Pick<RunningServer, 'pid'>): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  for (const begun = performance.now(); ; ) {
    if (server.exitCode !== null) throw new Error(`The server ended with ${server.exitCode}.`)
    if (performance.now() - begun > READY_WITHIN_MS) throw new Error('The server is not ready.')
    const isReady = await fetch(`${url}/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (isReady) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
