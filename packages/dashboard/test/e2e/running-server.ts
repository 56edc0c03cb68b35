import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'

const PROGRAM = join(import.meta.dirname, '../../../../examples/standalone/dist/main.js')
const START_LIMIT_MS = 60_000

/** The built standalone server in a process of its own, with a new store. */
export class RunningServer {
  readonly url: string
  /** The one-time link of the first owner (`ffl_…`); `undefined` with `FF_ADMIN_EMAIL`. */
  readonly link: string | undefined
  readonly #process: ChildProcess
  readonly #output: Output
  readonly #folder: string

  private constructor(process: ChildProcess, output: Output, { folder, link }: Kept) {
    this.#process = process
    this.#output = output
    this.#folder = folder
    this.url = /running at (\S+)/.exec(output.text)?.[1] ?? ''
    this.link = /Dashboard: \S+#(ffl_[0-9a-f]{64})/.exec(output.text)?.[1] ?? link
  }

  /**
   * Starts the server on a free port. `env` has its environment variables. `folder` has the data of
   * an earlier server, which has printed `link`; it is deleted by `close`.
   */
  static async start(
    env: Readonly<Record<string, string>> = {},
    folder = mkdtempSync(join(tmpdir(), 'ff-dashboard-')),
    link?: string,
  ): Promise<RunningServer> {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing. Run \`pnpm build:js\` first.`)
    const others = Object.entries(process.env).filter(([name]) => !/^(?:FF_|VITEST)/.test(name))
    const data = { PORT: '0', FF_DATA_DIR: join(folder, 'data'), FF_LOG_FORMAT: 'json' }
    const child = spawn(process.execPath, [PROGRAM], {
      env: { ...Object.fromEntries(others), ...data, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output: Output = { text: '', log: '' }
    child.stdout.on('data', (text) => {
      output.text += text
    })
    child.stderr.on('data', (text) => {
      output.log += text
    })
    await introduced(child, output)
    return new RunningServer(child, output, { folder, link })
  }

  /** The printed address of the first log-in. */
  get firstAddress(): string {
    return `${this.url}/dashboard/accept#${this.link}`
  }

  /** The text on standard output. */
  get output(): string {
    return this.#output.text
  }

  /** The text on standard error: the log. */
  get log(): string {
    return this.#output.log
  }

  /** Stops the server, and starts it again with the same data on the same port. */
  async restart(env: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
    await this.stop()
    return RunningServer.start({ PORT: new URL(this.url).port, ...env }, this.#folder, this.link)
  }

  /** Stops the server and keeps its data. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await ended
  }

  /** Stops the server and deletes its data. */
  async close(): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

interface Kept {
  readonly folder: string
  readonly link: string | undefined
}

interface Output {
  text: string
  log: string
}

/** Resolves when the server has printed its introduction. Rejects if it exits or takes too long. */
async function introduced(child: ChildProcess, output: Output): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS
  // The introduction ends with the address of the dashboard or of the documentation.
  while (!/(?:API documentation|Dashboard): \S+\n\s*$/.test(output.text)) {
    if (child.exitCode !== null) throw new Error(`The server has exited: ${output.log}`)
    if (Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`The server has not started in time: ${output.text}${output.log}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Starts a server before the tests of a file, and closes it afterwards. Returns a getter. */
export function useServer(env: Readonly<Record<string, string>> = {}): () => RunningServer {
  let server: RunningServer | undefined
  beforeAll(async () => {
    server = await RunningServer.start(env)
  })
  afterAll(() => server?.close())
  return () => {
    if (server === undefined) throw new Error('The server is not started.')
    return server
  }
}
