import { type JsonValue, jsonEquals } from '@ff/core'
import { readOnlyFieldsOf } from '@ff/protocol/management'
import type * as z from 'zod'
import { invalidRequest } from './validation.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields that evaluations increase at any time, without a change of the record. */
const GROWING: ReadonlySet<string> = new Set(['apiUsage', 'lastEvaluatedAt'])

/** Returns `true` if a body contains a read-only field. */
export function hasReadOnlyFields(codec: z.ZodType, body: unknown): boolean {
  const names = readOnlyFieldsOf(codec)
  return Object.keys(toFields(body)).some((field) => names.has(field))
}

/** Returns a body without its read-only fields, which are decoded, or on the `wire`. */
export function withoutReadOnlyFields<B>(codec: z.ZodType, body: B, form?: 'wire'): B {
  const names = readOnlyFieldsOf(codec)
  const readOnly = new Set(form === 'wire' ? names.values() : names.keys())
  if (typeof body !== 'object' || body === null || readOnly.size === 0) return body
  return Object.fromEntries(Object.entries(body).filter(([field]) => !readOnly.has(field))) as B
}

/**
 * Throws `INVALID_REQUEST`, with one issue for each faulty field, if a read-only field of a body
 * differs from the same field of the stored record.
 */
export function assertReadOnlyFields(codec: z.ZodType, body: unknown, record: object): void {
  const stored = toFields(record)
  const names = readOnlyFieldsOf(codec)
  const issues = Object.entries(toFields(body)).flatMap(([field, value]) => {
    const path = names.get(field)
    if (path === undefined || value === undefined) return []
    if (isEqual(value, stored[field]) || isEarlier(field, value, stored[field])) return []
    const isStale = field === 'revision' && isLess(value, stored[field])
    return [{ path, message: isStale ? staleMessage(stored[field]) : READ_ONLY }]
  })
  if (issues.length > 0) throw invalidRequest(issues)
}

const READ_ONLY = 'is read-only; omit it or send the stored value'

function staleMessage(revision: unknown): string {
  return `is read-only; the record has changed and its revision is now ${revision}: read it again`
}

function isLess(value: unknown, stored: unknown): boolean {
  return typeof value === 'number' && typeof stored === 'number' && value < stored
}

function isEqual(value: unknown, stored: unknown): boolean {
  return stored !== undefined && jsonEquals(value as JsonValue, stored as JsonValue)
}

/** Returns `true` if the field has grown from `value` to the stored value. */
function isEarlier(field: string, value: unknown, stored: unknown): boolean {
  if (!GROWING.has(field)) return false
  if (value === null) return typeof stored === 'string'
  const isComparable = typeof value === typeof stored && value !== ''
  return isComparable && (value as string | number) <= (stored as string | number)
}

function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
