import { type Endpoint, endpoints, noBody, rolesWith } from '@ff/protocol/management'
import { ORGANIZATION_HEADER } from '../access/project-keys.ts'
import { acceptsComment, COMMENT_HEADER, MAX_COMMENT_LENGTH } from '../requests/comments.ts'
import { errorRefs, headersOf, jsonContent, rateLimitHeaders } from './answers.ts'
import { type Example, exampleOf } from './examples.ts'
import { closedObject, envelopeFields, type Json, refInto, type WireSchemas } from './schemas.ts'
import { tagOf, titleOf } from './words.ts'

const table: Readonly<Record<string, Endpoint>> = endpoints

/** All codecs of the endpoint table. */
export const tableCodecs = Object.values(table).flatMap(({ params, query, body, response }) => [
  params,
  query,
  body,
  response,
])

/** Returns an operation for each row of the endpoint table: path → method → operation. */
export function managementPaths(schemas: WireSchemas): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [name, endpoint] of Object.entries(table)) {
    const operation = operationOf(name, endpoint, schemas)
    const method = endpoint.method.toLowerCase()
    paths[endpoint.path] = { ...paths[endpoint.path], [method]: operation }
  }
  return paths
}

function operationOf(name: string, endpoint: Endpoint, schemas: WireSchemas): Json {
  const example = exampleOf(name)
  const body = bodyOf(endpoint, schemas, example)
  return {
    operationId: name,
    summary: titleOf(name),
    description: descriptionOf(endpoint),
    tags: [tagOf(endpoint.path)],
    parameters: [
      ...parametersOf('path', schemas.of(endpoint.params), example.params),
      ...parametersOf('query', schemas.of(endpoint.query), example.query),
      ...requestHeadersOf(endpoint),
    ],
    ...(body !== undefined && { requestBody: body }),
    responses: {
      [endpoint.status]: successOf(endpoint, schemas, example),
      ...(endpoint.conditional && { 304: NOT_MODIFIED }),
      ...errorRefs('Management', failuresOf(endpoint)),
    },
    ...(endpoint.permission === 'anyone' && { security: [] }),
  }
}

const NOT_MODIFIED: Json = {
  description: 'The content is that of the `ETag` in `If-None-Match`.',
  headers: { ...rateLimitHeaders(), ...headersOf('ETag') },
}

const CONDITIONAL =
  'The `ETag` identifies the content of the response. If `If-None-Match` contains it, the response ' +
  'is 304 without a body.'

function descriptionOf({ permission, maxBodyBytes, conditional, notes }: Endpoint): string {
  const limit = maxBodyBytes && `The maximum size of the body is ${maxBodyBytes} bytes.`
  return [callersOf(permission), limit, conditional && CONDITIONAL, notes].filter(Boolean).join(' ')
}

function callersOf(permission: Endpoint['permission']): string {
  if (permission === 'anyone') return 'Requires no credentials.'
  if (permission === 'oneself') return 'Requires any valid credentials.'
  const roles = rolesWith(permission)
  const noun = roles.length === 1 ? 'role' : 'roles'
  return `Requires \`${permission}\` (${noun} ${roles.join(', ')}).`
}

function parametersOf(place: 'path' | 'query', schema: Json, example: Json = {}): Json[] {
  const required = (schema['required'] ?? []) as readonly string[]
  return Object.entries((schema['properties'] ?? {}) as Json).map(([name, each]) => {
    const { description, ...rest } = each as Json
    return {
      name,
      in: place,
      ...(description !== undefined && { description }),
      required: required.includes(name),
      schema: rest,
      ...(name in example && { example: typed(example[name], rest) }),
    }
  })
}

/**
 * Returns the example of a parameter as a value of its type. Examples are stored as text, as in a
 * URL.
 */
function typed(example: unknown, { type }: Json): unknown {
  return type === 'integer' || type === 'boolean' ? JSON.parse(String(example)) : example
}

function requestHeadersOf(endpoint: Endpoint): Json[] {
  const { method, path, permission, conditional, events } = endpoint
  const isIdempotent = (method === 'POST' || method === 'PUT') && permission !== 'anyone'
  const names = [
    ...(path.includes('{projectId}') ? ['Organization'] : []),
    ...(method === 'PUT' || method === 'DELETE' ? ['IfMatch'] : []),
    ...(isIdempotent ? ['IdempotencyKey'] : []),
    ...(acceptsComment(endpoint) ? ['Comment'] : []),
    ...(conditional ? ['IfNoneMatch'] : []),
    ...(events ? ['LastEventId'] : []),
  ]
  return names.map((name) => refInto('parameters', name))
}

