import { figureOf, type Times } from './processes.ts'
import { startTimes } from './start-times.ts'

/** A figure and, optionally, its target. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: 'times' | 'MB' | 'bytes' | 'ms'
  readonly atLeast?: number
  readonly atMost?: number
}

/** Returns ratios of the times of one run. They depend little on the machine. */
export function ratiosOf(times: Times, peers: readonly string[]): Figure[] {
  const ratio = (name: string, above: string, below: string): Figure => {
    return { name, value: timeOf(times, above) / timeOf(times, below), unit: 'times' }
  }
  const beside = (group: string, ours: string, atLeast: number): Figure[] => {
    const [fastest] = peers
      .map((peer) => `${group} ${peer}`)
      .sort((left, right) => timeOf(times, left) - timeOf(times, right))
    if (fastest === undefined) return []
    const name = `${fastest} : ${ours}`
    return [{ ...ratio(name, fastest, ours), atLeast }]
  }
  return [
    { ...ratio('mixed 100 values : floor', 'mixed 100 values', 'mixed 100 floor'), atMost: 1.2 },
    { ...ratio('mixed 100 JSON : floor', 'mixed 100 JSON', 'mixed 100 floor'), atMost: 1.2 },
    { ...ratio('mixed 1000 values : floor', 'mixed 1000 values', 'mixed 1000 floor'), atMost: 1.2 },
    { ...ratio('mixed 1000 JSON : floor', 'mixed 1000 JSON', 'mixed 1000 floor'), atMost: 1.2 },
    { ...ratio('mixed one : floor', 'mixed one', 'mixed one floor'), atMost: 1.8 },
    { ...ratio('mixed 10 values : floor', 'mixed 10 values', 'mixed 10 floor'), atMost: 3 },
    {
      ...ratio(
        'mixed 1000 values: last : first of ten sets',
        'mixed 1000 values, last of ten sets',
        'mixed 1000 values, first of ten sets',
      ),
      atMost: 1.1,
    },
    {
      name: 'mixed values of a flag, 10,000 : 1,000 flags',
      value: timeOf(times, 'mixed 10000 values') / timeOf(times, 'mixed 1000 values') / 10,
      unit: 'times',
      atMost: 1.2,
    },
    ...beside('W1', 'W1', 5),
    ...beside('W2', 'W2 values', 35),
    ...beside('W3', 'W3 values', 100),
    ...beside('common 100', 'common 100 values', 15),
    { ...ratio('W2 values : floor', 'W2 values', 'W2 floor'), atMost: 0.7 },
    { ...ratio('W2 JSON : floor', 'W2 JSON', 'W2 floor'), atMost: 1.5 },
    { ...ratio('W4 : W1', 'W4', 'W1'), atMost: 2 },
    { ...ratio('W1, longer salt : W1', 'W1, longer salt', 'W1'), atMost: 1.2 },
    { ...ratio('W1 detail : W1', 'W1 detail', 'W1'), atMost: 2 },
    {
      ...ratio('W3 compile : after one change', 'W3 compile', 'W3 compile after one change'),
      atLeast: 20,
    },
  ]
}

/** Returns the figures that need a fresh process: times of the first calls, and memory. */
export function freshFigures(): Figure[] {
  const times = (name: string, task: string) => {
    return { name, value: figureOf(task, 11), unit: 'times' } as const
  }
  const bytes = (name: string, task: string) => {
    return { name, value: figureOf(task, 3), unit: 'bytes' } as const
  }
  return [
    { ...times('W1 after 20,000 calls : steady', 'warm-up-one'), atMost: 1.5 },
    { ...times('W2 values, calls 101–200 : steady', 'warm-up-hundred'), atMost: 1.5 },
    times('W2 values after 20 changes : before', 'after-changes'),
    { ...bytes('W1 garbage a call', 'garbage-one'), atMost: 80 },
    { ...bytes('W2 values, garbage a flag', 'garbage-hundred'), atMost: 16 },
    {
      name: 'W3 heap of the compiled set',
      value: figureOf('heap', 3) / 2 ** 20,
      unit: 'MB',
      atMost: 8,
    },
  ]
}

/** Returns the figures of processes that start with 1,000 flags of the mixed workload. */
export function startFigures(): Figure[] {
  const [one, all] = [startTimes('one', 1000), startTimes('all', 1000)]
  const ms = (name: string, value: number, atMost?: number): Figure => {
    const figure = { name: `mixed 1000, ${name}`, value, unit: 'ms' } as const
    return atMost === undefined ? figure : { ...figure, atMost }
  }
  const heap = (name: string, bytes: number, atMost: number): Figure => {
    return { name: `mixed 1000, heap after ${name}`, value: bytes / 2 ** 20, unit: 'MB', atMost }
  }
  return [
    ms('process start to the parsed flags, without the engine', one.parsed),
    ms('process start to the first value of one flag', one.total, 50),
    ms('process start to the first values of all flags', all.total, 120),
    ms('parsed flags to the first value of one flag', one.afterParsing, 15),
    heap('one flag', one.heap, 9.5),
    heap('all flags', all.heap, 14),
  ]
}

/** Returns the text of a figure that is printed and compared with its target. */
export function rounded({ value, unit }: Figure): string {
  if (unit === 'times' && value < 10) return value.toFixed(2)
  return value.toFixed(unit === 'bytes' && value >= 10 ? 0 : 1)
}

/** Returns `true` if a figure meets its target, or `undefined` if it has none. */
export function isKept(figure: Figure): boolean | undefined {
  const { atLeast, atMost } = figure
  const value = Number(rounded(figure))
  if (atLeast !== undefined) return value >= atLeast
  return atMost === undefined ? undefined : value <= atMost
}

function timeOf(times: Times, name: string): number {
  const time = times[name]
  if (time === undefined) throw new Error(`${name} was not measured`)
  return time
}
