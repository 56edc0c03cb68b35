import type { Convergence } from '@ff/protocol/management'
import { SDK_KEY_KINDS } from './access/sdk-keys.ts'
import type { FlagSetCache } from './evaluation/flag-set-cache.ts'
import type { SessionRegistry } from './live/session-registry.ts'

interface InstanceParts {
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
}

/** What this process, one of perhaps many, evaluates with and for whom. */
export class Instance {
  readonly #parts: InstanceParts

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
}
