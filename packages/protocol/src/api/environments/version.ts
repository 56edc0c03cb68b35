import * as z from 'zod'
import { creating, cursorQuery, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { evaluationQuestionCodec, explainedEvaluationCodec } from '../flags/explanation.ts'
import { flagSetCodec } from '../flags/flag-set.ts'
import { ENVIRONMENT } from '../paths.ts'
import { record } from '../record.ts'
import { count, timestamp } from '../scalars.ts'
import { auditActor } from '../users/audit-actor.ts'

/** A published version of an environment, with its time, actor, and changed flags and segments. */
export type Version = z.output<typeof versionCodec>

/** A changed flag or segment. `key` is `null` for a segment that was never published. */
const changed = z.strictObject({ id: z.string(), key: z.string().nullable() })

/** The codec of `Version`. */
export const versionCodec = record({
  version: count,
  publishedAt: timestamp,
  /** The id of the audit event of the change; `null` if there is none. */
  eventId: z.string().nullable(),
  eventType: z.string().nullable(),
  actor: auditActor.nullable(),
  flags: z.array(changed),
  segments: z.array(changed),
})

/** The result of a restore. */
export type Restoration = z.output<typeof restorationCodec>

const restored = z.strictObject({ id: z.string(), key: z.string() })

const skipped = z.strictObject({
  resource: z.enum(['flag', 'segment']),
  id: z.string(),
  key: z.string(),
  reason: z.enum([
    /** The resource was deleted and stays deleted. */
    'deleted',
    /** The flag is archived and stays archived. */
    'archived',
    /** The resource did not exist in the restored version and stays unchanged. */
    'absent_then',
    /**
     * The variations of the flag, or the segment, differ from the restored version and are kept.
     */
    'changed',
  ]),
})

/** The codec of `Restoration`. */
export const restorationCodec = record({
  restoredVersion: count,
  /** The flags that were restored. */
  flags: z.array(restored),
  /**
   * The flags and segments that were not restored, or only partly: a flag can be in both lists if
   * its variations have changed.
   */
  skipped: z.array(skipped),
})

/** The version before a restore or the restored version, and the changed flags. */
export const restoredVersionCodec = record({ version: count, flags: z.array(restored) })

const VERSIONS = `${ENVIRONMENT}/versions` as const

/** The endpoints of versions. */
export const versionEndpoints = {
  listVersions: reading(VERSIONS, { query: cursorQuery, response: pageOf(versionCodec) }),
  getVersion: reading(`${VERSIONS}/{version}`, { response: flagSetCodec }),
  restoreVersion: creating(`${VERSIONS}/{version}/restore`, {
    status: 200,
    response: restorationCodec,
  }),
  /** Reads only; it uses POST because a context can be too long for a query string. */
  explainEvaluation: reading(`${ENVIRONMENT}/evaluate`, {
    method: 'POST',
    body: evaluationQuestionCodec,
    response: explainedEvaluationCodec,
  }),
}
