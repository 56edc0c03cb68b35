import type { Convergence } from '@ff/protocol/management'
import { type Instance, reachedTimes } from '@ff/server/plane'
import type { ReceivedReport } from '@ff/storage'
import { defineUseCases } from '../changes/use-case.ts'

const NO_CLIENTS = { ws: 0, poll: 0, behind: 0 }
/** The maximum number of versions for which clients are counted. */
const MAX_VERSIONS = 20

/**
 * Creates the use case of convergence. Without an instance, the use case reports that no version is
 * served.
 */
export function createConvergenceUseCases(instance: Instance | undefined) {
  return defineUseCases({
    /**
     * Returns the newest version of an environment, the version that this instance serves, and the
     * numbers of the live clients of this instance and of all instances, also of those with an older
     * version. Throws `UNAVAILABLE` if the reports of the other instances cannot be read.
     */
    async getConvergence({ storage, now, environment }) {
      const { data } = await storage.listVersions(environment.id, { page: 1, limit: 1 })
      const { version = 0, publishedAt = null } = data[0] ?? {}
      const reports = (await instance?.loadReports(environment.id)) ?? []
      const served = instance?.findServed(environment.id)
      const serving = served && {
        version: served.version,
        checkedAt: new Date(served.checkedAt).toISOString(),
        // The age would be negative after the clock was set back.
        ageMs: Math.max(0, now - served.checkedAt),
      }
      return {
        version,
        publishedAt,
        serving: serving ?? null,
        clients: instance?.countClients(environment.id, version) ?? NO_CLIENTS,
        instances: reports.map((report) => instanceOf(report, version, now)),
        total: totalOf(reports, version),
        byVersion: byVersionOf(reports),
        reached:
          publishedAt === null
            ? null
            : reachedTimes(reports, { version, publishedAt: Date.parse(publishedAt) }),
      }
    },
  })
}

/** Returns the numbers of the live clients of all instances. */
export function totalOf(
  reports: readonly ReceivedReport[],
  published: number,
): Convergence['total'] {
  const total = { ws: 0, poll: 0, behind: 0 }
  let applied: number | null = null
  for (const report of reports) {
    total.ws += report.ws
    total.poll += report.poll
    total.behind += behindOf(report, published)
    if (report.applied === null) continue
    applied = (applied ?? 0) + (report.version < published ? 0 : report.applied)
  }
  return { ...total, applied }
}

/** Returns the number of clients behind. An instance sends no later version than its own. */
function behindOf({ version, ws, poll, behind }: ReceivedReport, published: number): number {
  return version < published ? ws + poll : behind
}

function instanceOf(
  report: ReceivedReport,
  published: number,
  now: number,
): Convergence['instances'][number] {
  const { instanceId, version, ws, poll, ageMs } = report
  const seenAt = new Date(now - ageMs).toISOString()
  return { instanceId, version, seenAt, ws, poll, behind: behindOf(report, published) }
}

function byVersionOf(reports: readonly ReceivedReport[]): Convergence['byVersion'] {
  const clientsOf = new Map<number, number>()
  for (const { version, clients } of reports.flatMap(({ byVersion }) => byVersion)) {
    clientsOf.set(version, (clientsOf.get(version) ?? 0) + clients)
  }
  const newestFirst = [...clientsOf].sort(([a], [b]) => b - a)
  const counted = newestFirst.slice(0, MAX_VERSIONS)
  const older = newestFirst.slice(MAX_VERSIONS).reduce((sum, [, clients]) => sum + clients, 0)
  return counted.map(([version, clients], index) => {
    return { version, clients: clients + (index === MAX_VERSIONS - 1 ? older : 0) }
  })
}
