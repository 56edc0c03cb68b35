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

/** Describes a change by the fields before and after it; `null` where there is none. */
export function changeEvent<T extends AuditEventType>(
  type: T,
  id: string,
  fields: { readonly before: AuditedFields<T> | null; readonly after: AuditedFields<T> | null },
): ChangeEvent {
  const codec: z.ZodType = auditEvents[type].fields
  const encode = (value: unknown) => (value === null ? null : encodeWire(codec, value))
  return { type, id, before: encode(fields.before), after: encode(fields.after) }
}
