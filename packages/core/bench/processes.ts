import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The nanoseconds per call, by the name of the case. */
export type Times = Readonly<Record<string, number>>

const FILE = fileURLToPath(new URL('task.js', import.meta.url))

/**
 * Measures cases and returns the median of each. Each case has a separate process, because other
 * code in the same process would make it slower. In every round, all cases run one after the other,
 * so that noise affects all of them.
 */
export async function compare(rounds: number, names: readonly string[]): Promise<Times> {
  const running: { readonly child: ChildProcess; readonly times: number[] }[] = []
  try {
    for (const name of names) {
      const child = fork(FILE, ['turns', name])
      running.push({ child, times: [] })
      await answerOf(child)
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const { child, times } of running) {
        child.send(round)
        times.push(Number(await answerOf(child)))
      }
    }
  } finally {
    for (const { child } of running) child.kill()
  }
  return Object.fromEntries(running.map(({ times }, index) => [names[index], median(times)]))
}

/** Runs a task in several processes, one after the other, and returns the median of the results. */
export function figureOf(task: string, processes: number): number {
  return median(Array.from({ length: processes }, () => Number(runTask(task))))
}

/** Runs a task in a new process and returns its output. */
export function runTask(task: string): string {
  // A large young generation (in MB), so that no garbage is collected while it is counted.
  const roomy = ['--min-semi-space-size=128', '--max-semi-space-size=128']
  const flags = ['--expose-gc', ...(task.startsWith('garbage') ? roomy : [])]
  return execFileSync(process.execPath, [...flags, FILE, task], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Returns the median of numbers, or 0 if there are none. */
export function median(numbers: readonly number[]): number {
  return [...numbers].sort((left, right) => left - right)[numbers.length >> 1] ?? 0
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const died = once(child, 'exit', { signal: over.signal }).then(() => {
    throw new Error('a process of the benchmark exited')
  })
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal: over.signal }), died])
    return answer
  } finally {
    died.catch(() => undefined)
    over.abort()
  }
}
