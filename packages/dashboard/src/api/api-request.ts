import { type EndpointName, endpoints } from '@ff/protocol/management'
import * as z from 'zod'
import { messages } from '../messages/messages.ts'
import { ApiError } from './api-error.ts'
import { toFieldIssues } from './field-issues.ts'

type Row<N extends EndpointName> = (typeof endpoints)[N]

/** The parameters of the path of an endpoint. */
export type ParamsOf<N extends EndpointName> = z.output<Row<N>['params']>
/** The query of an endpoint. */
export type QueryOf<N extends EndpointName> = z.output<Row<N>['query']>
/** The body of an endpoint. */
export type BodyOf<N extends EndpointName> = z.output<Row<N>['body']>
/** The data in the response of an endpoint. */
export type DataOf<N extends EndpointName> = z.output<Row<N>['response']>

/** A property that is required only if its type has required properties. */
type Part<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : Record<never, never> extends T
    ? { readonly [P in Name]?: T }
    : { readonly [P in Name]: T }

/** The options of a call that every endpoint accepts. */
export interface CallOptions {
  /** The `ETag` of the record that the caller has read. */
  readonly ifMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** The reason for the change. Empty text is left out. */
  readonly comment?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** The organization to which the call applies; the selected organization by default. */
  readonly organizationId?: string | undefined
}

/** The input of a call of an endpoint. */
export type CallInput<N extends EndpointName> = CallOptions &
  Part<'params', ParamsOf<N>> &
  Part<'query', QueryOf<N>> &
  Part<'body', BodyOf<N>>

/** The input of a call without the types of its endpoint. */
export interface AnyInput extends CallOptions {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
}

/** A request as it is sent: its path with query, and its body as JSON text. */
export interface EncodedRequest {
  readonly path: string
  readonly body: string | undefined
}

/** Encodes the input of a call. Throws an `ApiError` with the issues if the input is not valid. */
export function encodeRequest(name: EndpointName, input: AnyInput): EncodedRequest {
  const { path, params, query, body } = endpoints[name]
  const names = encode(params, input.params ?? {}) as Readonly<Record<string, string>>
  const filled = path.replace(/\{(\w+)\}/g, (_, each: string) =>
    encodeURIComponent(names[each] ?? ''),
  )
  const search = new URLSearchParams(encode(query, input.query ?? {}) as Record<string, string>)
  const encoded = input.body === undefined ? undefined : JSON.stringify(encode(body, input.body))
  return { path: search.size === 0 ? filled : `${filled}?${search}`, body: encoded }
}

function encode(codec: z.ZodType, value: unknown): unknown {
  const result = z.safeEncode(codec, value as never)
  if (result.success) return withoutUndefined(result.data)
  const issues = result.error.issues.map(({ path, message }) => {
    return { path: path.map(String).join('.'), message }
  })
  const message = messages.errors.invalidInput
  const details = { status: 0, code: 'INVALID_INPUT', message }
  throw new ApiError({ ...details, issues: toFieldIssues(codec, issues) })
}

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
}
