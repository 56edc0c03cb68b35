import type { Convergence } from '@ff/protocol/management'
import { type InstanceReports, REPORT_LIFETIME_MS, type ReceivedReport } from '@ff/storage'
import { SDK_KEY_KINDS } from './access/scope.ts'
import type { InstanceReporter } from './convergence/instance-reporter.ts'
import type { FlagSetCache } from './evaluation/flag-set-cache.ts'
import type { SessionRegistry } from './live/session-registry.ts'
import type { UsageRecorder } from './usage/usage-recorder.ts'

interface InstanceOptions {
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly reporter: InstanceReporter
  readonly instanceReports: InstanceReports
  readonly usage: Pick<UsageRecorder, 'flush'>
}

/**
 * The flag sets, live clients and usage of this process. Other processes may serve the same environments.
 */
export class Instance {
  readonly #options: InstanceOptions

  constructor(options: InstanceOptions) {
    this.#options = options
  }

  /** The number of running instances with the same store, including this one, as last reported. */
  get runningInstances(): number {
    return this.#options.reporter.runningInstances
  }

  /**
   * Returns the version of an environment's flag set in this process, and the last time at which
   * the store had no newer version (epoch milliseconds). Returns `undefined` if the flag set is not
   * loaded.
   */
  findServed(
    environmentId: string,
  ): { readonly version: number; readonly checkedAt: number } | undefined {
    const held = this.#options.cache.peek(environmentId)
    return held && { version: held.flagSets.server.version, checkedAt: held.checkedAt }
  }

  /**
   * Resolves when this process serves this version of an environment or a newer one, has not loaded
   * the environment, or pauses its loading after many changes. Rejects if the version cannot be
   * loaded, which is logged.
   */
  serve(environmentId: string, version: number): Promise<void> {
    return this.#options.cache.serve(environmentId, version)
  }

  /** Writes the usage that this process has counted. Resolves when the attempt has ended. */
  writeUsage(): Promise<void> {
    return this.#options.usage.flush()
  }

  /**
   * Returns the number of an environment's live clients by transport. `behind` counts the clients
   * that have not received `version`.
   */
  countClients(environmentId: string, version: number): Convergence['clients'] {
    const { flagSets } = this.#options.cache.peek(environmentId) ?? {}
    const clients = { ws: 0, poll: 0, behind: 0 }
    for (const kind of SDK_KEY_KINDS) {
      // The client view keeps its version if a change affects no flag that is visible to clients.
      const isServed = flagSets !== undefined && flagSets.server.version >= version
      const expected = isServed ? Math.min(version, flagSets[kind].version) : version
      for (const session of this.#options.sessions.of({ environmentId, kind })) {
        clients[session.transport] += 1
        if (!session.hasVersion(expected)) clients.behind += 1
      }
    }
    return clients
  }

  /**
   * Returns the reports of all instances with live clients of an environment, ordered by instance.
   * The report of this instance describes the present moment. Throws `UNAVAILABLE` if the reports
   * of the other instances cannot be read.
   */
  async loadReports(environmentId: string): Promise<readonly ReceivedReport[]> {
    const { reporter, instanceReports } = this.#options
    const { instanceId } = reporter
    const others = (await instanceReports.list(environmentId)).filter((each) => {
      return each.instanceId !== instanceId && each.ageMs < REPORT_LIFETIME_MS
    })
    const report = reporter.reportOf(environmentId)
    const own = report === undefined ? [] : [{ ...report, instanceId, ageMs: 0 }]
    return [...own, ...others].sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1))
  }
}
