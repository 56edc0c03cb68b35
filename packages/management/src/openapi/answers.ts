import { SDK_KEY_HEADER } from '@ff/protocol/sdk'
import { SESSION_COOKIE } from '../authentication/login-sessions.ts'
import { closedObject, type Json, refInto, refTo } from './schemas.ts'

/** Every way in which a management request can fail. */
const MANAGEMENT_ERRORS: Readonly<Record<number, string>> = {
  400: 'Malformed parameters, query or body; `data.issues` names each fault.',
  401: 'No bearer token or session, or none that is valid.',
  403: 'The caller’s role does not reach so far, or a limit of the plan is reached.',
  404: 'There is no such thing, or it is another organization’s.',
  409: 'The key is taken, the thing is in use (`data.used_by`), or `If-Match` names an earlier revision (`data` is the record as it is now).',
  413: 'The body is too large.',
  415: 'The body is not `application/json`.',
  429: 'The rate limit is used up, too many log-ins have failed, the network address has sent too many wrong credentials, or the audit log is being read by another request; try again after `Retry-After`.',
  500: 'The server failed.',
  503: 'The store is away for a moment.',
}

/** Every way in which a request of an application can fail. */
const SDK_ERRORS: Readonly<Record<number, string>> = {
  400: 'Malformed JSON, or no context in it.',
  401: 'The SDK key is unknown, expired or revoked.',
  403: 'The SDK key is not of the kind that may do this.',
  413: 'The body is too large.',
  429: 'The rate limit is used up: go on with the values you have, and come back at `X-RateLimit-Reset`.',
  500: 'The server failed: try again, each time later.',
}

/** The two families of errors. */
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
  if (status === 429) return { headers: { ...rateLimitHeaders(), ...headersOf('Retry-After') } }
  const isChallenge = family === 'Management' && status === 401
  return isChallenge ? { headers: headersOf('WWW-Authenticate') } : {}
}

/** The answers that many operations share, as `components.responses`. */
export const sharedResponses: Json = {
  ...errorResponses('Management', MANAGEMENT_ERRORS, managementExample),
  ...errorResponses('Evaluation', SDK_ERRORS, (statusCode, error) => ({ error, statusCode })),
}

/** The schemas of the two families of errors, and of what every management answer is wrapped in. */
export const errorSchemas: Json = {
  ManagementError: closedObject({
    statusCode: { type: 'integer' },
    message: { type: 'string' },
    data: {
      description: 'What there is to know of the error, or null.',
      type: ['object', 'null'],
      properties: { issues: { type: 'array', items: refTo('Issue') } },
    },
  }),
  Issue: closedObject({
    path: { type: 'string', description: 'The field, in the spelling of the request.' },
    message: { type: 'string' },
  }),
  EvaluationError: closedObject({ error: { type: 'string' }, statusCode: { type: 'integer' } }),
}

function header(description: string): Json {
  return { description, schema: { type: 'string' } }
}

export const sharedHeaders: Json = {
  ETag: header('Names this state of the thing; for a record, its revision.'),
  'WWW-Authenticate': header('`Bearer`'),
  'X-FF-Version': header('The version of the flag set the answer was made from.'),
  'X-RateLimit-Limit': header('Requests in one window.'),
  'X-RateLimit-Remaining': header('Requests left in this window.'),
  'X-RateLimit-Reset': header('When the next window begins: Unix time in seconds.'),
  'Retry-After': header('Seconds to wait.'),
}

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
      'The cookie that logging in sets. Whatever changes something also sends `X-CSRF-Token`.',
  },
  sdkKey: {
    type: 'apiKey',
    in: 'header',
    name: SDK_KEY_HEADER,
    description: 'An SDK key of one environment: it opens evaluation, and nothing else.',
  },
}

/** The state of the rate limit, as answers have it. */
export function rateLimitHeaders(): Json {
  return headersOf('X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset')
}

/** References to shared headers, for the `headers` of an answer. */
export function headersOf(...names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, refInto('headers', name)]))
}

export function jsonContent(schema: Json, example?: unknown): Json {
  const media = example === undefined ? { schema } : { schema, example }
  return { content: { 'application/json': media } }
}

/** References to the shared answers of a family of errors. */
export function errorRefs(family: Family, statuses: readonly number[]): Json {
  const refs = statuses.map((status) => [status, refInto('responses', `${family}${status}`)])
  return Object.fromEntries(refs)
}
