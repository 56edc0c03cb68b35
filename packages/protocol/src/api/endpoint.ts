import * as z from 'zod'
import { type PathParams, pathParams } from './paths.ts'
import { record } from './record.ts'
import type { Permission } from './roles.ts'
import { text, wholeNumber } from './scalars.ts'

/** One management endpoint: the data for the router, clients and the reference documentation. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /**
   * The path, with parameters in braces: `/projects/{projectId}`. A fixed segment takes precedence
   * over a parameter.
   */
  readonly path: string
  /**
   * The required permission. `anyone` requires no credentials, for example to log in. `oneself`
   * accepts every authenticated caller, for endpoints that concern only the caller.
   */
  readonly permission: Permission | 'anyone' | 'oneself'
  /** The codec of the parameters in the path. */
  readonly params: z.ZodType
  /** The codec of the query; `noQuery` if the endpoint has no query. */
  readonly query: z.ZodType
  /** The codec of the body; `noBody` if the endpoint has no body. */
  readonly body: z.ZodType
  /**
   * The maximum size of the body in bytes. The default is `MAX_BODY_BYTES` of the SDK endpoints.
   */
  readonly maxBodyBytes?: number
  /** Passes the body to the use case as text, because a signature covers its exact bytes. */
  readonly rawBody?: true
  /** The HTTP status of a successful response. */
  readonly status: 200 | 201 | 302
  /** The codec of `data` in the envelope; of each line if `lines` is set, of each event if `events` is set. */
  readonly response: z.ZodType
  /** Responds with a stream of JSON lines instead of the envelope. */
  readonly lines?: true
  /**
   * The response has an `ETag` that identifies its content. If `If-None-Match` of a request contains
   * it, the response is 304 without a body.
   */
  readonly conditional?: true
  /** Responds with server-sent events (`text/event-stream`) instead of the envelope. */
  readonly events?: true
  /** Text for the reference documentation about rules that the schemas do not express. */
  readonly notes?: string
}

/** The codec of the body for endpoints without a body. */
export const noBody = z.undefined()
/** The codec of the query for endpoints without a query. */
export const noQuery = record({})

/** A boolean in a query, written `true` or `false`. */
export const truth = z.codec(z.enum(['true', 'false']), z.boolean(), {
  decode: (word) => word === 'true',
  encode: (value) => (value ? 'true' : 'false'),
})

/** The codecs of the paging parameters of a list. The default is the first page, with 50 items. */
export const paging = {
  page: wholeNumber(1, 1_000_000_000).optional().meta({ default: 1 }),
  limit: wholeNumber(1, 100).optional().meta({ default: 50 }),
}
/** The codecs of the paging parameters of a list with cursors. */
export const cursorPaging = {
  ...paging,
  /** `next` of the page before. `page` must then be absent. */
  after: text(2048).min(1).optional(),
}
/** The codec of the query of a list. */
export const pageQuery = record(paging)
/** The codec of the query of a list with cursors. */
export const cursorQuery = record(cursorPaging)

const search = { search: text(256).min(1).optional() }

/**
 * The codec of the query of a list with a search. `search` matches a part of a name, a key or an
 * e-mail address, ignoring ASCII case.
 */
export const searchQuery = record({ ...search, ...paging })
/** The codec of the query of a list with a search and cursors. */
export const cursorSearchQuery = record({ ...search, ...cursorPaging })

type Row = Partial<Omit<Endpoint, 'path' | 'params'>>

/** An endpoint with the fields of its row, and the defaults for fields that are not in the row. */
type Completed<Defaults, Path extends string, R> = Omit<Defaults, keyof R> &
  R & { readonly path: Path; readonly params: z.ZodType<PathParams<Path>> }

/**
 * Returns a function that creates endpoints from a path and a row. The row lists only the fields
 * that differ from `defaults`. The path parameters are derived from the path.
 */
export function endpointsLike<const Defaults extends Row>(defaults: Defaults) {
  return <const Path extends string, const R extends Row = Record<never, never>>(
    path: Path,
    row?: R & Record<Exclude<keyof R, keyof Row>, never>,
  ): Completed<Defaults, Path, R> =>
    ({ ...defaults, ...row, path, params: pathParams(path) }) as never
}

const withoutInput = { query: noQuery, body: noBody } as const

/** Returns an endpoint that reads: GET, 200 and `configuration.read` by default. */
export const reading = endpointsLike({
  ...withoutInput,
  method: 'GET',
  permission: 'configuration.read',
  status: 200,
})

/** Returns an endpoint that creates a resource: POST, 201 and `flags.write` by default. */
export const creating = endpointsLike({
  ...withoutInput,
  method: 'POST',
  permission: 'flags.write',
  status: 201,
})

/** Returns an endpoint that changes a resource: PUT, 200 and `flags.write` by default. */
export const changing = endpointsLike({
  ...withoutInput,
  method: 'PUT',
  permission: 'flags.write',
  status: 200,
})

/** Returns an endpoint that deletes a resource: DELETE, 200 and `flags.write` by default. */
export const deleting = endpointsLike({
  ...withoutInput,
  method: 'DELETE',
  permission: 'flags.write',
  status: 200,
  response: z.null(),
})
