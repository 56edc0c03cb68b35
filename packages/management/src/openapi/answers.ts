import { SDK_KEY_HEADER } from '@ff/protocol/sdk'
import { SESSION_COOKIE } from '../authentication/login-sessions.ts'
import { closedObject, type Json, refInto, refTo } from './schemas.ts'

/** The error responses of management requests: HTTP status → description. */
const MANAGEMENT_ERRORS: Readonly<Record<number, string>> = {
  400: 'The parameters, the query, a header or the body are invalid. `data.issues` lists each error. `data.code` is `COMMENT_REQUIRED` if an environment requires a comment.',
  401: 'There is no valid bearer token or log-in session. The message distinguishes a missing, a malformed and an invalid token.',
  403: 'The role of the caller is too low (the message names the required role), or a limit of the plan is reached.',
  404: 'The resource does not exist or belongs to another organization.',
  409: 'The key already exists, the resource is in use (`data.used_by`), or `If-Match` does not match the current revision (`data` is the current record).',
  413: 'The body is too large.',
  415: 'The body is not `application/json`.',
  429: 'The rate limit is exceeded, too many log-ins have failed, the network address has sent too many invalid credentials, or another request is reading the audit log. Retry after `Retry-After` seconds.',
  500: 'An internal error occurred.',
  503: 'The store is temporarily unavailable.',
}

/** The error responses of evaluation requests: HTTP status → description. */
const SDK_ERRORS: Readonly<Record<number, string>> = {
  400: 'The body is not valid JSON or contains no valid context.',
  401: 'The SDK key is unknown, expired or revoked.',
  403: 'The kind of the SDK key does not permit this request.',
  413: 'The body is too large.',
  429: 'The rate limit is exceeded. Keep the current values and retry at `X-RateLimit-Reset`.',
  500: 'An internal error occurred. Retry with increasing delays.',
}

/** The format of an error response. The management API and evaluation have different formats. */
type Family = 'Management' | 'Evaluation'

const managementExample = (statusCode: number, message: string): Json => ({
  statusCode,
  message,
  data: statusCode === 400 ? { issues: [{ path: 'name', message }] } : null,
})

function errorResponses(
  family: Family,
  errors: Readonly<Record<number, string>>,
  exampleOf: (status: number, description: string) => Json,
): Json {
  const responses = Object.entries(errors).map(([text, description]) => {
    const status = Number(text)
    const content = jsonContent(refTo(`${family}Error`), exampleOf(status, description))
    return [`${family}${status}`, { description, ...errorHeaders(family, status), ...content }]
  })
  return Object.fromEntries(responses)
}

function errorHeaders(family: Family, status: number): Json {
  const isChallenge = family === 'Management' && status === 401
  return {
    headers: {
      ...headersOf('X-Request-Id'),
      ...(status === 429 && { ...rateLimitHeaders(), ...headersOf('Retry-After') }),
      ...(isChallenge && headersOf('WWW-Authenticate')),
    },
  }
}

/** The error responses that operations share, for `components.responses`. */
export const sharedResponses: Json = {
  ...errorResponses('Management', MANAGEMENT_ERRORS, managementExample),
  ...errorResponses('Evaluation', SDK_ERRORS, (statusCode, error) => ({ error, statusCode })),
}

/** The schemas of error responses. */
export const errorSchemas: Json = {
  ManagementError: closedObject({
    statusCode: { type: 'integer' },
    message: { type: 'string' },
    data: {
      description: 'Details of the error, or null.',
      type: ['object', 'null'],
      properties: {
        code: { type: 'string', description: 'The code of an error that programs handle.' },
        issues: { type: 'array', items: refTo('Issue') },
      },
    },
  }),
  Issue: closedObject({
    path: { type: 'string', description: 'The path of the field, with the names of the request.' },
    message: { type: 'string' },
  }),
  EvaluationError: closedObject({ error: { type: 'string' }, statusCode: { type: 'integer' } }),
}

function header(description: string): Json {
  return { description, schema: { type: 'string' } }
}

/** The response headers that operations share, for `components.headers`. */
export const sharedHeaders: Json = {
  ETag: header('The entity tag of the response; for a record, its revision.'),
  'WWW-Authenticate': header('`Bearer`'),
  'X-FF-Version': header('The version of the flag set that was evaluated.'),
  'X-FF-Restored': header('`true` if the store no longer has the version that the client named.'),
  'X-RateLimit-Limit': header('The number of requests that a window permits.'),
  'X-RateLimit-Remaining': header('The number of requests that remain in the current window.'),
  'X-RateLimit-Reset': header('The start of the next window, as Unix time in seconds.'),
  'X-Request-Id': header('The id of the request, which the log of the server also contains.'),
  'Retry-After': header('The number of seconds to wait before a retry.'),
}

/** The security schemes, for `components.securitySchemes`. */
export const securitySchemes: Json = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token, as `Authorization: Bearer <ACCESS_TOKEN>`.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The cookie of a log-in session. Requests that change something also require `X-CSRF-Token`.',
  },
  sdkKey: {
    type: 'apiKey',
    in: 'header',
    name: SDK_KEY_HEADER,
    description: 'An SDK key of one environment. It permits evaluation only.',
  },
}

/** Returns references to the headers with the state of the rate limit. */
export function rateLimitHeaders(): Json {
  return headersOf('X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset')
}

/** Returns references to shared headers, for the `headers` of a response. */
export function headersOf(...names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, refInto('headers', name)]))
}

/** Returns the `content` of a JSON body. */
export function jsonContent(schema: Json, example?: unknown): Json {
  const media = example === undefined ? { schema } : { schema, example }
  return { content: { 'application/json': media } }
}

/** Returns references to shared error responses by status. */
export function errorRefs(family: Family, statuses: readonly number[]): Json {
  const refs = statuses.map((status) => [status, refInto('responses', `${family}${status}`)])
  return Object.fromEntries(refs)
}
