import type { FlagSetCache } from './evaluation/flag-set-cache.ts'
import type { Metric, Metrics, Sample } from './http/metrics.ts'
import type { ClientBudget } from './live/client-budget.ts'
import type { OpenSockets } from './live/open-sockets.ts'
import type { SessionRegistry } from './live/session-registry.ts'
import { EventLoopDelay } from './runtime/event-loop-delay.ts'
import type { Jobs } from './runtime/jobs.ts'
import type { UsageRecorder } from './usage/usage-recorder.ts'

interface ServerMetricsOptions {
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly sockets: OpenSockets
  readonly jobs: Jobs
  readonly usage: Pick<UsageRecorder, 'stats'>
}

/** Adds the state of a server and of its process to the metrics. */
export function watchServer(metrics: Metrics, options: ServerMetricsOptions): void {
  for (const metric of [...liveMetrics(options), ...serviceMetrics(options), ...processMetrics()]) {
    metrics.watch(metric)
  }
}

function liveMetrics(options: ServerMetricsOptions): readonly Metric[] {
  const { sessions, budget, sockets } = options
  const { pending } = sockets
  const live = () =>
    labelled('transport', [
      ['ws', sessions.count('ws')],
      ['poll', sessions.count('poll')],
    ])
  const displaced = 'WebSockets that were closed because too many had sent no valid init.'
  return [
    gauge(
      'ff_live_clients',
      'Clients that receive changes immediately, by transport: WebSocket, or poll and event stream.',
      live,
    ),
    gauge('ff_sockets', 'Open WebSockets, with or without a valid init.', () => sockets.size),
    gauge('ff_sockets_pending', 'Open WebSockets without a valid init.', () => pending.size),
    counter('ff_sockets_displaced_total', displaced, () => pending.displaced),
    gauge(
      'ff_held_context_bytes',
      'Bytes of memory charged for the contexts of live clients.',
      () => budget.heldBytes,
    ),
    counter(
      'ff_live_clients_gave_way_total',
      'Live clients that were ended to make room for others.',
      () => budget.gaveWay,
    ),
  ]
}

function serviceMetrics({ cache, jobs, usage }: ServerMetricsOptions): readonly Metric[] {
  const loaded = () => [...cache.loaded()].length
  const stale = 'Environments with an old version because loading the newest failed.'
  const loads = 'Environments that were loaded for the first time, or again after a drop.'
  const noRoom = 'Flag sets that were dropped because there was no room for them.'
  const versions = 'Versions of flag sets that were loaded.'
  const dropped = 'Usage that was dropped because there was no room or the store refused it.'
  const failures = 'Runs of background jobs that failed.'
  return [
    gauge('ff_flag_sets', 'Environments with a loaded flag set.', loaded),
    gauge('ff_flag_set_bytes', 'Estimated bytes of memory of all flag sets.', () => cache.bytes),
    counter('ff_flag_set_loads_total', loads, () => cache.loads),
    counter('ff_flag_sets_dropped_total', noRoom, () => cache.drops),
    gauge('ff_flag_sets_stale', stale, () => cache.stale),
    counter('ff_flag_set_versions_total', versions, () => cache.swaps),
    counter('ff_usage_dropped_total', dropped, () =>
      labelled('what', Object.entries(usage.stats.dropped)),
    ),
    gauge('ff_usage_pending', 'Usage that is not yet stored.', () => usage.stats.pending),
    counter('ff_job_failures_total', failures, () => labelled('job', [...jobs.failures])),
  ]
}

function processMetrics(): readonly Metric[] {
  const delay = new EventLoopDelay()
  const late = 'Delay of timers in this process since the last reading.'
  const delays = () => labelled('quantile', delay.read())
  const heap = 'Bytes of memory used by JavaScript values.'
  return [
    gauge('ff_event_loop_delay_seconds', late, delays),
    gauge('process_resident_memory_bytes', 'Resident memory in bytes.', () => memoryUsed('rss')),
    gauge('ff_heap_used_bytes', heap, () => memoryUsed('heapUsed')),
  ]
}

/** Returns a number of bytes; an empty list on platforms that do not report memory. */
function memoryUsed(of: 'rss' | 'heapUsed'): number | readonly Sample[] {
  return globalThis.process?.memoryUsage?.()[of] ?? []
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
