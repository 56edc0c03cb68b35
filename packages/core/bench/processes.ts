import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { median, type Times } from './measure.ts'

/** The times of a group, from a process of its own. */
export function timesOf(task: string): Times {
  return JSON.parse(outputOf(task))
}

/** The middle of what so many processes say, one after the other. */
export function figureOf(task: string, processes: number): number {
  return median(Array.from({ length: processes }, () => Number(outputOf(task))))
}

export function outputOf(task: string): string {
  const file = fileURLToPath(new URL('task.js', import.meta.url))
  // Megabytes of young generation: nothing is collected while garbage is counted.
  const roomy = ['--min-semi-space-size=128', '--max-semi-space-size=128']
  const flags = ['--expose-gc', ...(task.startsWith('garbage') ? roomy : [])]
  return execFileSync(process.execPath, [...flags, file, task], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
