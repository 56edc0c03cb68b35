import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { median, type Times } from './measure.ts'
import type { Peer } from './peer.ts'

/** A figure and what it must be. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: 'times' | 'MB' | 'bytes'
  readonly atLeast?: number
  readonly atMost?: number
}

/** What the times of one run say beside each other, which is much the same on every machine. */
export function ratiosOf(times: Times, peers: readonly Peer[]): Figure[] {
  const of = (name: string) => times.get(name) ?? Number.NaN
  const ratio = (name: string, above: string, below: string): Figure => {
    return { name, value: of(above) / of(below), unit: 'times' }
  }
  const beside = (group: string, atLeast: number): Figure[] => {
    const [fastest] = [...peers].sort((left, right) => {
      return of(`${group} ${left.name}`) - of(`${group} ${right.name}`)
    })
    if (fastest === undefined) return []
    const name = `${group} : the fastest peer, ${fastest.name}`
    return [{ ...ratio(name, `${group} ${fastest.name}`, `${group} ours`), atLeast }]
  }
  return [
    ...beside('W1', 4),
    ...beside('W2', 40),
    ...beside('W3', 100),
    { ...ratio('W2 values : floor', 'W2 values', 'W2 floor'), atMost: 0.7 },
    { ...ratio('W2 JSON : floor', 'W2 JSON', 'W2 floor'), atMost: 1.5 },
    { ...ratio('W4 : W1', 'W4', 'W1'), atMost: 2 },
    { ...ratio('W3 compile : after one change', 'W3 compile', 'W3 compile again'), atLeast: 20 },
  ]
}

/** What needs processes of its own: the first calls, and memory. */
export function freshFigures(): Figure[] {
  return [
    {
      name: 'W1 after 20,000 calls : steady',
      value: inProcesses('warm-up-one', 11),
      unit: 'times',
      atMost: 1.5,
    },
    {
      name: 'W2 values, calls 101–200 : steady',
      value: inProcesses('warm-up-hundred', 11),
      unit: 'times',
      atMost: 1.5,
    },
    { name: 'W1 garbage a call', value: inProcesses('garbage-one', 3), unit: 'bytes', atMost: 0 },
    {
      name: 'W2 values, garbage a flag',
      value: inProcesses('garbage-hundred', 3) / 100,
      unit: 'bytes',
      atMost: 16,
    },
    {
      name: 'W3 heap of the compiled set',
      value: inProcesses('heap', 3) / 2 ** 20,
      unit: 'MB',
      atMost: 8,
    },
  ]
}

/** The middle of what so many processes, one after the other, say. */
function inProcesses(task: string, count: number): number {
  const file = fileURLToPath(new URL('fresh.js', import.meta.url))
  // Megabytes of young generation: nothing is collected while garbage is counted.
  const flags = task.startsWith('garbage')
    ? ['--min-semi-space-size=128', '--max-semi-space-size=128']
    : []
  const said = Array.from({ length: count }, () => {
    return Number(execFileSync(process.execPath, ['--expose-gc', ...flags, file, task]))
  })
  return median(said)
}

/** As it is printed; a target is compared with what is printed. */
export function rounded({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  if (unit === 'times' && value < 10) return value.toFixed(2)
  return value.toFixed(unit === 'bytes' && value >= 10 ? 0 : 1)
}

export function isKept(figure: Figure): boolean {
  const value = Number(rounded(figure))
  return value >= (figure.atLeast ?? value) && value <= (figure.atMost ?? value)
}
