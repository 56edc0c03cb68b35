import * as z from 'zod'
import { type PathParams, pathParams } from './paths.ts'
import { record } from './record.ts'
import type { Permission } from './roles.ts'
import { text, wholeNumber } from './scalars.ts'

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
  /** The parameters of the path. */
  readonly params: z.ZodType
  /** `noQuery` if the endpoint has no query. */
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

/** The body of endpoints without a body. */
export const noBody = z.undefined()
/** The query of endpoints without a query. */
export const noQuery = record({})

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
/** The query of a list. */
export const pageQuery = record(paging)
/** The query of a list with a search: `search` matches part of a name, a key or an e-mail address, ignoring ASCII case. */
export const searchQuery = record({ search: text(256).min(1).optional(), ...paging })

type Row = Partial<Omit<Endpoint, 'path' | 'params'>>

/** An endpoint with the fields of its row, and the defaults for the fields that the row lacks. */
type Completed<Defaults, Path extends string, R> = Omit<Defaults, keyof R> &
  R & { readonly path: Path; readonly params: z.ZodType<PathParams<Path>> }

/**
 * Returns the function that makes endpoints of one kind: a row of it names only the fields that
 * differ from the defaults. The path parameters follow from the path.
 */
export function endpointsLike<const Defaults extends Row>(defaults: Defaults) {
  return <const Path extends string, const R extends Row = Record<never, never>>(
    path: Path,
    row?: R & Record<Exclude<keyof R, keyof Row>, never>,
  ): Completed<Defaults, Path, R> =>
    ({ ...defaults, ...row, path, params: pathParams(path) }) as never
}

const withoutInput = { query: noQuery, body: noBody } as const

/** An endpoint that reads. */
export const reading = endpointsLike({
  ...withoutInput,
  method: 'GET',
  permission: 'configuration.read',
  status: 200,
})

/** An endpoint that creates something. */
export const creating = endpointsLike({
  ...withoutInput,
  method: 'POST',
  permission: 'flags.write',
  status: 201,
})

/** An endpoint that changes something. */
export const changing = endpointsLike({
  ...withoutInput,
  method: 'PUT',
  permission: 'flags.write',
  status: 200,
})

/** An endpoint that deletes something. */
export const deleting = endpointsLike({
  ...withoutInput,
  method: 'DELETE',
  permission: 'flags.write',
  status: 200,
  response: z.null(),
})
