import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { IS_FULL } from '../../../server/test/drills/scale.ts'

const LOADER = new URL('../../../storage/test/typescript-loader.js', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('serving.js', import.meta.url))

/** At full size the packages as they are built, which start as fast as at a user's; else the sources. */
const PACKAGES = IS_FULL ? [] : ['--conditions=@ff/source', `--import=${LOADER}`]

export interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
  /** From the start of the process until it said that it is ready. */
  readonly readyAfterMs: number
  /** The exit code; null when it was killed. */
  readonly ended: Promise<number | null>
}

interface Limits {
  /** No file may grow beyond this. */
  readonly fileKiB?: number
  /** How many sockets may be opened in a second. */
  readonly newSockets?: number
  /** How much the old generation of its heap may grow to. */
  readonly heapMiB?: number
  /** Bytes of memory that the contexts of live clients may take. */
  readonly heldContextBytes?: number
}

/** A flag server over this data file, in a process of its own; resolves when it is ready. */
export async function startServer(
  path: string,
  { fileKiB, newSockets, heapMiB, heldContextBytes }: Limits = {},
): Promise<ServerProcess> {
  const settings = [newSockets ?? '', heldContextBytes ?? ''].map(String)
  const heap = heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`]
  const command = [process.execPath, ...heap, ...PACKAGES, PROGRAM, path, ...settings]
  const limit = fileKiB === undefined ? '' : `ulimit -f ${fileKiB}; `
  const startedAt = performance.now()
  const child = spawn('bash', ['-c', `${limit}exec "$@"`, 'bash', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const url = `http://127.0.0.1:${await portOf(child)}`
  while (!(await isReady(url))) await pause(5)
  return { url, process: child, readyAfterMs: performance.now() - startedAt, ended }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function portOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the server has no output')
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^listening (\d+)$/.exec(line)?.[1]
    if (port !== undefined) return port
  }
  throw new Error('the server ended before it listened')
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/ready`).catch(() => undefined)
  await response?.arrayBuffer()
  return response?.status === 200
}
