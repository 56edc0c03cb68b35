import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Nanoseconds a call, by the name of the case. */
export type Times = Readonly<Record<string, number>>

const FILE = fileURLToPath(new URL('task.js', import.meta.url))

/**
 * The median of each case. Each has a process of its own, for what else ran in a process makes the
 * same code slower, and all take turns in every round, so that noise hits all alike.
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

/** The middle of what so many processes say, one after the other. */
export function figureOf(task: string, processes: number): number {
  return median(Array.from({ length: processes }, () => Number(runTask(task))))
}

export function runTask(task: string): string {
  // Megabytes of young generation: nothing is collected while garbage is counted.
  const roomy = ['--min-semi-space-size=128', '--max-semi-space-size=128']
  const flags = ['--expose-gc', ...(task.startsWith('garbage') ? roomy : [])]
  return execFileSync(process.execPath, [...flags, FILE, task], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

export function median(numbers: readonly number[]): number {
  return [...numbers].sort((left, right) => left - right)[numbers.length >> 1] ?? 0
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const died = once(child, 'exit', { signal: over.signal }).then(() => {
    throw new Error('a process of the benchmark has ended')
  })
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal: over.signal }), died])
    return answer
  } finally {
    died.catch(() => undefined)
    over.abort()
  }
}
