import type { Convergence } from '@ff/protocol/management'
import { SDK_KEY_KINDS } from './access/sdk-keys.ts'
import type { FlagSetCache } from './evaluation/flag-set-cache.ts'
import type { UsageStats } from './evaluation/usage-recorder.ts'
import type { Metric, Metrics, Sample } from './http/metrics.ts'
import type { Jobs } from './jobs.ts'
import type { ClientBudget } from './live/client-budget.ts'
import type { SessionRegistry } from './live/session-registry.ts'
import { EventLoopDelay } from './node/event-loop-delay.ts'
import { processMemory } from './node/process-memory.ts'

interface InstanceParts {
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

/** What this process, one of perhaps many, evaluates with and for whom. */
export class Instance {
  readonly #parts: InstanceParts
  readonly #delay = new EventLoopDelay()

  constructor(parts: InstanceParts) {
    this.#parts = parts
  }

  /** The environment's flag set, if it is loaded; `checkedAt` in epoch milliseconds. */
  findServed(
    environmentId: string,
  ): { readonly version: number; readonly checkedAt: number } | undefined {
    const held = this.#parts.cache.peek(environmentId)
    return held && { version: held.flagSets.server.version, checkedAt: held.checkedAt }
  }

  /** The environment's live clients; behind are those not told everything up to the version. */
  countClients(environmentId: string, version: number): Convergence['clients'] {
    const { flagSets } = this.#parts.cache.peek(environmentId) ?? {}
    const clients = { ws: 0, poll: 0, behind: 0 }
    for (const kind of SDK_KEY_KINDS) {
      // The client view of a version may have an older one.
      const isServed = flagSets !== undefined && flagSets.server.version >= version
      const expected = isServed ? Math.min(version, flagSets[kind].version) : version
      for (const session of this.#parts.sessions.of({ environmentId, kind })) {
        clients[session.transport] += 1
        if (!session.knows(expected)) clients.behind += 1
      }
    }
    return clients
  }

  /** Lets the metrics tell of this process. */
  watchedBy(metrics: Metrics): void {
    for (const metric of this.#metrics()) metrics.watch(metric)
  }

  #liveMetrics(): readonly Metric[] {
    const { sessions, budget, sockets } = this.#parts
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
      counter(
        'ff_live_clients_gave_way_total',
        'Live clients ended to make room for others.',
        () => [{ value: budget.gaveWay }],
      ),
    ]
  }

  #metrics(): readonly Metric[] {
    const { cache, jobs, usage } = this.#parts
    const dropped = () => labelled('what', Object.entries(usage.stats.dropped))
    return [
      ...this.#liveMetrics(),
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
      gauge(
        'ff_event_loop_delay_seconds',
        'How late this process is, since the last reading.',
        () => labelled('quantile', this.#delay.read()),
      ),
      gauge('process_resident_memory_bytes', 'Resident memory.', () => [
        { value: processMemory().resident },
      ]),
      gauge('ff_heap_used_bytes', 'Memory used by JavaScript values.', () => [
        { value: processMemory().heap },
      ]),
    ]
  }
}

function socketMetrics(sockets: InstanceParts['sockets']): readonly Metric[] {
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
