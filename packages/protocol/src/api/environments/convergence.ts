import * as z from 'zod'
import { reading } from '../endpoint.ts'
import { ENVIRONMENT } from '../paths.ts'
import { record } from '../record.ts'
import { count, id, timestamp } from '../scalars.ts'

/** The delivery progress of the newest version, at the responding instance and at all instances. */
export type Convergence = z.output<typeof convergenceCodec>

const serving = record({
  /** The version of the flag set with which this instance evaluates. */
  version: count,
  /** The last time when this instance verified that this version is the newest. */
  checkedAt: timestamp,
  /** The time since `checkedAt` in milliseconds. */
  ageMs: count,
})

const clientCounts = {
  /** The number of connected sockets. */
  ws: count,
  /** The number of pending polls and open event streams. */
  poll: count,
  /** The number of clients that have not received all changes up to the published version. */
  behind: count,
}

const instance = record({
  /** The id of the instance. A restarted instance has a new id. */
  instanceId: id,
  /** The version that the instance sends to its clients. */
  version: count,
  /** The time of the last report of the instance. */
  seenAt: timestamp,
  ...clientCounts,
})

/** The codec of the live clients of all instances. */
export const allClientsCodec = record({
  ...clientCounts,
  /**
   * The number of clients that have confirmed the published version; `null` if no client confirms
   * versions. A poll confirms the version that its request names; a socket confirms nothing.
   */
  applied: count.nullable(),
})

const versionClients = record({ version: count, clients: count })

const reached = record({
  /** The time within which the version was sent to 50 % of these clients, in milliseconds. */
  p50Ms: count,
  /** The time for 95 %. */
  p95Ms: count,
  /** The time for 99 %. */
  p99Ms: count,
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
  clients: record(clientCounts),
  /**
   * The instances with live clients of this environment, ordered by id. An instance without a report
   * for 15 seconds is omitted.
   */
  instances: z.array(instance),
  /** The live clients of these instances. */
  total: allClientsCodec,
  /**
   * The number of clients by the last version that they have received, newest version first. At most
   * 20 versions: clients with older versions count for the last of them.
   */
  byVersion: z.array(versionClients),
  /**
   * The times from the publication of `version` until it was sent, of the clients that were
   * connected then, rounded up by at most 25 %. `null` if it was sent to no client.
   */
  reached: reached.nullable(),
})

/** The endpoint that returns the convergence of an environment. */
export const convergenceEndpoints = {
  getConvergence: reading(`${ENVIRONMENT}/convergence`, { response: convergenceCodec }),
}
