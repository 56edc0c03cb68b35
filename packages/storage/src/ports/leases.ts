/** The lease of the instance that runs the background jobs for all instances with the same store. */
export const JOBS_LEASE = 'jobs'

/**
 * The holder of `JOBS_LEASE` in a store that was created as a copy of another. No instance runs
 * background jobs until the store is activated.
 */
export const COPY_HOLDER = 'copy'

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

  /** Returns the holder of a lease; `undefined` if the lease is free or has expired. */
  findLeaseHolder(name: string): Promise<string | undefined>

  /** Makes the lease free. Has no effect if it does not belong to the holder. */
  releaseLease(lease: LeaseHolder): Promise<void>
}

/**
 * Lets the servers of a migrated store run background jobs, if the store was created as a copy of
 * another, because it takes the place of the original. They begin within five seconds. Returns
 * `false` if the store was active.
 */
export async function activateStore(storage: Leases): Promise<boolean> {
  if ((await storage.findLeaseHolder(JOBS_LEASE)) !== COPY_HOLDER) return false
  await storage.releaseLease({ name: JOBS_LEASE, holder: COPY_HOLDER })
  return true
}
