import * as z from 'zod'
import { creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ENVIRONMENT } from '../paths.ts'
import { record } from '../record.ts'
import { id, instant, name, recordFields, timestamp } from '../scalars.ts'

/** Lets a client evaluate one environment; the key itself is shown once and never stored. */
export type SdkKey = z.output<typeof sdkKeyCodec>

/** `client`: values only. `server`: also the flag set, for evaluation in process. */
const sdkKeyKind = z.enum(['client', 'server'])

const MAX_GRACE_SECONDS = 30 * 24 * 60 * 60

/** Requests a minute. */
const rateLimit = z.int().min(1).max(1_000_000_000)

const fields = {
  id,
  environmentId: id,
  projectId: id,
  name,
  kind: sdkKeyKind,
  /** The first 11 characters, to recognise a key by. */
  prefix: z.string(),
  expiresAt: timestamp.nullable(),
  revokedAt: timestamp.nullable(),
  /** null: the default. */
  rateLimit: rateLimit.nullable(),
  lastUsedAt: timestamp.nullable(),
  ...recordFields,
}

/** The codec of `SdkKey`. */
export const sdkKeyCodec = record(fields)

/** A key in the answer that creates it; `key` is null when that request is repeated. */
export type IssuedSdkKey = z.output<typeof issuedSdkKeyCodec>

/** The codec of `IssuedSdkKey`. */
export const issuedSdkKeyCodec = record({ ...fields, key: z.string().nullable() })

/** The body of `createSdkKey`. */
export type NewSdkKey = z.output<typeof newSdkKeyCodec>

/** The codec of `NewSdkKey`. */
export const newSdkKeyCodec = record({
  name,
  kind: sdkKeyKind,
  expiresAt: instant.nullable().optional(),
  rateLimit: rateLimit.nullable().optional(),
})

/** The body of `rotateSdkKey`. */
export type SdkKeyRotation = z.output<typeof sdkKeyRotationCodec>

/** The codec of `SdkKeyRotation`. */
export const sdkKeyRotationCodec = record({
  /** How long the old key is still valid: 0 to 30 days; a day unless given. */
  graceSeconds: z.int().min(0).max(MAX_GRACE_SECONDS).optional(),
  /** Of the new key; that of the old one unless given. */
  expiresAt: instant.nullable().optional(),
})

/** A key that was rotated, and the key that takes its place. */
export const rotatedSdkKeyCodec = record({ key: sdkKeyCodec, successor: sdkKeyCodec.nullable() })

const SDK_KEYS = `${ENVIRONMENT}/sdk-keys` as const
const permission = 'projects.write'

/** The endpoints of SDK keys. */
export const sdkKeyEndpoints = {
  listSdkKeys: reading(SDK_KEYS, { query: searchQuery, response: pageOf(sdkKeyCodec) }),
  createSdkKey: creating(SDK_KEYS, {
    permission,
    body: newSdkKeyCodec,
    response: issuedSdkKeyCodec,
  }),
  /** Ends the key at once; it stays in lists. */
  revokeSdkKey: deleting(`${SDK_KEYS}/{keyId}`, { permission }),
  rotateSdkKey: creating(`${SDK_KEYS}/{keyId}/rotate`, {
    permission,
    body: sdkKeyRotationCodec,
    response: issuedSdkKeyCodec,
  }),
}
