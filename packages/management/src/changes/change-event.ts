import { type AuditEventType, type AuditedFields, auditEvents } from '@ff/protocol/management'
import type * as z from 'zod'
import type { Actor } from '../access/actors.ts'
import type { AnyPath } from '../access/paths.ts'
import { encodeWire } from '../requests/validation.ts'
import type { NewAuditEntry } from './audit-chain.ts'

/** The audit event of a change, in the wire format. Created by `changeEvent`. */
export interface ChangeEvent {
  readonly type: AuditEventType
  /** The id of the record that the event is about. */
  readonly id: string
  readonly before: unknown
  readonly after: unknown
}

interface EventFields<T extends AuditEventType> {
  readonly before?: AuditedFields<T> | null
  readonly after?: AuditedFields<T> | null
}

/** Creates an audit event. `before` and `after` are the fields of the record; by default `null`. */
export function changeEvent<T extends AuditEventType>(
  type: T,
  id: string,
  { before = null, after = null }: EventFields<T>,
): ChangeEvent {
  const codec: z.ZodType = auditEvents[type].fields
  const encode = (value: unknown) => (value === null ? null : encodeWire(codec, value))
  return { type, id, before: encode(before), after: encode(after) }
}

interface EntryInput {
  readonly actor: Actor
  readonly comment?: string | undefined
  readonly path: AnyPath
  readonly createdAt: string
}

/** Returns the audit entry of an event, before it is added to a chain. */
export function toAuditEntry(
  { type, id, before, after }: ChangeEvent,
  { path: { organization, project }, actor, comment, createdAt }: EntryInput,
): NewAuditEntry {
  const { stream } = auditEvents[type]
  const owner = (kind: string) => (stream === kind ? id : '')
  const { id: actorId, email, name, role } = actor
  return {
    eventType: type,
    payload: { before, after } as NewAuditEntry['payload'],
    createdAt,
    streamId: `${stream}:${id}`,
    comment: comment ?? null,
    orgId: organization?.id ?? owner('organization'),
    projectId: project?.id ?? owner('project'),
    actorId,
    actor: { id: actorId, email, name, role },
  }
}

/** The result of a change, and the data for its audit event and its publication. */
export interface CompletedChange<Result> {
  /** The audit event; required if the change has written a record. */
  readonly event?: ChangeEvent
  readonly result: Result
  /** The wire field that the error names if the publication fails with `INVALID_DEFINITION`. */
  readonly field?: string
  /**
   * The name of the field of `result` that contains a secret. In the reply to a repeated request,
   * the value of this field is `null`.
   */
  readonly shownOnce?: string
  /**
   * The name of the field of `result` that contains the version of the environment. If the change
   * publishes a version, the value of this field becomes its number.
   */
  readonly publishedAs?: string
  /** `true` to roll the change back after all checks, and to return the result. */
  readonly isDryRun?: boolean
}

interface Completion<Result> extends Pick<CompletedChange<Result>, 'field' | 'isDryRun'> {
  /**
   * The id of the record that the event is about; by default the id of `after`, else of `before`.
   */
  readonly id?: string
  readonly shownOnce?: keyof Result & string
  readonly publishedAs?: keyof Result & string
}

interface CompletionWithResult<Result> extends Completion<Result> {
  readonly result: Result
}

/**
 * Completes a change with its audit event. `fields` contains the record before and after the
 * change, each `null` by default. The result is the record after the change unless `completion`
 * contains a result.
 *
 * @example
 * return completed('plan.updated', { before, after })
 */
export function completed<T extends AuditEventType, Result>(
  type: T,
  fields: EventFields<T>,
  completion: CompletionWithResult<Result>,
): CompletedChange<Result>
export function completed<T extends AuditEventType, After extends AuditedFields<T>>(
  type: T,
  fields: EventFields<T> & { readonly after: After },
  completion?: Completion<After>,
): CompletedChange<After>
export function completed<T extends AuditEventType>(
  type: T,
  fields: { readonly before: AuditedFields<T> },
  completion?: Completion<null>,
): CompletedChange<null>
export function completed<T extends AuditEventType>(
  type: T,
  { before = null, after = null }: EventFields<T>,
  { id, ...completion }: { readonly id?: string } = {},
): unknown {
  const record = (after ?? before) as { readonly id?: string } | null
  const event = changeEvent(type, id ?? record?.id ?? '', { before, after })
  return { event, result: after, ...completion }
}
