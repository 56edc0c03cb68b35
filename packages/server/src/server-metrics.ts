import type { FlagSetCache } from './evaluation/flag-set-cache.ts'
import type { Metric, Metrics, Sample } from './http/metrics.ts'
import type { ClientBudget } from './live/client-budget.ts'
import type { SessionRegistry } from './live/session-registry.ts'
import { EventLoopDelay } from './runtime/event-loop-delay.ts'
import type { Jobs } from './runtime/jobs.ts'
import type { UsageStats } from './usage/usage-recorder.ts'

interface ServerMetricsOptions {
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly sockets: {
    readonly size: number
    readonly pending: number
    readonly displaced: number
  }
  readonly jobs: Jobs
  readonly usage: { readonly stats: UsageStats }
}

/** Adds the state of a server and of its process to the metrics. */
export function watchServer(metrics: Metrics, options: ServerMetricsOptions): void {
  for (const metric of serverMetrics(options)) metrics.watch(metric)
}

function liveMetrics({ sessions, budget, sockets }: ServerMetricsOptions): readonly Metric[] {
  const live = () =>
    labelled('transport', [
      ['ws', sessions.count('ws')],
      ['poll', sessions.count('poll')],
    ])
  return [
    gauge('ff_live_clients', 'Clients that hear of changes at once, by transport.', live),
    ...socketMetrics(sockets),
    gauge('ff_held_context_bytes', 'Memory charged for contexts of live clients.', () => [
      { value: budget.heldBytes },
    ]),
    counter('ff_live_clients_gave_way_total', 'Live clients ended to make room for others.', () => [
      { value: budget.gaveWay },
    ]),
  ]
}

function serverMetrics(options: ServerMetricsOptions): readonly Metric[] {
  const { cache, jobs, usage } = options
  const delay = new EventLoopDelay()
  const dropped = () => labelled('what', Object.entries(usage.stats.dropped))
  return [
    ...liveMetrics(options),
    gauge('ff_flag_sets', 'Environments whose flag set is loaded.', () => [
      { value: [...cache.loaded()].length },
    ]),
    gauge('ff_flag_sets_stale', 'Environments whose newest version is not taken over.', () => [
      { value: cache.stale },
    ]),
    counter('ff_flag_set_versions_total', 'Versions of flag sets that were taken over.', () => [
      { value: cache.swaps },
    ]),
    counter(
      'ff_usage_dropped_total',
      'Usage for which there was no room, or that the store refused.',
      dropped,
    ),
    gauge('ff_usage_pending', 'What waits to be written about usage.', () => [
      { value: usage.stats.pending },
    ]),
    counter('ff_job_failures_total', 'Runs of background jobs that failed.', () =>
      labelled('job', [...jobs.failures]),
    ),
    gauge('ff_event_loop_delay_seconds', 'How late this process is, since the last reading.', () =>
      labelled('quantile', delay.read()),
    ),
    gauge('process_resident_memory_bytes', 'Resident memory.', () => memorySample('rss')),
    gauge('ff_heap_used_bytes', 'Memory used by JavaScript values.', () =>
      memorySample('heapUsed'),
    ),
  ]
}

/** Returns one number of bytes; none on platforms that do not report memory. */
function memorySample(of: 'rss' | 'heapUsed'): Sample[] {
  const memory = globalThis.process?.memoryUsage?.()
  return memory === undefined ? [] : [{ value: memory[of] }]
}

function socketMetrics(sockets: ServerMetricsOptions['sockets']): readonly Metric[] {
  const displaced = 'WebSockets without a valid init that were closed because there were too many.'
  return [
    gauge('ff_sockets', 'Open WebSockets, those before init included.', () => [
      { value: sockets.size },
    ]),
    gauge('ff_sockets_pending', 'Open WebSockets without a valid init.', () => [
      { value: sockets.pending },
    ]),
    counter('ff_sockets_displaced_total', displaced, () => [{ value: sockets.displaced }]),
  ]
}

function gauge(name: string, help: string, read: Metric['read']): Metric {
  return { name, type: 'gauge', help, read }
}

function counter(name: string, help: string, read: Metric['read']): Metric {
  return { name, type: 'counter', help, read }
}

function labelled(label: string, values: readonly (readonly [string, number])[]): Sample[] {
  return values.map(([text, value]) => ({ labels: { [label]: text }, value }))
}
