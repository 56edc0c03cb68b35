import type { Instance } from '@ff/server/plane'
import { defineUseCases } from '../changes/use-case.ts'

const NO_CLIENTS = { ws: 0, poll: 0, behind: 0 }

/** Creates the use case of convergence; without an instance, nothing is served. */
export function createConvergenceUseCases(instance: Instance | undefined) {
  return defineUseCases({
    /** How far the newest version of an environment has come, as this instance sees it. */
    async getConvergence({ storage, now, environment }) {
      const { data } = await storage.listVersions(environment.id, { page: 1, limit: 1 })
      const { version = 0, publishedAt = null } = data[0] ?? {}
      const served = instance?.findServed(environment.id)
      const serving = served && {
        version: served.version,
        checkedAt: new Date(served.checkedAt).toISOString(),
        // A clock that was set back makes nothing younger than it is.
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
