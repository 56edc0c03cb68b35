import type * as z from 'zod'
import { reading } from '../endpoint.ts'
import { ENVIRONMENT } from '../paths.ts'
import { record } from '../record.ts'
import { count, timestamp } from '../scalars.ts'

/** The delivery progress of the newest version, as seen by the instance that responds. */
export type Convergence = z.output<typeof convergenceCodec>

const serving = record({
  /** The version of the flag set with which this instance evaluates. */
  version: count,
  /** The last time when this instance verified that this version is the newest. */
  checkedAt: timestamp,
  /** The time since `checkedAt` in milliseconds. */
  ageMs: count,
})

const clients = record({
  /** The number of connected sockets. */
  ws: count,
  /** The number of pending polls. */
  poll: count,
  /** The number of clients that have not received all changes up to the published version. */
  behind: count,
})

/** The codec of `Convergence`. */
export const convergenceCodec = record({
  /** The newest version in the store; 0 if no version was published. */
  version: count,
  publishedAt: timestamp.nullable(),
  /**
   * The flag set of this instance; `null` until a client requests the environment's flags from this
   * instance.
   */
  serving: serving.nullable(),
  /** The live clients that are connected to this instance. */
  clients,
})

/** The endpoint that returns the convergence of an environment. */
export const convergenceEndpoints = {
  getConvergence: reading(`${ENVIRONMENT}/convergence`, { response: convergenceCodec }),
}
