import type * as z from 'zod'
import { reading } from '../endpoint.ts'
import { ENVIRONMENT } from '../paths.ts'
import { record } from '../record.ts'
import { count, timestamp } from '../scalars.ts'

/** How far a published version has come, as the instance that answers sees it. */
export type Convergence = z.output<typeof convergenceCodec>

const serving = record({
  /** Of the flag set that this instance evaluates with. */
  version: count,
  /** When this instance last knew that nothing newer was published. */
  checkedAt: timestamp,
  ageMs: count,
})

const clients = record({
  ws: count,
  /** Parked requests. */
  poll: count,
  /** Clients that have not received all changes up to the published version. */
  behind: count,
})

/** The codec of `Convergence`. */
export const convergenceCodec = record({
  /** The newest one in the store; 0 when nothing was ever published. */
  version: count,
  publishedAt: timestamp.nullable(),
  /** null until a client requests the environment's flags from this instance. */
  serving: serving.nullable(),
  /** The live clients of this instance. */
  clients,
})

/** The endpoint of the convergence of environments. */
export const convergenceEndpoints = {
  getConvergence: reading(`${ENVIRONMENT}/convergence`, { response: convergenceCodec }),
}
