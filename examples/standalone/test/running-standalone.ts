import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const LOADER = new URL('../../../packages/storage/test/typescript-loader.js', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

type Environment = Readonly<Record<string, string>>

/** The program as an operator runs it, in processes of its own, from source. */
export class RunningStandalone {
  readonly dataDir: string
  /** The exit code; null when it was killed. */
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

  /** Where it is, once it says so; throws when it ends before. */
  async listening(): Promise<string> {
    for (;;) {
      const url = /running at (\S+)/.exec(this.#output)?.[1]
      if (url !== undefined) return url
      if (this.#process.exitCode !== null) throw new Error(`It has ended: ${this.#log}`)
      await pause(20)
    }
  }

  get log(): string {
    return this.#log
  }

  /** The processes that it has started. */
  get workers(): readonly number[] {
    const text = execFileSync('pgrep', ['-P', String(this.#process.pid)], { encoding: 'utf8' })
    return text.trim().split('\n').map(Number)
  }

  stop(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Whatever it is doing; what it kept is gone, too. */
  async destroy(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.ended
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}
