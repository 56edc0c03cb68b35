/** A lease and the holder that claims it. */
export interface LeaseClaim extends LeaseHolder {
  /** The time for which the lease lasts from now on, in milliseconds, at least 1. */
  readonly forMs: number
}

/** The name of a lease, and the id of one of the instances that claim it. */
export interface LeaseHolder {
  readonly name: string
  readonly holder: string
}

/**
 * Leases, each of which one instance holds for a limited time, by one clock for all instances. A
 * lease reduces work that several instances would repeat. It does not exclude two holders: an
 * instance can be late to notice that its lease has expired. Work that must happen once needs a
 * transaction in addition.
 */
export interface Leases {
  /**
   * Takes a lease that is free or has expired, or extends a lease of the same holder. Returns
   * `false` if the lease belongs to another holder. Not part of any transaction.
   */
  claimLease(claim: LeaseClaim): Promise<boolean>

  /** Makes the lease free. Has no effect if it does not belong to the holder. */
  releaseLease(lease: LeaseHolder): Promise<void>
}
