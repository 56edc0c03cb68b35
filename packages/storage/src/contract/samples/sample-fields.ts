import type { Kind, Records } from '../../ports/records.ts'

/** Functions that return a new, valid record of each of several kinds. */
export type SamplesOf<K extends Kind> = { readonly [Each in K]: () => Records[Each] }

export const CREATED_AT = '2026-03-01T10:20:30.456Z'

export function newId(): string {
  return crypto.randomUUID()
}

/** The fields that end a record. */
export function ending() {
  return { createdAt: CREATED_AT, updatedAt: CREATED_AT, deletedAt: null, revision: 1 }
}
