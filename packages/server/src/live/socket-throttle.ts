import { type ConnectionThrottle, overloaded } from '../access/connection-throttle.ts'
import { type RequestLimiter, tooManyRequests } from '../access/rate-limit.ts'
import type { EnvironmentScope } from '../access/sdk-keys.ts'

interface SocketThrottleOptions {
  readonly connections: ConnectionThrottle
  readonly limiter: RequestLimiter
}

/** Limits how fast clients with a valid `init` receive sessions. */
export class SocketThrottle {
  readonly #options: SocketThrottleOptions

  constructor(options: SocketThrottleOptions) {
    this.#options = options
  }

  /**
   * Takes one request from the key's window. Throws `RATE_LIMITED` as `overloaded` if too many
   * clients connect, which takes nothing from the window; without it if the window is used up.
   */
  async admit(scope: EnvironmentScope): Promise<void> {
    const { connections, limiter } = this.#options
    const seconds = connections.take(scope.organizationId)
    if (seconds > 0) throw overloaded('The server is overloaded; connect again later.', seconds)
    const permit = await limiter.take(scope)
    if (permit.granted) return
    connections.giveBack(scope.organizationId)
    throw tooManyRequests({ seconds: Number(permit.retryAfter) })
  }
}
