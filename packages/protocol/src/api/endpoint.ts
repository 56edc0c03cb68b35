import * as z from 'zod'
import { record } from './record.ts'
import type { Permission } from './roles.ts'
import { text } from './scalars.ts'

/** One management endpoint: the data for the router, clients and the reference documentation. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Parameters stand in braces: `/projects/{projectId}`. Fixed segments win over parameters. */
  readonly path: string
  /**
   * `anyone`: needs no credentials, for example to log in. `oneself`: any authenticated caller, for
   * endpoints that concern only the caller.
   */
  readonly permission: Permission | 'anyone' | 'oneself'
  readonly params: z.ZodType
  readonly query: z.ZodType
  /** `noBody` if the endpoint has no body. */
  readonly body: z.ZodType
  /** The maximum size of the body, if it exceeds `MAX_BODY_BYTES` of the SDK endpoints. */
  readonly maxBodyBytes?: number
  /** Passes the body to the use case as text, because its signature covers the exact bytes. */
  readonly rawBody?: true
  /** The status of success. */
  readonly status: 200 | 201 | 302
  /** The payload of the envelope; with `lines`, of each line. */
  readonly response: z.ZodType
  /** Responds with JSON lines instead of the envelope, streamed while they are read. */
  readonly lines?: true
  /** Sentences of the reference documentation for rules that the schemas do not express. */
  readonly notes?: string
}

export const noBody = z.undefined()
export const noQuery = record({})

/** A whole number in decimal, in a path or a query. */
export const wholeNumber = (min: number, max: number) =>
  z.codec(z.string().regex(/^\d{1,10}$/, 'must be a whole number'), z.int().min(min).max(max), {
    decode: Number,
    encode: String,
  })

/** `true` or `false` in a query. */
export const truth = z.codec(z.enum(['true', 'false']), z.boolean(), {
  decode: (word) => word === 'true',
  encode: (value) => (value ? 'true' : 'false'),
})

/** The page of a list; by default the first page of 50 items. */
export const paging = {
  page: wholeNumber(1, 1_000_000_000).optional().meta({ default: 1 }),
  limit: wholeNumber(1, 100).optional().meta({ default: 50 }),
}
export const pageQuery = record(paging)
/** `search` matches part of a name, a key or an e-mail address, ignoring ASCII case. */
export const searchQuery = record({ search: text(256).min(1).optional(), ...paging })

/** The common fields of endpoints of one kind; a row may override them. */
export const reading = {
  method: 'GET',
  permission: 'configuration.read',
  body: noBody,
  status: 200,
} as const
export const creating = {
  method: 'POST',
  permission: 'flags.write',
  query: noQuery,
  status: 201,
} as const
export const changing = {
  method: 'PUT',
  permission: 'flags.write',
  query: noQuery,
  status: 200,
} as const
export const deleting = {
  method: 'DELETE',
  permission: 'flags.write',
  query: noQuery,
  body: noBody,
  status: 200,
  response: z.null(),
} as const
