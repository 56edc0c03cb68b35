import { SDK_PATHS } from '@ff/protocol/sdk'
import type { Reply } from './exchange.ts'
import { isOfrepPath } from './paths.ts'

/** A metric in the model of Prometheus. */
export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  /** Returns the current value, or one value for each combination of labels. */
  read(): number | readonly Sample[]
}

/** One value of a metric, with its labels. */
export interface Sample {
  /** The labels. They never contain names that customers have chosen. */
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * The path families of the request counter. All paths except those of the SDK endpoints count as
 * `management`.
 */
const FAMILIES = [
  'evaluate',
  'poll',
  'socket',
  'flag_set',
  'events',
  'ofrep',
  'management',
] as const
const MANAGEMENT = FAMILIES.indexOf('management')
const OFREP = FAMILIES.indexOf('ofrep')
const { evaluate, poll, socket, flagSet, events } = SDK_PATHS
const FAMILY_OF: ReadonlyMap<string, number> = new Map(
  [evaluate, poll, socket, flagSet, events].map((path, family) => [path, family]),
)
const STATUSES = 600

/** The upper bounds of the latency histogram, in microseconds. */
const BOUNDS = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 100_000] as const
const DURATION = 'ff_evaluation_duration_seconds'

/**
 * The metrics of `GET /metrics`. Counting is a single increment. All other work happens when the
 * metrics are read.
 */
export class Metrics {
  readonly #requests = new Float64Array(FAMILIES.length * STATUSES)
  /** One bucket per bound, and one bucket for longer durations. */
  readonly #durations = new Float64Array(BOUNDS.length + 1)
  #totalMicros = 0
  readonly #watched: Metric[] = []

  /** Counts a request by its path and the status of its reply. */
  countRequest(path: string, status: number): void {
    const family = FAMILY_OF.get(path) ?? (isOfrepPath(path) ? OFREP : MANAGEMENT)
    const index = family * STATUSES + status
    this.#requests[index] = (this.#requests[index] ?? 0) + 1
  }

  /** Adds the duration of one evaluation, in microseconds, to the histogram. */
  observeEvaluation(micros: number): void {
    let bucket = 0
    while (bucket < BOUNDS.length && micros > (BOUNDS[bucket] ?? 0)) bucket += 1
    this.#durations[bucket] = (this.#durations[bucket] ?? 0) + 1
    this.#totalMicros += micros
  }

  /** Adds a metric that is read whenever the metrics are requested. */
  watch(metric: Metric): void {
    this.#watched.push(metric)
  }

  /** Returns all metrics in the text format of Prometheus, version 0.0.4. */
  toText(): string {
    const requests = {
      name: 'ff_requests_total',
      type: 'counter',
      help: 'Requests that received a reply, by family of paths and status.',
      read: () => this.#readRequests(),
    } as const
    const simple = [requests, ...this.#watched].map(linesOf)
    return `${[...simple, this.#durationLines()].join('\n')}\n`
  }

  #readRequests(): readonly Sample[] {
    const samples: Sample[] = []
    for (const [index, value] of this.#requests.entries()) {
      if (value === 0) continue
      const family = FAMILIES[Math.floor(index / STATUSES)] ?? ''
      samples.push({ labels: { family, status: String(index % STATUSES) }, value })
    }
    return samples
  }

  #durationLines(): string {
    let count = 0
    const buckets = [...BOUNDS, Number.POSITIVE_INFINITY].map((bound, index) => {
      count += this.#durations[index] ?? 0
      const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound / 1e6)
      return `${DURATION}_bucket{le="${le}"} ${count}`
    })
    return [
      `# HELP ${DURATION} Duration of the evaluation for one request or update.`,
      `# TYPE ${DURATION} histogram`,
      ...buckets,
      `${DURATION}_sum ${this.#totalMicros / 1e6}`,
      `${DURATION}_count ${count}`,
    ].join('\n')
  }
}

function linesOf({ name, type, help, read }: Metric): string {
  const values = read()
  const samples = typeof values === 'number' ? [{ value: values }] : values
  const lines = samples.map(({ labels = {}, value }: Sample) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
    return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
  })
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
}

function escaped(text: string): string {
  return text.replace(/["\\\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}

/** Creates a reply with all metrics in the text format of Prometheus. */
export function metricsReply(metrics: Metrics): Reply {
  const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }
  return { status: 200, headers, body: metrics.toText() }
}
