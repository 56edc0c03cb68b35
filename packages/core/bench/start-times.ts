import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EvaluationContext, FlagSetDefinition } from '../src/index.ts'
import { contextAt, mixedFlags } from './mixed.ts'
import { median } from './processes.ts'
import { NOW } from './workload.ts'

/** The file that a process reads at its start. */
export interface StartFile {
  readonly definition: FlagSetDefinition
  readonly context: EvaluationContext
  readonly now: number
}

/** The times of a process in milliseconds, and its memory. */
export interface StartTimes {
  /** From the start of the process to the answer. */
  readonly total: number
  /** From the parsed definition to the answer. */
  readonly afterParsing: number
  /** The bytes of the heap after the answer. */
  readonly heap: number
}

const PROCESSES = 11
const FILE = fileURLToPath(new URL('start.js', import.meta.url))

/** The medians of the times of processes, and of a process without the engine. */
export interface MedianTimes extends StartTimes {
  /** From the start of the process to the parsed definition, without the engine. */
  readonly parsed: number
}

/**
 * Returns the medians for processes that evaluate one flag or all flags of a mixed set. `total` and
 * `parsed` are the times above that of an empty process.
 */
export function startTimes(what: 'one' | 'all', flags: number): MedianTimes {
  const folder = mkdtempSync(join(tmpdir(), 'ff-bench-'))
  try {
    const file = join(folder, 'flags.json')
    const content: StartFile = { definition: mixedFlags(flags), context: contextAt(7), now: NOW }
    writeFileSync(file, JSON.stringify(content))
    const empty: number[] = []
    const parsed: number[] = []
    const times: StartTimes[] = []
    const heaps: StartTimes[] = []
    for (let round = 0; round < PROCESSES; round += 1) {
      empty.push(run(['--input-type=module', '--eval', EMPTY]))
      parsed.push(run(['--input-type=module', '--eval', PARSE, file]))
      times.push(run([FILE, what, file]))
      heaps.push(run(['--expose-gc', FILE, what, file]))
    }
    return {
      parsed: median(parsed) - median(empty),
      total: median(times.map(({ total }) => total)) - median(empty),
      afterParsing: median(times.map(({ afterParsing }) => afterParsing)),
      heap: median(heaps.map(({ heap }) => heap)),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const EMPTY = 'process.stdout.write(String(performance.now()))'
const PARSE = `
import { readFileSync } from 'node:fs'
JSON.parse(readFileSync(process.argv[1], 'utf8'))
${EMPTY}`

function run<Result>(args: readonly string[]): Result {
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Result
}
