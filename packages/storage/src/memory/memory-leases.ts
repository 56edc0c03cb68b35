import type { LeaseClaim, LeaseHolder, Leases } from '../ports/leases.ts'

interface Lease {
  readonly holder: string
  /** The time of the expiry, in the milliseconds of `monotonicNow`. */
  readonly expiresAt: number
}

/** The leases of the instances that share one process. */
export class MemoryLeases implements Leases {
  readonly #monotonicNow: () => number
  readonly #leases = new Map<string, Lease>()

  constructor(monotonicNow: () => number = () => performance.now()) {
    this.#monotonicNow = monotonicNow
  }

  async claimLease({ name, holder, forMs }: LeaseClaim): Promise<boolean> {
    const now = this.#monotonicNow()
    const present = this.#leases.get(name)
    if (present !== undefined && present.holder !== holder && present.expiresAt > now) return false
    this.#leases.set(name, { holder, expiresAt: now + forMs })
    return true
  }

  async findLeaseHolder(name: string): Promise<string | undefined> {
    const present = this.#leases.get(name)
    return present !== undefined && present.expiresAt > this.#monotonicNow()
      ? present.holder
      : undefined
  }

  async releaseLease({ name, holder }: LeaseHolder): Promise<void> {
    if (this.#leases.get(name)?.holder === holder) this.#leases.delete(name)
  }
}
