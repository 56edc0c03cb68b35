import type { Kind, Records } from '../../ports/records.ts'

/** Functions that create a new, valid record, by kind. */
export type SamplesOf<K extends Kind> = { readonly [Each in K]: () => Records[Each] }

/** The creation time of sample records. */
export const CREATED_AT = '2026-03-01T10:20:30.456Z'

/** Returns a new random UUID. */
export function newId(): string {
  return crypto.randomUUID()
}

/** Returns the timestamps and the revision that most kinds of records have. */
export function ending() {
  return { createdAt: CREATED_AT, updatedAt: CREATED_AT, deletedAt: null, revision: 1 }
}
