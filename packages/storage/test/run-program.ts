import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** A program that runs in a separate process. */
export interface RunningProgram {
  readonly process: ChildProcess
  /** The lines that the program has printed so far. */
  readonly lines: readonly string[]
  /**
   * Resolves with the exit code after all output has arrived; `null` if the program was killed.
   */
  readonly ended: Promise<number | null>
}

/** Runs a program of this folder from source in a separate process until the test ends. */
export function runProgram(name: string, ...parameters: string[]): RunningProgram {
  const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))
  const loader = new URL('typescript-loader.js', import.meta.url).href
  const child = spawn(
    process.execPath,
    ['--conditions=@ff/source', `--import=${loader}`, pathOf(name), ...parameters],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { process: child, lines, ended }
}
