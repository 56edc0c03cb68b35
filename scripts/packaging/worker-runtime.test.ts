import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { build } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'
import { loadVectorFiles, nowOf, type VectorFile } from '../../packages/core/test/vector-files.ts'
import { type EmptyProject, installedProject, MINUTE_MS } from './empty-project.ts'
import { startFlagServer } from './flag-server.ts'

const WORKERD = 'workerd@1.20261102.1'
const START_LIMIT_MS = 60_000

/** The configuration of the runtime. The worker has no Node built-ins, and connects to loopback addresses. */
const CONFIGURATION = `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "worker", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-01-01",
      globalOutbound = "loopback",
    )),
    (name = "loopback", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
);
`

/** Compiles and bundles the worker with the packed packages, and serves it with workerd. Returns its URL. */
async function startWorker(): Promise<string> {
  const packages = ['core', 'protocol', 'client']
  const project = await installedProject({ packages, others: [WORKERD] })
  project.copyProgram('worker.ts')
  await project.compile('--noEmit')
  await build({
    entryPoints: [join(project.folder, 'src/worker.ts')],
    outfile: join(project.folder, 'worker.js'),
    bundle: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    format: 'esm',
  })
  project.write('worker.capnp', CONFIGURATION)
  return `http://127.0.0.1:${await portOfRuntime(project)}`
}

/** Starts workerd, and returns the port on which it listens. */
async function portOfRuntime({ folder }: EmptyProject): Promise<number> {
  const { default: binary } = createRequire(join(folder, 'package.json'))('workerd')
  const running = spawn(binary, ['serve', 'worker.capnp', '--control-fd=3'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  onTestFinished(() => void running.kill('SIGKILL'))
  const signal = AbortSignal.timeout(START_LIMIT_MS)
  const outcome = await Promise.race([
    once(running.stdio[3] as Readable, 'data', { signal }).then(([message]) => String(message)),
    once(running, 'exit').then(([code]) => `${WORKERD} ended with code ${code}`),
  ])
  const port = /"port":\s*(\d+)/.exec(outcome)?.[1]
  if (port === undefined) throw new Error(`The runtime does not listen: ${outcome}`)
  return Number(port)
}

/** Sends JSON to the worker. Throws an error with the response if the worker fails. */
async function post(url: string, body: unknown): Promise<Response> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`The worker responded with ${await response.text()}`)
  return response
}

/** Checks the results of all cases of a file. Values are compared as text, because a key can be `__proto__`. */
async function checkVectors(worker: string, name: string, file: VectorFile): Promise<void> {
  const cases = file.cases.map((vector) => {
    return { context: vector.context, now: nowOf(file, vector) }
  })
  const response = await post(worker, { flagSet: file.flagSet, cases })
  const { results, errors } = (await response.json()) as Evaluation
  expect(errors, name).toEqual([])
  expect(results.length, name).toBe(file.cases.length)
  for (const [index, { values = [], details = [] } = {}] of results.entries()) {
    const { name: title, expect: expected, details: some = {} } = file.cases[index] ?? {}
    const message = `${name}: ${title}`
    const served = details.map(({ flagKey, value }) => [flagKey, value] as const)
    if (expected !== undefined) {
      expect(sorted(values), message).toBe(sorted(Object.entries(expected)))
      expect(sorted(served), message).toBe(sorted(Object.entries(expected)))
    }
    for (const [key, detail] of Object.entries(some)) {
      expect(
        details.find(({ flagKey }) => flagKey === key),
        message,
      ).toMatchObject(detail)
    }
  }
}

interface Evaluation {
  readonly errors: readonly string[]
  readonly results: readonly {
    readonly values: readonly Entry[]
    readonly details: readonly { readonly flagKey: string; readonly value: unknown }[]
  }[]
}

type Entry = readonly [key: string, value: unknown]

function sorted(entries: readonly Entry[]): string {
  return JSON.stringify([...entries].sort(([left], [right]) => (left < right ? -1 : 1)))
}

it(
  'A local client in workerd, from the packed packages, gives the expected result of every vector',
  async () => {
    const worker = await startWorker()
    const files = loadVectorFiles()
    expect(files.length).toBeGreaterThan(0)
    for (const [name, file] of files) await checkVectors(worker, name, file)
  },
  2 * MINUTE_MS,
)

it(
  'A local client in workerd follows the changes of a flag server by socket and by long-poll',
  async () => {
    const worker = await startWorker()
    const { url, sdkKey, setBanner } = await startFlagServer()
    for (const transport of ['socket', 'long-poll']) {
      await setBanner('first')
      const { body } = await post(`${worker}/follow`, { url, sdkKey, transport })
      const lines = createInterface(Readable.fromWeb(body as ReadableStream))
      const received: unknown[] = []
      for await (const line of lines) {
        received.push(JSON.parse(line))
        if (received.length === 2) await setBanner('end')
      }
      expect(received).toEqual(['live', ['first', transport], ['end', transport]])
    }
  },
  2 * MINUTE_MS,
)
