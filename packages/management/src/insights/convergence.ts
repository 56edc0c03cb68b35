import type { Instance } from '@ff/server/plane'
import { defineUseCases } from '../changes/use-case.ts'

const NO_CLIENTS = { ws: 0, poll: 0, behind: 0 }

/**
 * Creates the use case of convergence. Without an instance, the use case reports that no version is
 * served.
 */
export function createConvergenceUseCases(instance: Instance | undefined) {
  return defineUseCases({
    /**
     * Returns the newest version of an environment, the version that this instance serves, and the
     * numbers of its clients, also of those with an older version.
     */
    async getConvergence({ storage, now, environment }) {
      const { data } = await storage.listVersions(environment.id, { page: 1, limit: 1 })
      const { version = 0, publishedAt = null } = data[0] ?? {}
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
      }
    },
  })
}
