import { type Convergence, endpoints } from '@ff/protocol/management'
import { loadPermitted } from '../access/access-request.ts'
import { loadEnvironmentPath } from '../access/project-paths.ts'
import type { Management } from '../changes/management.ts'
import type { Input } from '../requests/input.ts'

const NO_CLIENTS = { ws: 0, poll: 0, behind: 0 }

/** How far the newest version of an environment has come, as this instance sees it. */
export async function getConvergence(
  management: Management,
  { params }: Input<'getConvergence', 'params'>,
): Promise<Convergence> {
  const { permission } = endpoints.getConvergence
  const { storage, clock, instance } = management
  const request = { permission, load: loadEnvironmentPath, params }
  const { environment } = await loadPermitted(management, request)
  const { data } = await storage.listVersions(environment.id, { page: 1, limit: 1 })
  const { version = 0, publishedAt = null } = data[0] ?? {}
  const served = instance?.findServed(environment.id)
  return {
    version,
    publishedAt,
    serving: served === undefined ? null : toServing(served, clock.now()),
    clients: instance?.countClients(environment.id, version) ?? NO_CLIENTS,
  }
}

function toServing(
  { version, checkedAt }: { readonly version: number; readonly checkedAt: number },
  now: number,
): NonNullable<Convergence['serving']> {
  return {
    version,
    checkedAt: new Date(checkedAt).toISOString(),
    // A clock that was set back makes nothing younger than it is.
    ageMs: Math.max(0, now - checkedAt),
  }
}
