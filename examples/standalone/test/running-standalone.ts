import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const LOADER = new URL('../../../packages/storage/test/typescript-loader.js', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

type Environment = Readonly<Record<string, string>>

/** The standalone server in separate processes, run from source. */
export class RunningStandalone {
  readonly dataDir: string
  /** The exit code; `null` if the process was killed. */
  readonly ended: Promise<number | null>
  readonly #process: ChildProcess
  #output = ''
  #log = ''

  constructor(env: Environment, dataDir = mkdtempSync(join(tmpdir(), 'ff-workers-'))) {
    this.dataDir = dataDir
    const parameters = ['--conditions=@ff/source', `--import=${LOADER}`, PROGRAM]
    this.#process = spawn(process.execPath, parameters, {
      env: { ...process.env, PORT: '0', FF_DATA_DIR: dataDir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#process.stdout?.on('data', (text) => {
      this.#output += text
    })
    this.#process.stderr?.on('data', (text) => {
      this.#log += text
    })
    this.ended = new Promise((resolve) => this.#process.once('close', resolve))
  }

  /** Returns the URL when the server is running. Throws if the process exits before. */
  async listening(): Promise<string> {
    for (;;) {
      const url = /running at (\S+)/.exec(this.#output)?.[1]
      if (url !== undefined) return url
      if (this.#process.exitCode !== null) throw new Error(`The server has exited: ${this.#log}`)
      await pause(20)
    }
  }

  /** The text on standard error. */
  get log(): string {
    return this.#log
  }

  /** The ids of the worker processes. */
  get workers(): readonly number[] {
    const text = execFileSync('pgrep', ['-P', String(this.#process.pid)], { encoding: 'utf8' })
    return text.trim().split('\n').map(Number)
  }

  /** Sends a signal to the primary process. */
  stop(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Kills the server and deletes its data. */
  async destroy(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.ended
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}
