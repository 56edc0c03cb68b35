import { type Admission, overloaded } from '../access/admission.ts'
import { type RequestLimiter, tooManyRequests } from '../access/rate-limit.ts'
import type { EnvironmentScope } from '../access/sdk-keys.ts'

interface SocketAdmissionParts {
  readonly throttle: Admission
  readonly limiter: RequestLimiter
}

/** Decides whether a client with a valid `init` gets a session. */
export class SocketAdmission {
  readonly #parts: SocketAdmissionParts

  constructor(parts: SocketAdmissionParts) {
    this.#parts = parts
  }

  /**
   * Takes one request from the key's window. Throws `RATE_LIMITED`: as `overloaded` because of the
   * other clients, which takes nothing from the window, or because the window is used up.
   */
  async admit(scope: EnvironmentScope): Promise<void> {
    const { throttle, limiter } = this.#parts
    const seconds = throttle.take(scope.organizationId)
    if (seconds > 0) throw overloaded('The server is overloaded; connect again later.', seconds)
    const permit = await limiter.take(scope)
    if (permit.granted) return
    throttle.giveBack(scope.organizationId)
    throw tooManyRequests({ seconds: Number(permit.retryAfter) })
  }
}