/** The request headers that operations share, for `components.parameters`. */
export const sharedParameters: Json = {
  Organization: {
    name: ORGANIZATION_HEADER,
    in: 'header',
    description:
      'The id of the organization in which the key of the project is looked up. Required with a ' +
      'project key if the caller has several organizations. With the role `platform`, it is ' +
      'required only if several organizations have a project with this key.',
    schema: { type: 'string', format: 'uuid' },
    example: '00000000-0000-4000-8000-000000000000',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of an earlier response. If the record has changed since, the response is 409.',
    schema: { type: 'string' },
    example: '"1"',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'The `ETag` of an earlier response. If the content is still the same, the response is 304.',
    schema: { type: 'string' },
    example: '"0f343b0931126a20f133d67c2b018a3b"',
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The `id` of the last event that the reader has received.',
    schema: { type: 'string' },
    example: '00000000-0000-4000-8000-000000000000:17',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A key that the client chooses. For 24 hours, a repeated request receives the first response.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    example: '0b5c2f6e-8d0a-4f5b-9d53-3f3a5d4f9c11',
  },
  Comment: {
    name: COMMENT_HEADER,
    in: 'header',
    description:
      'The reason for the change, for the audit log and the webhooks: percent-encoded UTF-8, ' +
      `decoded 1 to ${MAX_COMMENT_LENGTH} characters without control characters. Required if the ` +
      'change affects an environment with `comment_required`, unless it only switches flags off.',
    schema: { type: 'string', minLength: 1, maxLength: 12 * MAX_COMMENT_LENGTH },
    example: 'Fixes%20the%20checkout',
  },
}

function bodyOf(endpoint: Endpoint, schemas: WireSchemas, example: Example): Json | undefined {
  if (endpoint.body === noBody) return undefined
  if (endpoint.rawBody) {
    const schema = {
      type: 'object',
      description: 'The signature covers the exact bytes of the body.',
    }
    return { required: true, ...jsonContent(schema, parsed(example.body)) }
  }
  return { required: true, ...jsonContent(schemas.of(endpoint.body), example.body) }
}

function parsed(text: unknown): unknown {
  return typeof text === 'string' ? JSON.parse(text) : text
}

function successOf(endpoint: Endpoint, schemas: WireSchemas, example: Example): Json {
  const schema = schemas.of(endpoint.response)
  if (endpoint.lines) {
    const lines = (example.response as readonly unknown[] | undefined)?.[0]
    const media = { schema, ...(lines !== undefined && { example: lines }) }
    const description = 'JSON lines. The schema describes one line.'
    const headers = rateLimitHeaders()
    return { description, headers, content: { 'application/x-ndjson': media } }
  }
  if (endpoint.events) {
    const event = (example.response as readonly unknown[] | undefined)?.[0]
    const media = { schema, ...(event !== undefined && { example: event }) }
    const description =
      'Server-sent events. The schema describes one event: `event`, `id`, and `data` as parsed JSON.'
    const headers = rateLimitHeaders()
    return { description, headers, content: { 'text/event-stream': media } }
  }
  return {
    description: SUCCESS[endpoint.status],
    headers: headersOfSuccess(endpoint),
    ...jsonContent(closedObject(envelopeFields(endpoint.status, schema)), example.response),
  }
}

const SUCCESS = { 200: 'Success.', 201: 'Created.', 302: 'Redirect to `Location`.' } as const

function headersOfSuccess({ status, method, permission }: Endpoint): Json {
  const limit = permission === 'anyone' ? {} : rateLimitHeaders()
  if (status !== 302) return { ...limit, ...(method === 'DELETE' ? {} : headersOf('ETag')) }
  return { Location: { schema: { type: 'string', format: 'uri-reference' } } }
}

function failuresOf({ method, body }: Endpoint): readonly number[] {
  return [
    ...[400, 401, 403, 404, 429, 500, 503],
    ...(method === 'GET' ? [] : [409]),
    ...(body === noBody ? [] : [413, 415]),
  ]
}
