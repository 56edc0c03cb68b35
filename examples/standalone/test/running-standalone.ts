import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { IS_FULL } from '../../../packages/server/test/drills/scale.ts'

const LOADER = new URL('../../../packages/storage/test/typescript-loader.js', import.meta.url).href
const SOURCE = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const BUILT = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/**
 * The parameters with which Node runs the standalone server: at full size the built program, which
 * starts as fast as for users, otherwise its source.
 */
export const PARAMETERS = IS_FULL
  ? [BUILT]
  : ['--conditions=@ff/source', `--import=${LOADER}`, SOURCE]

type Environment = Readonly<Record<string, string>>

/** Returns the variables of a server: `env`, and those of this process that no server reads. */
export function environmentOf(env: Environment): Record<string, string | undefined> {
  const isOther = (name: string) => !/^(?:FF_|DATABASE_URL$|REDIS_URL$)/.test(name)
  const others = Object.entries(process.env).filter(([name]) => isOther(name))
  return { ...Object.fromEntries(others), PORT: '0', ...env }
}

/** The result of a command. */
export interface CommandResult {
  /** The exit code. */
  readonly status: number | null
  readonly output: string
  readonly log: string
}

/** Runs a command of the standalone server until it ends, such as `backup <file>`. */
export function runCommand(words: readonly string[], env: Environment): Promise<CommandResult> {
  const child = spawn(process.execPath, [...PARAMETERS, ...words], {
    env: environmentOf(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { output: '', log: '' }
  child.stdout.on('data', (text) => {
    texts.output += text
  })
  child.stderr.on('data', (text) => {
    texts.log += text
  })
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, ...texts })))
}

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
    this.#process = spawn(process.execPath, PARAMETERS, {
      env: environmentOf({ FF_DATA_DIR: dataDir, ...env }),
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

  /** The text on standard output. */
  get output(): string {
    return this.#output
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

  /** Kills the server and resolves when it has ended. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.ended
  }

  /** Kills the server and deletes its data. */
  async destroy(): Promise<void> {
    await this.kill()
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}
