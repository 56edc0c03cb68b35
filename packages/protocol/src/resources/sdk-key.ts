import * as z from 'zod'
import { record } from '../record.ts'
import { id, instant, name, recordFields, recordNames, timestamp } from '../scalars.ts'

/** Lets a client evaluate one environment; the key itself is shown once and never stored. */
export type SdkKey = z.output<typeof sdkKeyCodec>

/** `client`: values only. `server`: also the flag set, for evaluation in process. */
const sdkKeyKind = z.enum(['client', 'server'])

/** Requests a minute. */
const rateLimit = z.int().min(1).max(1_000_000_000)

const inputNames = { expiresAt: 'expires_at', rateLimit: 'rate_limit' } as const

export const sdkKeyCodec = record(
  {
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
  },
  {
    environmentId: 'environment_id',
    projectId: 'project_id',
    revokedAt: 'revoked_at',
    lastUsedAt: 'last_used_at',
    ...inputNames,
    ...recordNames,
  },
)

export type NewSdkKey = z.output<typeof newSdkKeyCodec>

export const newSdkKeyCodec = record(
  {
    name,
    kind: sdkKeyKind,
    expiresAt: instant.nullable().optional(),
    rateLimit: rateLimit.nullable().optional(),
  },
  inputNames,
)
