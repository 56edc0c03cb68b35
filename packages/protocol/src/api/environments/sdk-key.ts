import * as z from 'zod'
import { creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ENVIRONMENT } from '../paths.ts'
import { record } from '../record.ts'
import { id, instant, name, recordFields, timestamp } from '../scalars.ts'

/** An SDK key, which permits evaluation in one environment. Only a hash of the key is stored. */
export type SdkKey = z.output<typeof sdkKeyCodec>

/**
 * With a `client` key, an application can read only flag values. With a `server` key, it can also
 * load the flag set, for local evaluation.
 */
const sdkKeyKind = z.enum(['client', 'server'])

const MAX_GRACE_SECONDS = 30 * 24 * 60 * 60

/** Requests per minute. */
const rateLimit = z.int().min(1).max(1_000_000_000)

const fields = {
  id,
  environmentId: id,
  projectId: id,
  name,
  kind: sdkKeyKind,
  /** The first 11 characters, which help users to recognise a key. */
  prefix: z.string(),
  expiresAt: timestamp.nullable(),
  revokedAt: timestamp.nullable(),
  /** The maximum number of requests per minute; `null` for the server's default. */
  rateLimit: rateLimit.nullable(),
  lastUsedAt: timestamp.nullable(),
  ...recordFields,
}

/** The codec of `SdkKey`. */
export const sdkKeyCodec = record(fields)

/** The response to `createSdkKey`. `key` is `null` in the response to a repeated request. */
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
  /**
   * The number of seconds until the old key becomes invalid, at most 30 days. The default is one
   * day.
   */
  graceSeconds: z.int().min(0).max(MAX_GRACE_SECONDS).optional(),
  /** The expiry of the new key; the expiry of the old key by default. */
  expiresAt: instant.nullable().optional(),
})

/** A rotated key and the key that replaces it; `successor` is `null` before the rotation. */
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
  /** The key becomes invalid immediately but remains in lists. */
  revokeSdkKey: deleting(`${SDK_KEYS}/{keyId}`, { permission }),
  rotateSdkKey: creating(`${SDK_KEYS}/{keyId}/rotate`, {
    permission,
    body: sdkKeyRotationCodec,
    response: issuedSdkKeyCodec,
  }),
}
