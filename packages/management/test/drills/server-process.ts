import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { PostgresOptions } from '@ff/storage/postgres'
import type { RedisOptions } from '@ff/storage/redis'
import { onTestFinished } from 'vitest'
import { IS_FULL } from '../../../server/test/drills/scale.ts'
import { redisOf } from './postgres/with-redis.ts'

const LOADER = new URL('../../../storage/test/typescript-loader.js', import.meta.url).href
const SKEWED_CLOCK = new URL('skewed-clock.js', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('serving.js', import.meta.url))

/**
 * At full size, selects the built packages, which start as fast as for users; otherwise the
 * sources.
 */
export const PACKAGES = IS_FULL ? [] : ['--conditions=@ff/source', `--import=${LOADER}`]

/** A server that runs in a separate process. */
export interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
  /** Milliseconds from the start of the process until it was ready. */
  readonly readyAfterMs: number
  /** Resolves with the exit code; `null` if the process was killed. */
  readonly ended: Promise<number | null>
}

interface Limits {
  /** The maximum size of any file. */
  readonly fileKiB?: number
  /** The maximum number of new sockets per second. */
  readonly newSockets?: number
  /** The maximum size of the old generation of the heap. */
  readonly heapMiB?: number
  /** The maximum memory for the contexts of live clients. */
  readonly heldContextBytes?: number
  /** The milliseconds by which the clock of the process is ahead; negative if it is behind. */
  readonly skewMs?: number
  /** The Redis of a server over PostgreSQL; by default, the one of `redisOf`. */
  readonly redis?: RedisOptions | undefined
  /** The time limits of the PostgreSQL adapter. */
  readonly postgres?: Partial<PostgresOptions>
  /** `true` if the log of the server is discarded, because the drill causes many errors. */
  readonly isSilent?: boolean
}

/**
 * Starts a flag server in a separate process over a store: the path of a data file, or the URL of a
 * PostgreSQL database. Resolves when it is ready.
 */
export async function startServer(location: string, limits: Limits = {}): Promise<ServerProcess> {
  const { fileKiB, newSockets, heapMiB, heldContextBytes, skewMs, postgres, isSilent } = limits
  const options = postgres === undefined ? '' : JSON.stringify(postgres)
  const shared = location.startsWith('postgres:') ? (limits.redis ?? redisOf(location)) : undefined
  const redis = shared === undefined ? '' : JSON.stringify(shared)
  const settings = [newSockets ?? '', heldContextBytes ?? '', options, redis].map(String)
  const heap = heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`]
  const skew = skewMs === undefined ? [] : [`--import=${SKEWED_CLOCK}?ms=${skewMs}`]
  const command = [process.execPath, ...heap, ...skew, ...PACKAGES, PROGRAM, location, ...settings]
  const limit = fileKiB === undefined ? '' : `ulimit -f ${fileKiB}; `
  const startedAt = performance.now()
  const child = spawn('bash', ['-c', `${limit}exec "$@"`, 'bash', ...command], {
    stdio: ['ignore', 'pipe', isSilent === true ? 'ignore' : 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const url = `http://127.0.0.1:${await portOf(child)}`
  while (!(await isReady(url))) await pause(5)
  return { url, process: child, readyAfterMs: performance.now() - startedAt, ended }
}

/** Resolves after `ms` milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function portOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The server has no output.')
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^listening (\d+)$/.exec(line)?.[1]
    if (port !== undefined) return port
  }
  throw new Error('The server ended before it was listening.')
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/ready`).catch(() => undefined)
  await response?.arrayBuffer()
  return response?.status === 200
}
