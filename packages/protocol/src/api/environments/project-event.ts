import * as z from 'zod'
import { reading } from '../endpoint.ts'
import { PROJECT } from '../paths.ts'
import { record } from '../record.ts'
import { count, id } from '../scalars.ts'
import { allClientsCodec } from './convergence.ts'

/** An event of the event stream of a project. */
export type ProjectEvent = z.output<typeof projectEventCodec>

/**
 * The value of the field `id` of an event: the position after it, which a reader sends as `Last-Event-ID` to continue
 * there.
 */
const position = z.string()

/** The author of a change: the id and the name at the time of the change. */
const author = record({ id: z.string(), name: z.string() })

/** A key of the audit events, such as `flag_state.updated`. */
const eventType = z.string()

const versionData = record(
  {
    environmentId: id,
    version: count,
    eventType,
    actor: author,
    /** The ids of the changed flags. */
    flags: z.array(z.string()),
    /** The ids of the changed segments. */
    segments: z.array(z.string()),
  },
  { environmentId: 'env_id' },
)

const changeData = record({
  eventType,
  /** The id of the changed record; its kind is the first part of `event_type`. */
  id: z.string(),
  actor: author,
})

const convergenceData = record(
  {
    environmentId: id,
    version: count,
    /** The live clients of all instances, as in the response of `getConvergence`. */
    total: allClientsCodec,
  },
  { environmentId: 'env_id' },
)

/** The codec of `ProjectEvent`. */
export const projectEventCodec = z.union([
  /** A new version of an environment. `id` is null if the same change has further events. */
  record({ event: z.literal('version'), id: position.nullable(), data: versionData }),
  /** A change of a record of the project that made no version. */
  record({ event: z.literal('project'), id: position, data: changeData }),
  /** The delivery of the newest version of an environment to its live clients. */
  record({ event: z.literal('convergence'), id: z.null(), data: convergenceData }),
  /** Events are missing. The reader must load everything that it shows. */
  record({ event: z.literal('reload'), id: position, data: z.strictObject({}) }),
  /** The position without a change. On the wire, it has only the field `id`. */
  record({ event: z.literal('position'), id: position, data: z.strictObject({}) }),
])

/** The endpoint of the event stream of a project. */
export const projectEventEndpoints = {
  streamProjectEvents: reading(`${PROJECT}/events`, {
    events: true,
    response: projectEventCodec,
    notes:
      'The stream stays open until the caller loses its access or the server closes. ' +
      'With `Last-Event-ID`, it first sends the events after this position; if they are no longer available or ' +
      'the position is not one of this project, it sends `event: reload`. A comment is sent every 20 seconds. ' +
      'An instance accepts 500 streams, and 10 of each user or access token.',
  }),
}
