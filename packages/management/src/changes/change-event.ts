import { type AuditEventType, type AuditedFields, auditEvents } from '@ff/protocol/management'
import type * as z from 'zod'
import { encodeWire } from '../requests/validation.ts'

/** The audit event of a change, in the words of the wire. Made by `changeEvent`. */
export interface ChangeEvent {
  readonly type: AuditEventType
  /** Of the thing that the event's stream is named after. */
  readonly id: string
  readonly before: unknown
  readonly after: unknown
}

interface EventFields<T extends AuditEventType> {
  readonly before?: AuditedFields<T> | null
  readonly after?: AuditedFields<T> | null
}

/** Describes a change by the fields before and after it; `null` where there is none. */
export function changeEvent<T extends AuditEventType>(
  type: T,
  id: string,
  { before = null, after = null }: EventFields<T>,
): ChangeEvent {
  const codec: z.ZodType = auditEvents[type].fields
  const encode = (value: unknown) => (value === null ? null : encodeWire(codec, value))
  return { type, id, before: encode(before), after: encode(after) }
}

/** The result of a change, and what its audit event and its publication need. */
export interface CompletedChange<Result> {
  /** Required of work that has written something. */
  readonly event?: ChangeEvent
  readonly result: Result
  /** The wire field that an `INVALID_DEFINITION` error of the publication names. */
  readonly field?: string
  /** The field of `result` with a secret; `null` in the reply to a repeated request. */
  readonly shownOnce?: string
}

interface Completion<Result> extends Pick<CompletedChange<Result>, 'field'> {
  /** The thing that the event is about; by default the record after the change, or before it. */
  readonly id?: string
  readonly shownOnce?: keyof Result & string
}

interface CompletionWithResult<Result> extends Completion<Result> {
  readonly result: Result
}

/**
 * Completes a change by its audit event: the fields before and after it, `null` by default. The
 * result is the record after the change unless it is given.
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
